import { html, type PageContent } from "../../../core/html/markup.ts";
import type { Issue } from "../../../core/problem/problem.ts";
import type { View } from "../../../http/request/view.ts";
import { resolveAddress } from "../site.ts";
import { writeHiddenUsername, writeUsernameField } from "./username-field.ts";

/** A field that a person fills in. */
export interface PlainField {
  readonly name: string;
  readonly label: string;
  /** Default: `text`. */
  readonly type?: "email" | "password" | "text";
  readonly autocomplete: string;
  readonly rule?: string;
  /** Default: required. */
  readonly optional?: true;
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
    ? (shown.find(({ wrong }) => wrong.length > 0) ?? shown.find(({ text }) => text === ""))?.field.name
    : undefined;
  const inputs = Object.entries(hidden).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" /> `,
  );
  // A new password may belong to another user than the caller.
  const needsUsername = fields.some(({ autocomplete }) => autocomplete === "current-password");
  const caller = needsUsername ? writeUsernameField(view) : "";
  return html`<form class="panel form" method="post" action="${resolveAddress(view, path)}" aria-label="${label}">
    ${inputs} ${username === undefined ? caller : writeHiddenUsername(username)}${shown.map((each) => writePlainField(each, form.prefix, each.field.name === first))}
    <div class="row"><button class="btn main">${does}</button></div>
  </form>`;
}

interface PlainFieldInput {
  readonly field: PlainField;
  readonly wrong: readonly Issue[];
  readonly text: string;
}

function writePlainField({ field, wrong, text }: PlainFieldInput, prefix: string, hasFocus: boolean): PageContent {
  const { name, label, type = "text", autocomplete, rule, optional } = field;
  const id = `${prefix}-${name}`;
  const described = [...(wrong.length === 0 ? [] : [`${id}-wrong`]), ...(rule === undefined ? [] : [`${id}-rule`])];
  const error =
    wrong.length === 0
      ? ""
      : html`<span class="wrong" id="${id}-wrong" role="alert">${wrong.map(({ detail }) => detail).join(" ")}</span>`;
  return html`<p class="field">
    <label for="${id}">${label}</label>
    <input id="${id}" name="${name}" type="${type}" value="${text}" autocomplete="${autocomplete}" autocapitalize="none" spellcheck="false"${optional === true ? "" : html` required`}${described.length === 0 ? "" : html` aria-describedby="${described.join(" ")}"`}${wrong.length === 0 ? "" : html` aria-invalid="true"`}${hasFocus ? html` autofocus` : ""} />
    ${error} ${rule === undefined ? "" : html`<span class="rule" id="${id}-rule">${rule}</span>`}
  </p> `;
}
