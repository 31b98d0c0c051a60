import { isObject } from "../../core/checking/members.ts";
import { html, type Markup } from "../../core/html/markup.ts";
import { toneOf } from "../../resource/kinds/enumeration.ts";
import type { Field } from "../../resource/kinds/field.ts";
import { excerptOf, excerptOfJSON, onPage, type Extent } from "./excerpt.ts";
import { recordAddress, referredBy, type Drawing } from "./site.ts";

/** One value, as it is shown; `field` is null where nobody declared one. What goes beyond the extent is cut. */
export function showValue(drawing: Drawing, field: Field | null, value: unknown, extent = onPage): Markup {
  const most = extent.characters;
  if (value === null || value === undefined) return html`<span class="dim">null</span>`;
  const to = field === null ? null : referredBy(drawing.site, field);
  if (to !== null && Array.isArray(value)) return showReferences(drawing, to.path, value, extent);
  if (typeof value === "object") return html`<code>${excerptOfJSON(value, most)}</code>`;
  if (field === null) return showPlain(value, most);
  if (to !== null) return showReference(drawing, to.path, value, most);
  if (field.kind.name === "enumeration") return showWord(toneOf(field, value), String(value));
  if (field.kind.column.type === "date-time") return showTime(String(value));
  return field.kind.column.type === "decimal"
    ? html`<span class="mono">${String(value)}</span>`
    : showPlain(value, most);
}

function showWord(tone: string | null, word: string): Markup {
  return html`<span class="${tone === null ? "tag" : `tag ${tone}`}">${word}</span>`;
}

/** An id, and what the record is called that it leads to. What cannot be read is no link. */
function showReference({ view, labels }: Drawing, path: string, value: unknown, most: number): Markup {
  const id = String(value);
  const known = labels.get(path);
  const label = typeof value === "number" || typeof value === "string" ? known?.get(value) : undefined;
  const at = recordAddress(view, path, id);
  if (at === null || (known !== undefined && label === undefined)) return html`<span class="mono">${id}</span>`;
  if (label === undefined || label === id) return html`<a class="mono" href="${at}">${id}</a>`;
  return html`<span class="mono dim">${id}</span> <a href="${at}" dir="auto">${excerptOf(label, most)}</a>`;
}

/** The first of several ids, each with what its record is called. */
function showReferences(drawing: Drawing, path: string, ids: readonly unknown[], extent: Extent): Markup {
  if (ids.length === 0) return html`<span class="dim">none</span>`;
  const first = ids.slice(0, extent.ids);
  const shown = first.map(
    (id, at) => html`${at === 0 ? "" : ", "}<span>${showReference(drawing, path, id, extent.characters)}</span>`,
  );
  const rest = ids.length - first.length;
  return html`<span class="many">${shown}</span>${rest === 0 ? "" : html` <span class="dim">and ${rest} more</span>`}`;
}

/** A value of which no field is known, cut to `most` characters. */
export function showPlain(value: unknown, most: number): Markup {
  if (typeof value !== "string") return html`<span class="mono">${String(value)}</span>`;
  return TIME.test(value) ? showTime(value) : html`<bdi>${excerptOf(value, most)}</bdi>`;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/** In UTC, as it is; the script says how long ago that is, for a page that is kept would not know. */
function showTime(value: string): Markup {
  return html`<time datetime="${value}">${timeText(value)}</time>`;
}

/** `2026-01-31 09:30:00 UTC` */
export function timeText(value: string): string {
  return value.replace(/^(\S+)T(\d\d:\d\d:\d\d).*Z$/, "$1 $2 UTC");
}

/** A value as the text of an input. What was sent may be of any type: what is no text stands there as JSON. */
export function textOf({ kind }: Field, value: unknown): string {
  if (kind.column.type === "json") return JSON.stringify(value, null, 2);
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Whether a column of such values reads better with its ends below each other. */
export function isNumeric({ kind }: Field): boolean {
  return kind.references === undefined && ["integer", "decimal", "double"].includes(kind.column.type);
}

/** Data as a program gets it, with its parts coloured. */
export function showDocument(value: unknown, indent = ""): Markup {
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const items = value.map(
      (each: unknown, at) => html`${at === 0 ? "" : ","}${`\n${inner}`}${showDocument(each, inner)}`,
    );
    return items.length === 0 ? html`[]` : html`[${items}${`\n${indent}`}]`;
  }
  if (isObject(value)) {
    const members = Object.entries(value).map(
      ([name, each], at) =>
        html`${at === 0 ? "" : ","}${`\n${inner}`}${JSON.stringify(name)}: ${showDocument(each, inner)}`,
    );
    return members.length === 0 ? html`{}` : html`{${members}${`\n${indent}`}}`;
  }
  const text = JSON.stringify(value) ?? "null";
  return typeof value === "string" ? html`<span class="s">${text}</span>` : html`<span class="n">${text}</span>`;
}
