import { isObject } from "../../../core/checking/members.ts";
import { findOwnPath } from "../../../core/html/link.ts";
import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { View } from "../../../http/request/view.ts";
import { findParameter } from "../addresses.ts";

// The common parts of the pages on which a login is completed or confirmed.

type WaitingValues = Readonly<Record<string, unknown>>;

/** A login that waits for another proof. */
export type WaitingLoginReply = WaitingValues & { readonly needs: string; readonly factors: readonly unknown[] };

/** Returns true if a value is a login that waits for another proof. */
export function isWaiting(value: unknown): value is WaitingLoginReply {
  return isObject(value) && typeof value["needs"] === "string" && Array.isArray(value["factors"]);
}

/** Returns the head of a page. */
export function drawHead(title: string, text: string): Markup {
  return html`<div class="head">
    <div>
      <h1 tabindex="-1">${title}</h1>
      <p>${text}</p>
    </div>
  </div>`;
}

/** Returns the choice among factors that take a code. A single factor needs no choice. */
export function drawFactorChoice(factors: readonly WaitingValues[]): Markup {
  const [first] = factors;
  if (factors.length === 1) return html`<input type="hidden" name="factor" value="${String(first!["id"])}" />`;
  const choices = factors.map(
    ({ id, label, kind }) => html`<option value="${String(id)}">${String(label ?? kind)}</option>`,
  );
  return html`<p class="field">
    <label for="factor">Factor</label>
    <select id="factor" name="factor">
      ${choices}
    </select>
  </p>`;
}

/**
 * Returns the field for a code of one of these factors. It has the focus if the reader needs to see nothing above it
 * first.
 */
export function codeField(factors: readonly WaitingValues[], error: string, hasFocus = true): Markup {
  const attributes: PageContent = error === "" ? "" : html` aria-invalid="true" aria-describedby="${error}"`;
  return html`<p class="field">
    <label for="code">${describeCode(factors)}</label>
    <input id="code" name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" required${hasFocus ? html` autofocus` : ""}${attributes} />
  </p>`;
}

function describeCode(factors: readonly WaitingValues[]): string {
  const [kind, ...others] = factors.map((factor) => factor["kind"]);
  if (kind === "recovery" && others.length === 0) return "Recovery code";
  if (kind === "totp" && others.length === 0) return "Code from the app";
  return kind === "mail" ? "Code from the mail" : "Code";
}

/**
 * Returns the page to show after the login: the page that the form names if it is a path of this service, otherwise the
 * root.
 */
export function readNext(view: View): string {
  const { sent, call, basePath } = view;
  const next = isObject(sent) ? sent["next"] : findParameter(view, "next");
  const path = typeof next === "string" ? findOwnPath(next) : null;
  return path === null || path === call.path ? `${basePath}/` : path;
}
