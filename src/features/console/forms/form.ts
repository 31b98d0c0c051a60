import { html, type PageContent, type Markup } from "../../../core/html/markup.ts";
import type { Issue } from "../../../core/problem/problem.ts";
import type { Offer, View } from "../../../http/formats/view.ts";
import { pointerTo } from "../../../resource/pointer.ts";
import { isTooLong } from "../excerpt.ts";
import { labelFieldOf } from "../labels.ts";
import { needsScript } from "../parts.ts";
import { addressOf, type Choice, type Choices, type Labels } from "../site.ts";
import { inputsOf, type Input } from "./inputs.ts";
import { tickedOf, writeSeveral } from "./several.ts";

/** A form that does one of the things that a caller may do. */
export interface FormParts {
  readonly view: View;
  /** What its fields hold ids of, so that those can be chosen by name. */
  readonly choices?: Choices;
  /** What the records are called whose ids stand in its fields. */
  readonly labels?: Labels;
  readonly offer: Offer;
  /** Only these of what the offer asks for, by their names. */
  readonly only?: readonly string[];
  /** What stands in the fields at first: the record, or what was sent. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** The fields that were sent before, and are sent again whether they are touched or not. */
  readonly again?: readonly string[];
  /** What was wrong with what was sent. */
  readonly mistakes?: readonly Issue[];
  /** The words on the button. */
  readonly does: string;
  /** How the button looks. */
  readonly looks?: string;
  /** Of the state that is changed. */
  readonly tag?: string | null;
  /** Where to go when it is done. Left out: to what was made, or what the answer shows. */
  readonly next?: string;
  /** Behind the button. */
  readonly note?: PageContent;
  /** Behind the fields: what no declaration says. */
  readonly more?: PageContent;
  /** Its fields stand in two columns where there is room. */
  readonly isWide?: boolean;
  /** What the ids of its fields begin with, where a page has several forms. */
  readonly prefix?: string;
}

/** Writes a form for what an offer asks for. Only the script can send it. */
export function writeForm(parts: FormParts): Markup {
  const { offer, only, mistakes = [], does, note, more, looks = "main" } = parts;
  const inputs = inputsOf(offer).filter(({ name }) => only?.includes(name) ?? true);
  const fields = inputs.map((input) =>
    writeField(input, { ...parts, mistakes: mistakes.filter(({ pointer }) => isAt(pointer, input.name)) }),
  );
  return html`<form class="${inputs.length === 0 ? "" : "panel form"}" ${attributesOf(parts)} novalidate>
    ${parts.isWide === true ? html`<div class="duo">${fields}</div>` : fields}${more}
    <div class="row" data-js hidden><button class="btn ${looks}">${does}</button>${note}</div>
    ${needsScript}
  </form>`;
}

/** A form without fields: a button. */
export function writeButton(parts: FormParts, classes: string): Markup {
  return html`<form${attributesOf(parts)} data-js hidden><button class="btn ${classes}">${parts.does}</button></form>`;
}

/** What the script needs in order to send a form as JSON. */
export function attributesOf({ view, offer, tag, next }: Omit<FormParts, "does">): Markup {
  const { method, path, repeatable, resource } = offer;
  return html` data-method="${method}"
  data-path="${addressOf(view, path)}"${
    tag === undefined || tag === null ? "" : html` data-match="${tag}"`
  }${next === undefined ? "" : html` data-then="${next}"`}${
    repeatable ? html` data-repeatable` : ""
  }${resource === null ? html` data-stay` : ""}`;
}

type FieldParts = Pick<FormParts, "values" | "mistakes" | "offer" | "again" | "prefix" | "choices" | "labels"> &
  Partial<Pick<FormParts, "view">>;

/** One field: its name, an input for its values, what is wrong with it, and its rule. */
export function writeField(input: Input, parts: FieldParts): Markup {
  const { values = {}, mistakes = [], again = [], offer, prefix = "field" } = parts;
  const { name, type, isNeeded, isUnseen, several } = input;
  const ticked = several === null ? null : tickedOf(values[name]);
  const rule = several !== null && ticked === null ? `${input.rule}, as a JSON array` : input.rule;
  const id = `${prefix}-${name}`;
  const wrong = mistakes.map(({ detail }, at) => html`<span class="wrong" id="${id}-wrong-${at}">${detail}</span> `);
  const described = [...mistakes.map((_, at) => `${id}-wrong-${at}`), ...(rule === "" ? [] : [`${id}-rule`])];
  const behind = html`${wrong}${rule === "" ? "" : html`<span class="rule" id="${id}-rule">${rule}</span>`}`;
  const legend = html`${name}${hintOf(input, offer.method)}`;
  const common = html` id="${id}"${
    described.length === 0 ? "" : html` aria-describedby="${described.join(" ")}"`
  }${again.includes(name) ? html` data-again` : ""}`;
  if (several !== null && ticked !== null)
    return writeSeveral(several, ticked, {
      name,
      about: html`${common} tabindex="-1"`,
      legend,
      isNeeded,
      behind,
      choosing: choosingOf(name, parts),
      called: (value) => calledOf(name, value, parts),
    });
  const about = html`${common} name="${name}" data-type="${type}"${isNeeded && !isUnseen ? html` required` : ""}${
    mistakes.length === 0 ? "" : html` aria-invalid="true"`
  }${choosingOf(name, parts)}`;
  return html`<p class="field">
    <label for="${id}">${legend}</label>
    ${writeInput(input, about, values[name])} ${behind}
  </p> `;
}

function choiceOf(name: string, { choices, offer }: FieldParts): Choice | undefined {
  const fields = (offer.body ?? offer.resource)?.fields ?? {};
  return Object.hasOwn(fields, name) ? choices?.get(fields[name]!) : undefined;
}

/** Where the records stand that the id is one of, and what they are called: the script asks for them as the caller, when the field is entered. */
function choosingOf(name: string, parts: FieldParts): PageContent {
  const { to, isListed = false } = choiceOf(name, parts) ?? {};
  if (to === undefined || !isListed || parts.view === undefined) return "";
  const search = to.search.length === 0 ? "" : html` data-search`;
  return html` data-choices="${addressOf(parts.view, to.path)}" data-called="${labelFieldOf(to) ?? "id"}"${search}`;
}

function calledOf(name: string, value: number | string, parts: FieldParts): string | undefined {
  const label = parts.labels?.get(choiceOf(name, parts)?.to.path ?? "")?.get(value);
  return label === String(value) ? undefined : label;
}

/** A change holds what was changed: there it is no news that all else stays. */
function hintOf({ name, isNeeded, isUnseen, isSecret }: Input, method: string): PageContent {
  if (name === "current_password") return html` <span class="opt">where it is asked for</span>`;
  if (method !== "PATCH") return isNeeded ? "" : html` <span class="opt">may be left out</span>`;
  if (!isUnseen) return "";
  return html` <span class="opt">${isSecret || name === "username" ? "only to change it" : "may be left out"}</span>`;
}

function writeInput(input: Input, about: Markup, value: unknown): Markup {
  const { name, type, choices, isSecret, help } = input;
  if (isTooLong(value)) return html`<span${about} class="dim">It is too long to be changed on a page.</span>`;
  if (choices !== null) return writeSelect(input, choices, about, value);
  const text = value === null || value === undefined ? "" : input.textOf(value);
  if (type.startsWith("json")) return html`<textarea${about} rows="4" spellcheck="false">${text}</textarea>`;
  // A line cannot show what stands in several; and a browser takes the first line break of the element for its own.
  if (!isSecret && (input.long !== null || /[\r\n]/.test(text)))
    return html`<textarea${about}${input.long === "wrapped" ? html` data-line` : ""} rows="${rowsFor(text)}" dir="auto">${"\n"}${text}</textarea>`;
  if (isSecret)
    return html`<input${about} type="password" autocomplete="${name === "password" ? "new-password" : "current-password"}">`;
  return html`<input${about}${help} value="${text}" dir="auto" autocomplete="off">`;
}

/** As many as the text needs, within what is at hand on a screen. */
function rowsFor(text: string): number {
  return Math.min(Math.max(text.split("\n").length + Math.ceil(text.length / 80), 3), 16);
}

function writeSelect(input: Input, choices: readonly unknown[], about: Markup, value: unknown): Markup {
  const isOpen = value === null || value === undefined;
  const empty = input.isNeeded && !isOpen ? "" : html`<option value="" ${isOpen ? selected : ""}></option>`;
  const options = choices.map((each) => html`<option${each === value ? selected : ""}>${String(each)}</option>`);
  // What was sent may be none of them: it is not lost either.
  const strange = isOpen || choices.includes(value) ? "" : html`<option${selected}>${String(value)}</option>`;
  return html`<select${about}>${empty}${options}${strange}</select>`;
}

const selected = html` selected`;

function isAt(pointer: string, name: string): boolean {
  const at = pointerTo(name);
  return pointer === at || pointer.startsWith(`${at}/`);
}

/** The mistakes of a form above it, each with a link to its field. */
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
