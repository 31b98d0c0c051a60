import { html, type PageContent } from "../../../core/html/markup.ts";
import type { Issue } from "../../../core/problem/problem.ts";
import type { View } from "../../../http/request/view.ts";
import { resolveAddress } from "../site.ts";
import { writePasswordInput } from "./card-parts.ts";
import { writeHiddenUsername, writeUsernameField } from "./username-field.ts";

/** A field that a person fills in. */
export interface PlainField {
  readonly name: string;
  readonly label: string;
  /** `digits` is a code of digits. The form shows a `shown` value, and no user changes it. Default: `text`. */
  readonly type?: "digits" | "email" | "password" | "shown" | "text";
  readonly autocomplete: string;
  readonly hint?: string;
  /** Default: required. */
  readonly optional?: true;
  /** The question that unfolds the field. Default: the field is shown. */
  readonly foldedAs?: string;
}

/** A form that a browser sends without the script. */
export interface PlainForm {
  readonly path: string;
  /** The text of the button. */
  readonly does: string;
  readonly fields: readonly PlainField[];
  readonly hidden: Readonly<Record<string, string>>;
  /** The username that belongs to a new password, if no field asks for it. */
  readonly username?: string;
  /** The values of the last attempt, or the first ones. No password is shown again. */
  readonly values?: Readonly<Record<string, unknown>>;
  readonly mistakes?: readonly Issue[];
  /** The name of the form, and the prefix of the ids of its fields. */
  readonly label: string;
  readonly prefix: string;
  /** True if the form is the subject of the page: then its first empty or wrong field has the focus. */
  readonly isSubject?: boolean;
  /** More content between the fields and the button. */
  readonly more?: PageContent;
  /** True for a button of the width of the card. Default: false. */
  readonly isWide?: boolean;
}

/** Writes a form that a browser sends without the script. */
export function writePlainForm(view: View, form: PlainForm): PageContent {
  const { path, does, fields, hidden, values = {}, mistakes = [], label, username, isSubject = false } = form;
  const shown = fields.map((field) => {
    const value = field.type === "password" ? undefined : values[field.name];
    const wrong = mistakes.filter(({ pointer }) => pointer === `/${field.name}`);
    return { field, wrong, text: typeof value === "string" ? value : "" };
  });
  const first = isSubject
    ? (shown.find(({ wrong }) => wrong.length > 0) ?? shown.find(({ text, field }) => text === "" && !field.foldedAs))
        ?.field.name
    : undefined;
  const inputs = Object.entries(hidden).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" /> `,
  );
  // A new password may belong to another user than the caller.
  const needsUsername = fields.some(({ autocomplete }) => autocomplete === "current-password");
  const caller = needsUsername ? writeUsernameField(view) : "";
  const button = html`<button class="btn main${form.isWide === true ? " wide" : ""}">${does}</button>`;
  return html`<form class="form" method="post" action="${resolveAddress(view, path)}" aria-label="${label}">
    ${inputs} ${username === undefined ? caller : writeHiddenUsername(username)}${shown.map((each) => writePlainField(each, form.prefix, each.field.name === first))}
    ${form.more ?? ""}${form.isWide === true ? button : html`<div class="row">${button}</div>`}
  </form>`;
}

interface PlainFieldInput {
  readonly field: PlainField;
  readonly wrong: readonly Issue[];
  readonly text: string;
}

function writePlainField({ field, wrong, text }: PlainFieldInput, prefix: string, hasFocus: boolean): PageContent {
  const { name, label, type = "text", autocomplete, hint, optional, foldedAs } = field;
  if (type === "shown")
    return html`<div class="field">
    <span class="label">${label}</span>
    <p><bdi>${text}</bdi></p>
  </div> `;
  const id = `${prefix}-${name}`;
  const isWrong = wrong.length > 0;
  const described = [...(isWrong ? [`${id}-wrong`] : []), ...(hint === undefined ? [] : [`${id}-hint`])];
  const marks = html`${optional === true ? "" : html` required`}${described.length === 0 ? "" : html` aria-describedby="${described.join(" ")}"`}${isWrong ? html` aria-invalid="true"` : ""}${hasFocus ? html` autofocus` : ""}`;
  const about = html` name="${name}" autocomplete="${autocomplete}" autocapitalize="none" spellcheck="false"`;
  const input =
    type === "password"
      ? writePasswordInput(id, html`${about}${marks}`)
      : type === "digits"
        ? html`<input id="${id}" class="digits" type="text" inputmode="numeric" value="${text}"${about}${marks}>`
        : html`<input id="${id}" type="${type}" value="${text}"${about}${marks}${type === "text" ? html` dir="auto"` : ""}>`;
  const written = html`<div class="field">
    <label for="${id}">${label}${optional === true && foldedAs === undefined ? html` <span class="opt">(optional)</span>` : ""}</label>
    ${hint === undefined ? "" : html`<p class="hint" id="${id}-hint">${hint}</p>`}
    ${isWrong ? html`<p class="wrong" id="${id}-wrong" role="alert">${wrong.map(({ detail }) => detail).join(" ")}</p>` : ""}
    ${input}
  </div> `;
  if (foldedAs === undefined) return written;
  return html`<details class="more small"${isWrong ? html` open` : ""}><summary>${foldedAs}</summary>${written}</details> `;
}
