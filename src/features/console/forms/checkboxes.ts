import { isObject } from "../../../core/checking/members.ts";
import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { Kind } from "../../../resource/declaration/field.ts";
import { excerptText, inCell, onPage } from "../excerpt.ts";

/** A field with several values, each with a checkbox. */
export interface CheckboxField {
  /** How the script reads one value: `text` or `integer`. */
  readonly type: "text" | "integer";
  /** All possible values. Null if the user chooses records by name, or types other values. */
  readonly among: readonly string[] | null;
}

/** Returns the checkboxes for a declared field. Returns null if the field holds one value, or any JSON. */
export function findCheckboxField({ members, schema }: Kind<unknown>): CheckboxField | null {
  if (members !== undefined) return { type: members.id === "uuid" ? "text" : "integer", among: null };
  return parseCheckboxField(schema);
}

/** Returns the checkboxes for an array of words with a JSON Schema. Returns null for any other schema. */
export function parseCheckboxField({ type, items }: Readonly<Record<string, unknown>>): CheckboxField | null {
  const words = isObject(items) ? items["enum"] : undefined;
  if (![type].flat().includes("array") || !Array.isArray(words) || words.length === 0 || words.length > onPage.ids)
    return null;
  return words.every((each) => typeof each === "string") ? { type: "text", among: words } : null;
}

type Ticked = readonly (number | string)[];

/**
 * Returns the initially checked values. Returns null if they can only be shown as JSON: not a list, with duplicates, or
 * too many.
 */
export function parseTicked(value: unknown): Ticked | null {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value) || value.length > onPage.ids || new Set(value).size < value.length) return null;
  return value.every((each) => typeof each === "number" || typeof each === "string") ? value : null;
}

/** The content around the checkboxes. */
export interface CheckboxGroup {
  readonly name: string;
  /** Attributes of the group: its id and its descriptions. */
  readonly about: PageContent;
  readonly legend: PageContent;
  readonly isNeeded: boolean;
  /** Attributes of the input that let the script find other values. */
  readonly choosing: PageContent;
  readonly behind: PageContent;
  /** Returns the name of a value, if it has one. */
  called(value: number | string): string | undefined;
}

/**
 * Writes a checkbox for each current and each possible value. If `among` is null, adds an input for other values.
 * Current values keep their order.
 */
export function writeCheckboxes({ type, among }: CheckboxField, ticked: Ticked, around: CheckboxGroup): Markup {
  const { name, about, legend, isNeeded, choosing, behind, called } = around;
  const others = (among ?? []).filter((each) => !ticked.includes(each));
  const box = (value: number | string, isTicked: boolean): Markup => {
    const words = called(value);
    const shown =
      among !== null && words === undefined
        ? html`<bdi>${value}</bdi>`
        : html`<span class="mono dim">${value}</span> <bdi>${excerptText(words ?? "", inCell.characters)}</bdi>`;
    return html`<label><input type="checkbox" name="${name}" value="${value}"${isTicked ? html` checked` : ""}>${shown}</label> `;
  };
  const line = html`<input name="${name}" aria-label="Another of ${name}" placeholder="Add by name or id"${choosing} autocomplete="off" dir="auto">`;
  return html`<fieldset class="field"${about} data-several="${type}"${isNeeded ? html` data-needed` : ""}>
    <legend>${legend}</legend>
    <div class="row">${ticked.map((each) => box(each, true))}${others.map((each) => box(each, false))}</div>
    ${among === null ? line : ""}${behind}
  </fieldset> `;
}
