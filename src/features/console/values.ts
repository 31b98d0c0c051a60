import { isObject } from "../../core/checking/members.ts";
import { html, type Markup } from "../../core/html/markup.ts";
import type { Field } from "../../resource/declaration/field.ts";
import { formatTitle, nameOne } from "../../resource/record-labels.ts";
import type { Resource } from "../../resource/resource.ts";
import { excerptText, excerptOfJSON, onPage, type Extent } from "./excerpt.ts";
import { recordAddress, referredBy, type Drawing } from "./site.ts";

/** Shows one value. `field` is null if the value has no declared field. Longer content is cut. */
export function showValue(drawing: Drawing, field: Field | null, value: unknown, extent = onPage): Markup {
  const most = extent.characters;
  if (value === null || value === undefined) return nothing;
  const to = field === null ? null : referredBy(drawing.site, field);
  if (to !== null && Array.isArray(value)) return showReferences(drawing, to, value, extent);
  if (Array.isArray(value) && value.length === 0) return nothing;
  if (field !== null && isWords(value))
    return html`${value.map((each, at) => html`${at === 0 ? "" : ", "}<bdi>${each}</bdi>`)}`;
  if (typeof value === "object") return html`<code>${excerptOfJSON(value, most)}</code>`;
  if (field === null) return showPlain(value, most);
  if (to !== null) return showReference(drawing, to, value, most);
  if (field.kind.tone !== undefined) return showWord(field.kind.tone(value), nameChoice(field, value));
  const { type } = field.kind.column;
  if (type === "date") return showDay(String(value));
  if (type === "date-time") return showTime(String(value));
  if (type === "decimal") return html`${groupDigits(String(value))}`;
  return typeof value === "string" ? html`<bdi>${excerptText(value, most)}</bdi>` : showPlain(value, most);
}

/** The text for a missing value. */
export const nothing = html`<span class="none"><span aria-hidden="true">–</span><span class="vh">none</span></span>`;

/** The most words that a value of several words shows as words. */
const MOST_WORDS = 20;

function isWords(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length <= MOST_WORDS &&
    value.every((each) => typeof each === "string" && each.length <= 100)
  );
}

/** Returns the words for one of the values of a field. */
export function nameChoice({ kind }: Field, value: unknown): string {
  if (typeof value === "boolean") return value ? "Yes" : "No";
  return kind.label?.(value) ?? formatTitle(String(value));
}

function groupDigits(text: string): string {
  return text.replace(/^(-?)(\d{4,})/, (_, sign: string, digits: string) => {
    const first = digits.length % 3 || 3;
    return sign + [digits.slice(0, first), ...(digits.slice(first).match(/\d{3}/g) ?? [])].join(",");
  });
}

function showWord(tone: string | null, word: string): Markup {
  return html`<span class="${tone === null ? "tag" : `tag ${tone}`}">${word}</span>`;
}

/** Shows the name of a record. It is a link only if the caller may read the record. */
function showReference({ view, labels }: Drawing, to: Resource, value: unknown, most: number): Markup {
  const labelsById = labels.get(to.path);
  const label = typeof value === "number" || typeof value === "string" ? labelsById?.get(value) : undefined;
  const at = recordAddress(view, to.path, value);
  if (at === null || label === undefined) return html`<bdi>${excerptText(nameOne(to, value), most)}</bdi>`;
  return html`<a href="${at}" dir="auto">${excerptText(label, most)}</a>`;
}

/** Shows the first of several records, each by its name. */
function showReferences(drawing: Drawing, to: Resource, ids: readonly unknown[], extent: Extent): Markup {
  if (ids.length === 0) return nothing;
  const first = ids.slice(0, extent.ids);
  const shown = first.map(
    (id, at) => html`${at === 0 ? "" : ", "}${showReference(drawing, to, id, extent.characters)}`,
  );
  const rest = ids.length - first.length;
  return html`${shown}${rest === 0 ? "" : html` <span class="dim">and ${rest} more</span>`}`;
}

/** Shows a value without a known field, cut to `most` characters. */
export function showPlain(value: unknown, most: number): Markup {
  if (value === null || value === undefined) return nothing;
  if (typeof value === "boolean") return html`${value ? "Yes" : "No"}`;
  if (typeof value !== "string") return html`${String(value)}`;
  if (DAY.test(value)) return showDay(value);
  return TIME.test(value) ? showTime(value) : html`<bdi>${excerptText(value, most)}</bdi>`;
}

const DAY = /^\d{4}-\d\d-\d\d$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/** Shows a time in UTC. The script of the page writes it in the zone of the reader. */
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
  return html`<time datetime="${value}" data-ago>${timeText(value)}</time>`;
}

/** Formats a day for people: `31 Jan 2026`. */
export function dayText(day: string): string {
  const [year = "", month = "", date = ""] = day.split("-");
  return `${Number(date)} ${months[Number(month) - 1] ?? month} ${year}`;
}

/** Formats a time for people: `31 Jan 2026, 09:30 UTC`. */
export function timeText(value: string): string {
  const [day = "", time = ""] = value.split("T", 2);
  return `${dayText(day)}, ${time.slice(0, 5)} UTC`;
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
