import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import { excerptText, inCell, isTooLong } from "../excerpt.ts";
import type { Input } from "./inputs.ts";
import type { Options } from "./options.ts";

/** The parts of one control of a form. */
export interface Control {
  readonly input: Input;
  /** The prefix of ids, for a page with several forms. */
  readonly id: string;
  /** The value of the record, or the typed text. */
  readonly value: unknown;
  /** The typed time zone of a time. Undefined if nothing was typed. */
  readonly zone?: string;
  /** The records that a reference may name. Null if the field is none, or the caller may list no records. */
  readonly options: Options | null;
  /** The name of each record that the value refers to. */
  readonly names: ReadonlyMap<number | string, string>;
  /** Attributes that tie the control to its hint and its mistakes. */
  readonly marks: PageContent;
  /** The words for an empty choice. */
  readonly empty?: string;
}

/** Writes the control of a field. */
export function writeControl(control: Control): Markup {
  const { input, id, value, marks } = control;
  if (isTooLong(value)) return html`<p id="${id}" class="dim">It is too long to be changed on a page.</p>`;
  const about = html` id="${id}" name="${input.name}"${marks}`;
  if (control.options !== null) return writeReference(control, control.options, about);
  if (input.choices !== null) return writeChoices(control, about);
  const text = value === null || value === undefined ? "" : input.formatValue(value);
  switch (input.control) {
    case "date":
      return html`<input${about} type="date" value="${text}">`;
    case "time":
      return writeTime(control, about, text);
    case "secret":
      return html`<input${about} type="password" autocomplete="new-password">`;
    case "text":
      // A one-line input cannot show several lines. A browser drops a line break at the start of a `textarea`.
      return input.long === "lines" || /[\r\n]/.test(text)
        ? html`<textarea${about} rows="4" dir="auto">${"\n"}${text}</textarea>`
        : html`<input${about}${input.help} value="${text}" dir="auto" autocomplete="off">`;
    case "json":
      return html`<textarea${about} class="mono" rows="4" spellcheck="false">${text}</textarea>`;
  }
}

const UTC = /^(\d{4,6}-\d\d-\d\dT\d\d:\d\d)(:\d\d(?:\.\d{1,3})?)?Z$/;

/** Writes a time in UTC, with its zone in a hidden input. The script changes both to the zone of the reader. */
function writeTime({ input, id, zone }: Control, about: Markup, text: string): Markup {
  const [, minute, second = ""] = UTC.exec(text) ?? [];
  const shown = minute === undefined ? text : minute + (/^:00(?:\.0+)?$/.test(second) ? "" : second);
  const step = second === "" || shown === minute ? "" : html` step="${second.includes(".") ? "0.001" : "1"}"`;
  return html`<input${about} type="datetime-local" value="${shown}"${step}>
<input type="hidden" id="${id}-zone" name="${input.name}.zone" value="${zone ?? "UTC"}">`;
}

/** Writes a select of the words of an enumeration, or of Yes and No if the field may also be empty. */
function writeChoices({ input, value, empty = "" }: Control, about: Markup): Markup {
  const isEmpty = value === null || value === undefined || value === "";
  const words = (input.choices ?? []).map((each) => ({ id: String(each), name: input.nameValue(each) }));
  const isKnown = isEmpty || words.some(({ id }) => id === String(value));
  // A sent value that is not among the choices is shown too.
  const all = isKnown ? words : [...words, { id: String(value), name: String(value) }];
  const none = input.isEmptiable ? html`<option value=""${isEmpty ? selected : ""}>${empty}</option>` : "";
  return html`<select${about}>${none}${all.map(({ id, name }) => writeOption(id, name, !isEmpty && id === String(value)))}</select>`;
}

/**
 * Writes a select of records by name. Beyond the first ones, a text field finds others by a part of their name: the
 * next page offers those that fit. The script asks the service at once.
 */
function writeReference({ input, id, value, names, empty = "" }: Control, options: Options, about: Markup): Markup {
  const { records, hasMore, part, search } = options;
  // If one record fits, it is chosen. If several fit, the reader chooses.
  const chosen = part === "" ? value : records.length === 1 ? records[0]!.id : null;
  const isEmpty = chosen === null || chosen === undefined || chosen === "";
  const isOffered = records.some((each) => String(each.id) === String(chosen));
  const current = isEmpty || isOffered ? [] : [{ id: String(chosen), name: findName(names, chosen) }];
  const none = input.isEmptiable || isEmpty ? html`<option value=""${isEmpty ? selected : ""}>${empty}</option>` : "";
  const list = [...current, ...records].map((each) =>
    writeOption(String(each.id), each.name, !isEmpty && String(each.id) === String(chosen)),
  );
  const isAsked = hasMore && search !== null;
  const find = html` data-find="${isAsked ? search.target : ""}"${isAsked ? html` data-label="${search.label}"` : ""}`;
  return html`<select${about}${find}>${none}${list}</select>${hasMore ? writeFind(input, id) : ""}`;
}

/** Writes the text field for a part of the name of a record that the form does not offer yet. */
export function writeFind({ name, label }: Input, id: string): Markup {
  return html`<input id="${id}-find" name="${name}.find" aria-label="Another ${label}, by a part of its name" placeholder="Another: type a part of its name" autocomplete="off" dir="auto">`;
}

function findName(names: Control["names"], value: unknown): string {
  for (const [id, name] of names) if (String(id) === String(value)) return name;
  return String(value);
}

function writeOption(id: string, name: string, isChosen: boolean): Markup {
  return html`<option value="${id}"${isChosen ? selected : ""}>${excerptText(name, inCell.characters)}</option>`;
}

const selected = html` selected`;
