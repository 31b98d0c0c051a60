import { isObject } from "../../core/checking/members.ts";
import { html, type Markup } from "../../core/html/markup.ts";
import type { Field } from "../../resource/declaration/field.ts";
import { excerptText, excerptOfJSON, onPage, type Extent } from "./excerpt.ts";
import { recordAddress, referredBy, type Drawing } from "./site.ts";

/** Shows one value. `field` is null if the value has no declared field. Longer content is cut. */
export function showValue(drawing: Drawing, field: Field | null, value: unknown, extent = onPage): Markup {
  const most = extent.characters;
  if (value === null || value === undefined) return html`<span class="dim">null</span>`;
  const to = field === null ? null : referredBy(drawing.site, field);
  if (to !== null && Array.isArray(value)) return showReferences(drawing, to.path, value, extent);
  if (typeof value === "object") return html`<code>${excerptOfJSON(value, most)}</code>`;
  if (field === null) return showPlain(value, most);
  if (to !== null) return showReference(drawing, to.path, value, most);
  if (field.kind.tone !== undefined)
    return showWord(field.kind.tone(value), field.kind.label?.(value) ?? String(value));
  if (field.kind.column.type === "date-time") return showTime(String(value));
  return field.kind.column.type === "decimal"
    ? html`<span class="mono">${String(value)}</span>`
    : showPlain(value, most);
}

function showWord(tone: string | null, word: string): Markup {
  return html`<span class="${tone === null ? "tag" : `tag ${tone}`}">${word}</span>`;
}

/** Shows an id with the name of its record. The id is a link only if the record can be read. */
function showReference({ view, labels }: Drawing, path: string, value: unknown, most: number): Markup {
  const id = String(value);
  const labelsById = labels.get(path);
  const label = typeof value === "number" || typeof value === "string" ? labelsById?.get(value) : undefined;
  const at = recordAddress(view, path, id);
  if (at === null || (labelsById !== undefined && label === undefined)) return html`<span class="mono">${id}</span>`;
  if (label === undefined || label === id) return html`<a class="mono" href="${at}">${id}</a>`;
  return html`<span class="mono dim">${id}</span> <a href="${at}" dir="auto">${excerptText(label, most)}</a>`;
}

/** Shows the first of several ids, each with the name of its record. */
function showReferences(drawing: Drawing, path: string, ids: readonly unknown[], extent: Extent): Markup {
  if (ids.length === 0) return html`<span class="dim">none</span>`;
  const first = ids.slice(0, extent.ids);
  const shown = first.map(
    (id, at) => html`${at === 0 ? "" : ", "}<span>${showReference(drawing, path, id, extent.characters)}</span>`,
  );
  const rest = ids.length - first.length;
  return html`<span class="many">${shown}</span>${rest === 0 ? "" : html` <span class="dim">and ${rest} more</span>`}`;
}

/** Shows a value without a known field, cut to `most` characters. */
export function showPlain(value: unknown, most: number): Markup {
  if (typeof value !== "string") return html`<span class="mono">${String(value)}</span>`;
  return TIME.test(value) ? showTime(value) : html`<bdi>${excerptText(value, most)}</bdi>`;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/**
 * Shows a time in UTC. The script of the page adds how long ago this was. The server does not add it, because a cached
 * page would show an old duration.
 */
function showTime(value: string): Markup {
  return html`<time datetime="${value}">${timeText(value)}</time>`;
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;

/** Shows the day of a time for people: `31 Jan 2026`. The script of the page writes it as the reader does. */
export function showDay(value: string): Markup {
  const [day = ""] = value.split("T", 1);
  return html`<time datetime="${day}">${dayText(day)}</time>`;
}

/** Shows a time for people: `31 Jan 2026, 09:30 UTC`. The script of the page shows how long ago it was. */
export function showAgo(value: string): Markup {
  const [day = "", time = ""] = value.split("T", 2);
  return html`<time datetime="${value}" data-ago>${dayText(day)}, ${time.slice(0, 5)} UTC</time>`;
}

function dayText(day: string): string {
  const [year = "", month = "", date = ""] = day.split("-");
  return `${Number(date)} ${months[Number(month) - 1] ?? month} ${year}`;
}

/** Formats a time: `2026-01-31 09:30:00 UTC`. */
export function timeText(value: string): string {
  return value.replace(/^(\S+)T(\d\d:\d\d:\d\d).*Z$/, "$1 $2 UTC");
}

/**
 * Returns a value as the text of an input. A sent value may have any type; a value that is not a text is shown as JSON.
 */
export function formatInputText({ kind }: Field, value: unknown): string {
  if (kind.column.type === "json") return JSON.stringify(value, null, 2);
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Returns true if a column with the values of a field is easier to read right-aligned. */
export function isNumeric({ kind }: Field): boolean {
  return kind.references === undefined && ["integer", "decimal", "double"].includes(kind.column.type);
}

/** Shows data as a program receives it, with colors. */
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
