import { html, type PageContent, type Markup } from "../html/markup.ts";
import type { Offer, View } from "../http/formats/view.ts";
import type { Issue } from "../problem/problem.ts";
import { isRequired, isShown, isStored, isWritable, type Field } from "../resource/kinds/field.ts";
import type { Fields } from "../resource/resource.ts";
import { needsScript } from "./parts.ts";
import { ruleOf } from "./rules.ts";
import { addressOf } from "./site.ts";
import { textOf } from "./values.ts";

/** A form that does one of the things that a caller may do. */
export interface FormParts {
  readonly view: View;
  readonly offer: Pick<Offer, "method" | "path" | "repeatable">;
  readonly fields: Fields;
  /** What stands in the fields at first: the record, or what was sent. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** The fields that were sent before, and are sent again whether they are touched or not. */
  readonly again?: readonly string[];
  /** What was wrong with what was sent. */
  readonly mistakes?: readonly Issue[];
  /** The words on the button. */
  readonly does: string;
  /** Of the state that is changed. */
  readonly tag?: string | null;
  /** Where to go when it is done; the answer is shown where it is left out. */
  readonly next?: string;
  /** Behind the button. */
  readonly note?: PageContent;
}

/** Writes a form from a declaration. Only the script can send it. */
export function writeForm(parts: FormParts): Markup {
  const { fields, mistakes = [], does, note } = parts;
  const writable = Object.entries(fields).filter(([, field]) => isWritable(field));
  const inputs = writable.map(([name, field]) =>
    writeField(name, field, { ...parts, mistakes: mistakes.filter(({ pointer }) => isAt(pointer, name)) }),
  );
  return html`<form class="${writable.length === 0 ? "" : "panel form"}" ${attributesOf(parts)} novalidate>
    ${inputs}
    <div class="row" data-js hidden><button class="btn main">${does}</button>${note}</div>
    ${needsScript}
  </form>`;
}

/** A form without fields: a button. */
export function writeButton(parts: Omit<FormParts, "fields">, classes = ""): Markup {
  return html`<form${attributesOf(parts)} data-js hidden><button class="btn ${classes}">${parts.does}</button></form>`;
}

/** What the script needs in order to send a form as JSON. */
export function attributesOf({ view, offer, tag, next }: Omit<FormParts, "fields" | "does">): Markup {
  const { method, path, repeatable } = offer;
  return html` data-method="${method}"
  data-path="${addressOf(view, path)}"${
    tag === undefined || tag === null ? "" : html` data-match="${tag}"`
  }${next === undefined ? "" : html` data-then="${next}"`}${repeatable ? html` data-repeatable` : ""}`;
}

type FieldParts = Pick<FormParts, "values" | "mistakes" | "offer" | "again">;

/** One field: its name, an input for its values, what is wrong with it, and its rule. */
export function writeField(
  name: string,
  field: Field,
  { values = {}, mistakes = [], again = [], offer }: FieldParts,
): Markup {
  const id = `field-${name}`;
  const wrong = mistakes.map(({ detail }, at) => html`<span class="wrong" id="${id}-wrong-${at}">${detail}</span> `);
  const described = [...mistakes.map((_, at) => `${id}-wrong-${at}`), `${id}-rule`].join(" ");
  const needed = isRequired(field) && (offer.method !== "PATCH" || isShown(field));
  const about = html` id="${id}" name="${name}" data-type="${typeOf(field)}"
  aria-describedby="${described}"${
    needed && isShown(field) ? html` required` : ""
  }${mistakes.length === 0 ? "" : html` aria-invalid="true"`}${again.includes(name) ? html` data-again` : ""}`;
  return html`<p class="field">
    <label for="${id}">${name}${needed ? "" : html` <span class="opt">may be left out</span>`}</label>
    ${writeInput(name, field, about, values[name])} ${wrong}<span class="rule" id="${id}-rule">${ruleOf(field)}</span>
  </p> `;
}

/** How the script reads the text of a field: as the declaration says, and `null` where it is empty and may be. */
export function typeOf(field: Field): string {
  const { kind, options } = field;
  const type = kind.column.type === "date-time" || kind.column.type === "decimal" ? "text" : kind.column.type;
  return options.optional === true && isStored(field) ? `${type} null` : type;
}

function writeInput(name: string, field: Field, about: Markup, value: unknown): Markup {
  const { kind } = field;
  const choices = kind.column.type === "boolean" ? [true, false] : kind.schema["enum"];
  if (Array.isArray(choices)) return writeSelect(choices, about, field, value);
  const text = value === null || value === undefined ? "" : textOf(field, value);
  if (kind.column.type === "json") return html`<textarea${about} rows="4" spellcheck="false">${text}</textarea>`;
  if (!isShown(field) && /password|secret/.test(name))
    return html`<input${about} type="password" autocomplete="${name === "password" ? "new-password" : "current-password"}">`;
  return html`<input${about}${inputTypeOf(field)} value="${text}" dir="auto" autocomplete="off">`;
}

function inputTypeOf({ kind }: Field): Markup {
  if (kind.column.type === "integer") return html` inputmode="numeric"`;
  if (kind.column.type === "decimal") return html` inputmode="decimal"`;
  return kind.name === "e-mail" ? html` type="email"` : html``;
}

function writeSelect(choices: readonly unknown[], about: Markup, field: Field, value: unknown): Markup {
  const empty = isRequired(field)
    ? ""
    : html`<option value="" ${value === null || value === undefined ? selected : ""}></option>`;
  const options = choices.map((each) => html`<option${each === value ? selected : ""}>${String(each)}</option>`);
  return html`<select${about}>${empty}${options}</select>`;
}

const selected = html` selected`;

function isAt(pointer: string, name: string): boolean {
  const at = `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return pointer === at || pointer.startsWith(`${at}/`);
}

/** The mistakes of a form above it, each with a link to its field. */
export function writeMistakes(fields: Fields, detail: string, mistakes: readonly Issue[]): Markup {
  const items = mistakes.map((each) => {
    const name = Object.keys(fields).find((field) => isAt(each.pointer, field) && isWritable(fields[field]!));
    const place = each.pointer === "" ? "" : each.pointer.replace(/^[/?]/, "");
    if (name === undefined) return html`<li>${place === "" ? "" : html`<code>${place}</code>: `}${each.detail}</li>`;
    return html`<li>
      <a href="#field-${name}"><code>${place}</code></a
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
