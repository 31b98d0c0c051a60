import { isUnsafe } from "../../../core/call/cross-site.ts";
import { isObject } from "../../../core/checking/members.ts";
import { parseJSON } from "../../../core/exact-numbers.ts";
import { findOwnPath } from "../../../core/html/link.ts";
import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import { formType } from "../../../http/formats/form.ts";
import type { ProblemDocument } from "../../../http/request/format.ts";
import type { View } from "../../../http/request/view.ts";
import { readTarget } from "../addresses.ts";
import { collectInputs } from "../forms/inputs.ts";
import { writePasskeyForm } from "../forms/passkey-form.ts";
import { writeUsernameField } from "../forms/username-field.ts";
import { LOGIN_PATH } from "../login-methods.ts";
import { askedPath, isServed } from "../paths.ts";
import { resolveAddress, type Drawn, type Site } from "../site.ts";
import { drawFactorChoice, codeField, drawHead, readNext, type WaitingLoginReply } from "./waiting-parts.ts";

// The pages for a request that needs a recent proof of identity. A hidden input carries the values of the sent form,
// without passwords, from page to page.

const CONFIRM_LOGIN_PATH = `${LOGIN_PATH}confirm/`;

/** The maximum length of the carried form, in URL-encoded characters. The login endpoints accept only short bodies. */
const MOST_CARRIED = 12_000;

/** A sent form that the pages carry in a hidden input while the user confirms who they are. */
interface Carried {
  readonly method: string;
  /** With the base path and the query. */
  readonly path: string;
  /** True if the script sent it as JSON. */
  readonly typed: boolean;
  /** The `If-Match` header of the request. Null if it has none. */
  readonly match: string | null;
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * Draws the problem of a request that needs a recent proof of identity. Returns null if the caller cannot confirm on a
 * page. The script sends the form of this page at once.
 */
export async function drawConfirmFirst(site: Site, view: View, document: ProblemDocument): Promise<Drawn | null> {
  if (view.identity?.scheme !== "session" || !isServed(site, CONFIRM_LOGIN_PATH, "POST")) return null;
  const { call } = view;
  const again = isUnsafe(call.method) ? await carry(view) : null;
  const next = isUnsafe(call.method)
    ? (findOwnPath(call.header("referer"), call.client.origin) ?? resolveAddress(view, "/"))
    : readTarget(view);
  const action = resolveAddress(view, CONFIRM_LOGIN_PATH);
  const notice = again === null ? "" : html`<p>Nothing was stored. What you typed is kept, except for passwords.</p>`;
  const main = html`${drawHead(TITLE, document.detail)}
    <form class="panel form" method="post" action="${action}" data-method="POST" data-path="${action}" data-stay data-confirm aria-label="${TITLE}">
      <input type="hidden" name="next" value="${next}" />${hiddenForm(again)} ${notice}
      <div class="row"><button class="btn main">Confirm</button></div>
    </form>`;
  return { title: TITLE, main, narrow: true };
}

const TITLE = "Confirm that it is you";

/** Returns the sent form as text, without passwords. Returns null if it is too long. */
async function carry(view: View): Promise<string | null> {
  const { sent, call } = view;
  const offers = await view.offers();
  const offer = offers.find(({ method, path }) => method === call.method && path === askedPath(view));
  const secret =
    offer === undefined ? [] : collectInputs(offer).flatMap(({ name, isSecret }) => (isSecret ? [name] : []));
  const values = Object.entries(isObject(sent) ? sent : {}).filter(
    ([name]) => !secret.includes(name) && !/password|secret|token/i.test(name),
  );
  const carried: Carried = {
    method: call.method,
    path: readTarget(view),
    typed: call.header("content-type")?.startsWith(formType) !== true,
    match: call.header("if-match") ?? null,
    values: Object.fromEntries(values),
  };
  const text = JSON.stringify(carried);
  return encodeURIComponent(text).length > MOST_CARRIED ? null : text;
}

function hiddenForm(again: unknown): PageContent {
  return typeof again === "string" ? html`<input type="hidden" name="again" value="${again}" />` : "";
}

/**
 * Returns true if a login that waits is a confirmation: only a confirmation accepts a password as a factor, or carries
 * a form.
 */
export function isConfirmation({ sent }: View, { factors }: WaitingLoginReply): boolean {
  if (isObject(sent) && sent["again"] !== undefined) return true;
  return factors.some((each) => isObject(each) && each["kind"] === "password");
}

/** Draws the forms that confirm: by password, code or passkey. */
export function drawConfirming(view: View, { factors }: WaitingLoginReply, wrong?: string): Drawn {
  const all = factors.filter(isObject);
  const passkey = all.find(({ kind }) => kind === "passkey");
  const codes = all.filter(({ kind }) => kind === "totp" || kind === "recovery");
  const byPassword = all.some(({ kind }) => kind === "password");
  const error = wrong === undefined ? "" : "confirm-error";
  const again = isObject(view.sent) ? view.sent["again"] : undefined;
  const next = readNext(view);
  const fields = { next, ...(typeof again === "string" ? { again } : {}) };
  const does = "Confirm with a passkey";
  const main = html`${drawHead(TITLE, "Your request is sent after that.")}
    <div class="stack">
      ${wrong === undefined ? "" : html`<p class="wrong" id="${error}" role="alert">${wrong}</p>`}
      ${passkey === undefined ? "" : writePasskeyForm(view, { path: LOGIN_PATH, does, looks: "main", asks: { options: passkey["ask"] }, fields: { ...fields, factor: String(passkey["id"]) }, next, label: does, restores: true }, next)}
      ${byPassword ? confirmForm(view, fields, html`${writeUsernameField(view)}${passwordField(error)}`) : ""}
      ${codes.length === 0 ? "" : confirmForm(view, fields, html`${drawFactorChoice(codes)}${codeField(codes, error)}`)}
      ${all.length === 0 ? html`<p>Your account has nothing to confirm with. Log out, then log in again.</p>` : ""}
    </div>`;
  return { title: TITLE, main, narrow: true };
}

function confirmForm(view: View, fields: Readonly<Record<string, string>>, content: Markup): Markup {
  const action = resolveAddress(view, LOGIN_PATH);
  const hidden = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" /> `,
  );
  return html`<form class="panel form" method="post" action="${action}" data-method="POST" data-path="${action}" data-then="${fields["next"] ?? ""}" data-leave data-restore aria-label="${TITLE}">
    ${hidden}${content}
    <div class="row"><button class="btn main">Confirm</button></div>
  </form>`;
}

function passwordField(error: string): Markup {
  const marks: PageContent = error === "" ? "" : html` aria-invalid="true" aria-describedby="${error}"`;
  return html`<input type="hidden" name="factor" value="password" />
    <p class="field">
      <label for="password">Password</label>
      <input id="password" name="password" type="password" autocomplete="current-password" required autofocus${marks} />
    </p>`;
}

/**
 * Draws the carried form after the user has confirmed. The user sends it with the button. Returns null if there is no
 * valid form.
 */
export function drawConfirmed(view: View): Drawn | null {
  const carried = parseCarried(isObject(view.sent) ? view.sent["again"] : undefined);
  if (carried === null) return null;
  const { method, path, typed, match, values } = carried;
  const inputs = Object.entries(values).map(([name, value]) =>
    typeof value === "string"
      ? html`<input type="hidden" name="${name}" value="${value}" /> `
      : html`<input type="hidden" name="${name}" data-type="json" value="${JSON.stringify(value)}" /> `,
  );
  const target: Markup = typed
    ? html` data-method="${method}" data-path="${path}"${match === null ? "" : html` data-match="${match}"`}`
    : html` method="post" action="${path}"`;
  const title = "You have confirmed";
  const main = html`${drawHead(title, "Your request is not sent yet.")}
    <form class="panel form"${target} aria-label="Your request">
      ${inputs}
      <p><code>${method} ${path}</code></p>
      <div class="row"><button class="btn main">Send it now</button> <a class="btn" href="${readNext(view)}">Do not send it</a></div>
    </form>`;
  return { title, main, narrow: true };
}

/** Parses the carried form. Returns null if it is invalid, because the browser can send any text. */
function parseCarried(text: unknown): Carried | null {
  if (typeof text !== "string") return null;
  let value: unknown;
  try {
    value = parseJSON(text);
  } catch {
    return null;
  }
  if (!isObject(value) || !isObject(value["values"])) return null;
  const { method, path, typed, match, values } = value;
  const target = typeof path === "string" ? findOwnPath(path) : null;
  if (typeof method !== "string" || !["POST", "PUT", "PATCH", "DELETE"].includes(method) || target === null)
    return null;
  if (typed !== true && method !== "POST") return null;
  return { method, path: target, typed: typed === true, match: typeof match === "string" ? match : null, values };
}
