import { isObject } from "../../../core/checking/members.ts";
import { findOwnPath } from "../../../core/html/link.ts";
import { html, type Markup } from "../../../core/html/markup.ts";
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

/** Returns the choice among apps. A single one needs no choice. */
export function drawFactorChoice(factors: readonly WaitingValues[]): Markup {
  const [first] = factors;
  if (factors.length === 1) return html`<input type="hidden" name="factor" value="${String(first!["id"])}">`;
  const choices = factors.map(
    ({ id, label }) => html`<option value="${String(id)}">${String(label ?? "Authenticator app")}</option>`,
  );
  return html`<div class="field">
    <label for="factor">App</label>
    <select id="factor" name="factor">${choices}</select>
  </div>`;
}

/**
 * Returns the field for a code of one kind of factor. `error` is the reason why the last code was refused. The field
 * has the focus if the reader needs to see nothing above it first.
 */
export function codeField(kind: unknown, error: string | undefined, hasFocus = true): Markup {
  const marks = error === undefined ? "" : html` aria-invalid="true"`;
  const isRecovery = kind === "recovery";
  const hint = kind === "mail" ? "Eight digits. It works for 10 minutes." : undefined;
  const described = [...(error === undefined ? [] : ["code-error"]), ...(hint === undefined ? [] : ["code-hint"])];
  const about = described.length === 0 ? "" : html` aria-describedby="${described.join(" ")}"`;
  const looks = isRecovery ? html` class="mono" autocapitalize="none"` : html` class="digits" inputmode="numeric"`;
  return html`<div class="field">
    <label for="code">${describeCode(kind)}</label>
    ${hint === undefined ? "" : html`<p class="hint" id="code-hint">${hint}</p>`}
    ${error === undefined ? "" : html`<p class="wrong" id="code-error" role="alert">${error}</p>`}
    <input id="code" name="code" autocomplete="${isRecovery ? "off" : "one-time-code"}"${looks} spellcheck="false" required${hasFocus ? html` autofocus` : ""}${marks}${about}>
  </div>`;
}

function describeCode(kind: unknown): string {
  if (kind === "recovery") return "Recovery code";
  return kind === "mail" ? "Code from the mail" : "Code from your app";
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
