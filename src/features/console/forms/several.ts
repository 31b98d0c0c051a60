import { isObject } from "../../../core/checking/members.ts";
import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { Kind } from "../../../resource/kinds/field.ts";
import { excerptOf, inCell, onPage } from "../excerpt.ts";

/** What a field may hold several of, each ticked by itself. */
export interface Several {
  /** How the script reads one: `text` or `integer`. */
  readonly type: "text" | "integer";
  /** All that there can be; null where others are chosen by name, or typed. */
  readonly among: readonly string[] | null;
}

/** Of a declared field; null where it holds one value, or any. */
export function severalOf({ members, schema }: Kind<unknown>): Several | null {
  if (members !== undefined) return { type: members.id === "uuid" ? "text" : "integer", among: null };
  return severalOfSchema(schema);
}

/** Of an array of words that are told by JSON Schema; null for everything else. */
export function severalOfSchema({ type, items }: Readonly<Record<string, unknown>>): Several | null {
  const words = isObject(items) ? items["enum"] : undefined;
  if (![type].flat().includes("array") || !Array.isArray(words) || words.length === 0 || words.length > onPage.ids)
    return null;
  return words.every((each) => typeof each === "string") ? { type: "text", among: words } : null;
}

type Ticked = readonly (number | string)[];

/** The values that are ticked at first; null where they can only be shown as JSON: no list, one of them twice, or very many. */
export function tickedOf(value: unknown): Ticked | null {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value) || value.length > onPage.ids || new Set(value).size < value.length) return null;
  return value.every((each) => typeof each === "number" || typeof each === "string") ? value : null;
}

/** What stands around the boxes. */
export interface Around {
  readonly name: string;
  /** Attributes of the group: its id and what describes it. */
  readonly about: PageContent;
  readonly legend: PageContent;
  readonly isNeeded: boolean;
  /** Where the script finds others, as attributes of the input. */
  readonly choosing: PageContent;
  readonly behind: PageContent;
  /** What a value is called besides. */
  called(value: number | string): string | undefined;
}

/** A box for each value that is there, and one for each that could be, or a line for others. What is kept keeps its place. */
export function writeSeveral({ type, among }: Several, ticked: Ticked, around: Around): Markup {
  const { name, about, legend, isNeeded, choosing, behind, called } = around;
  const others = (among ?? []).filter((each) => !ticked.includes(each));
  const box = (value: number | string, isTicked: boolean): Markup => {
    const words = called(value);
    const shown =
      among !== null && words === undefined
        ? html`<bdi>${value}</bdi>`
        : html`<span class="mono dim">${value}</span> <bdi>${excerptOf(words ?? "", inCell.characters)}</bdi>`;
    return html`<label><input type="checkbox" name="${name}" value="${value}"${isTicked ? html` checked` : ""}>${shown}</label> `;
  };
  const line = html`<input name="${name}" aria-label="Another of ${name}" placeholder="Add by name or id"${choosing} autocomplete="off" dir="auto">`;
  return html`<fieldset class="field"${about} data-several="${type}"${isNeeded ? html` data-needed` : ""}>
    <legend>${legend}</legend>
    <div class="row">${ticked.map((each) => box(each, true))}${others.map((each) => box(each, false))}</div>
    ${among === null ? line : ""}${behind}
  </fieldset> `;
}
