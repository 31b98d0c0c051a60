import { html, type PageContent, type Markup } from "../../../core/html/markup.ts";
import type { Issue } from "../../../core/problem/problem.ts";
import type { Offer, View } from "../../../http/request/view.ts";
import { pointerTo } from "../../../resource/pointer.ts";
import { findLabelField } from "../../../resource/record-labels.ts";
import { isTooLong } from "../excerpt.ts";
import { resolveAddress, type Choice, type Choices, type Labels } from "../site.ts";
import { withShowButton } from "./card-parts.ts";
import { parseTicked, writeCheckboxes } from "./checkboxes.ts";
import { collectInputs, type Input } from "./inputs.ts";
import { writeUsernameField } from "./username-field.ts";

/** A form for one action of the caller. */
export interface FormParts {
  readonly view: View;
  /** The resources whose ids its fields accept, so that records can be chosen by name. */
  readonly choices?: Choices;
  /** The names of the records whose ids are in its fields. */
  readonly labels?: Labels;
  readonly offer: Offer;
  /** The names of the fields to show. Default: all fields of the offer. */
  readonly only?: readonly string[];
  /** The initial values of the fields: the record, or the sent values. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** The fields that were sent before. They are sent again even if the user does not change them. */
  readonly again?: readonly string[];
  /** The mistakes in the sent values. */
  readonly mistakes?: readonly Issue[];
  /** The text of the button. */
  readonly does: PageContent;
  /** The style of the button. */
  readonly looks?: string;
  /** The tag of the state to change. */
  readonly tag?: string | null;
  /** The page to show afterwards. Default: the created record, or the record in the response. */
  readonly next?: string;
  /** The content after the button. */
  readonly note?: PageContent;
  /** Additional content after the fields, for example hidden inputs. No declaration describes it. */
  readonly more?: PageContent;
  /** True if the endpoint reads the form itself, so that its body names no method. */
  readonly isPlain?: boolean;
  /** True for the form of a card: without a frame, and with a button of the width of the card. */
  readonly isCard?: boolean;
  /** The words for its fields, by name. With it, the form is for people: it shows no names and no rules of types. */
  readonly words?: FieldWords;
  /** The prefix of the ids of its fields, for a page with several forms. */
  readonly prefix?: string;
}

/** The words for fields: the label, and a hint if the control does not show it. */
export type FieldWords = Readonly<Record<string, readonly [label: string, hint?: string]>>;

/** Writes a form for an offer. The script sends it as JSON. Without the script, the browser sends it as a form. */
export function writeForm(parts: FormParts): Markup {
  const { view, offer, only, mistakes = [], does, note, more, looks = "main", isCard = false } = parts;
  const inputs = collectInputs(offer).filter(({ name }) => only?.includes(name) ?? true);
  const fields = inputs.map((input) =>
    writeField(input, {
      ...parts,
      autocomplete: findAutocomplete(input, inputs, view),
      mistakes: mistakes.filter(({ pointer }) => isAt(pointer, input.name)),
    }),
  );
  const needsUsername = inputs.some(({ isSecret }) => isSecret) && !inputs.some(({ name }) => name === "username");
  const classes = isCard || parts.words !== undefined ? "form" : inputs.length === 0 ? "" : "panel form";
  return html`<form class="${classes}"${parts.words === undefined ? "" : html` aria-label="${typeof does === "string" ? does : ""}"`} ${writeAttributes(parts)} novalidate>
    ${writeMeaning(parts)}${needsUsername ? writeUsernameField(view) : ""}${fields}${more}
    <div class="row"><button class="btn ${looks}${isCard ? " wide" : ""}">${does}</button>${note}</div>
  </form>`;
}

/**
 * Returns the hint for password managers, in a form with a password. A new user without a separate username logs in
 * with the e-mail address.
 */
function findAutocomplete({ name }: Input, inputs: readonly Input[], { identity }: View): string {
  if (!inputs.some(({ isSecret }) => isSecret) || !["name", "email", "username"].includes(name)) return "off";
  const isLogin = name === "email" && identity === null && !inputs.some((each) => each.name === "username");
  return isLogin ? "username" : name;
}

/** Writes a form without fields: a button. */
export function writeButton(parts: FormParts, classes: string): Markup {
  return html`<form${writeAttributes(parts)}>${writeMeaning(parts)}<button class="btn ${classes}">${parts.does}</button></form>`;
}

/** Writes the method of a form and the state that it was filled from, for a browser that sends it itself. */
function writeMeaning({ offer, tag, isPlain = false }: Omit<FormParts, "does">): PageContent {
  const { method } = offer;
  if (isPlain) return "";
  return html`${method === "POST" ? "" : html`<input type="hidden" name="_method" value="${method}">`}${
    tag === undefined || tag === null ? "" : html`<input type="hidden" name="_match" value="${tag}">`
  }`;
}

/** Returns the address of a form, and the attributes with which the script sends it as JSON. */
export function writeAttributes({ view, offer, tag, next }: Omit<FormParts, "does">): Markup {
  const { method, path, repeatable, resource } = offer;
  return html` method="post" action="${resolveAddress(view, path)}" data-method="${method}"
  data-path="${resolveAddress(view, path)}"${
    tag === undefined || tag === null ? "" : html` data-match="${tag}"`
  }${next === undefined ? "" : html` data-then="${next}"`}${
    repeatable ? html` data-repeatable` : ""
  }${resource === null ? html` data-stay` : ""}`;
}

type FieldParts = Pick<
  FormParts,
  "values" | "mistakes" | "offer" | "again" | "prefix" | "choices" | "labels" | "words"
> &
  Partial<Pick<FormParts, "view">> & { readonly autocomplete?: string };

/** Writes one field: its name, its input, its mistakes and its rule. */
export function writeField(input: Input, parts: FieldParts): Markup {
  const { values = {}, mistakes = [], again = [], offer, prefix = "field" } = parts;
  const { name, type, isNeeded, isUnseen, checkboxes } = input;
  const ticked = checkboxes === null ? null : parseTicked(values[name]);
  const [label, hint] = parts.words?.[name] ?? [input.label, input.description];
  const isForPeople = parts.words !== undefined;
  const usual = checkboxes !== null && ticked === null ? `${input.rule}, as a JSON array` : input.rule;
  const rule = isForPeople ? (hint ?? "") : usual;
  const id = `${prefix}-${name}`;
  const wrong = mistakes.map(({ detail }, at) => html`<span class="wrong" id="${id}-wrong-${at}">${detail}</span> `);
  const described = [...mistakes.map((_, at) => `${id}-wrong-${at}`), ...(rule === "" ? [] : [`${id}-rule`])];
  const behind = html`${wrong}${rule === "" ? "" : html`<span class="rule" id="${id}-rule">${rule}</span>`}`;
  const legend = isForPeople
    ? html`${label}${isNeeded || offer.method === "PATCH" ? "" : html` <span class="opt">(optional)</span>`}`
    : html`${name}${writeHint(input, offer.method)}`;
  const common = html` id="${id}"${
    described.length === 0 ? "" : html` aria-describedby="${described.join(" ")}"`
  }${again.includes(name) ? html` data-again` : ""}`;
  if (checkboxes !== null && ticked !== null)
    return writeCheckboxes(checkboxes, ticked, {
      name,
      about: html`${common} tabindex="-1"`,
      legend,
      isNeeded,
      behind,
      choosing: writeChoiceAttributes(name, parts),
      called: (value) => findLabel(name, value, parts),
    });
  const about = html`${common} name="${name}" data-type="${type}"${isNeeded && !isUnseen ? html` required` : ""}${
    mistakes.length === 0 ? "" : html` aria-invalid="true"`
  }${writeChoiceAttributes(name, parts)}`;
  if (isForPeople) {
    const shown = writeInput(input, about, values[name], parts.autocomplete, id);
    return html`<div class="field"><label for="${id}">${legend}</label>${rule === "" ? "" : html`<p class="hint" id="${id}-rule">${rule}</p>`}${wrong}${shown}</div> `;
  }
  return html`<p class="field">
    <label for="${id}">${legend}</label>
    ${writeInput(input, about, values[name], parts.autocomplete)} ${behind}
  </p> `;
}

function findChoice(name: string, { choices, offer }: FieldParts): Choice | undefined {
  const fields = (offer.body ?? offer.resource)?.fields ?? {};
  return Object.hasOwn(fields, name) ? choices?.get(fields[name]!) : undefined;
}

/**
 * Returns attributes with the URL of the possible records and the name of their label field. The script requests these
 * records, with the caller's credentials, when the field gets the focus.
 */
function writeChoiceAttributes(name: string, parts: FieldParts): PageContent {
  const { to, isListed = false } = findChoice(name, parts) ?? {};
  if (to === undefined || !isListed || parts.view === undefined) return "";
  const search = to.search.length === 0 ? "" : html` data-search`;
  return html` data-choices="${resolveAddress(parts.view, to.path)}" data-called="${findLabelField(to) ?? "id"}"${search}`;
}

function findLabel(name: string, value: number | string, parts: FieldParts): string | undefined {
  const label = parts.labels?.get(findChoice(name, parts)?.to.path ?? "")?.get(value);
  return label === String(value) ? undefined : label;
}

/**
 * Returns the hint of a field. With PATCH, no field needs the hint that it may be left out, because the form sends only
 * changes.
 */
function writeHint({ name, isNeeded, isUnseen, isSecret }: Input, method: string): PageContent {
  if (name === "current_password") return html` <span class="opt">if it is asked for</span>`;
  if (method !== "PATCH") return isNeeded ? "" : html` <span class="opt">may be left out</span>`;
  if (!isUnseen) return "";
  return html` <span class="opt">${isSecret || name === "username" ? "only to change it" : "may be left out"}</span>`;
}

function writeInput(input: Input, about: Markup, value: unknown, autocomplete = "off", shownBy?: string): Markup {
  const { name, type, choices, isSecret, help } = input;
  if (isTooLong(value)) return html`<span${about} class="dim">It is too long to be changed on a page.</span>`;
  if (choices !== null) return writeSelect(input, choices, about, value, shownBy !== undefined);
  const text = value === null || value === undefined ? "" : input.formatValue(value);
  if (type.startsWith("json")) return html`<textarea${about} rows="4" spellcheck="false">${text}</textarea>`;
  // A single-line input cannot show several lines. A browser drops a line break at the start of a `textarea`, so one is
  // added before the text. A password manager finds a username in an `input` only.
  const isLong = input.long !== null && autocomplete !== "username";
  if (!isSecret && (isLong || /[\r\n]/.test(text)))
    return html`<textarea${about}${input.long === "wrapped" ? html` data-line` : ""} rows="${rowsFor(text)}" dir="auto">${"\n"}${text}</textarea>`;
  if (isSecret) {
    const attributes = html`${about} type="password" autocomplete="${name === "password" ? "new-password" : "current-password"}"`;
    return shownBy === undefined ? html`<input${attributes}>` : withShowButton(shownBy, html`<input${attributes}>`);
  }
  return html`<input${about}${help} value="${text}" dir="auto" autocomplete="${autocomplete}">`;
}

/** Returns the number of rows for a text, within the size of a screen. */
function rowsFor(text: string): number {
  return Math.min(Math.max(text.split("\n").length + Math.ceil(text.length / 80), 3), 16);
}

function writeSelect(
  input: Input,
  choices: readonly unknown[],
  about: Markup,
  value: unknown,
  isForPeople: boolean,
): Markup {
  const isOpen = value === null || value === undefined;
  const empty = input.isNeeded && !isOpen ? "" : html`<option value="" ${isOpen ? selected : ""}></option>`;
  const options = choices.map((each) =>
    isForPeople && typeof each === "boolean"
      ? html`<option value="${String(each)}"${each === value ? selected : ""}>${each ? "Yes" : "No"}</option>`
      : html`<option${each === value ? selected : ""}>${String(each)}</option>`,
  );
  // A sent value that is not among the choices is shown too.
  const strange = isOpen || choices.includes(value) ? "" : html`<option${selected}>${String(value)}</option>`;
  return html`<select${about}>${empty}${options}${strange}</select>`;
}

const selected = html` selected`;

function isAt(pointer: string, name: string): boolean {
  const at = pointerTo(name);
  return pointer === at || pointer.startsWith(`${at}/`);
}

/** Writes the mistakes of a form above it, each with a link to its field. */
export function writeMistakes(inputs: readonly Input[], detail: string, mistakes: readonly Issue[]): Markup {
  const items = mistakes.map((each) => {
    const input = inputs.find(({ name }) => isAt(each.pointer, name));
    const place = each.pointer === "" ? "" : each.pointer.replace(/^[/?]/, "");
    if (input === undefined) return html`<li>${place === "" ? "" : html`<code>${place}</code>: `}${each.detail}</li>`;
    return html`<li>
      <a href="#field-${input.name}"><code>${place}</code></a
      >: ${each.detail}
    </li>`;
  });
  return html`<div class="note bad" role="alert" tabindex="-1">
    <h2>${mistakes.length < 2 ? detail : `${mistakes.length} things to correct`}</h2>
    <ul>
      ${items}
    </ul>
  </div>`;
}
