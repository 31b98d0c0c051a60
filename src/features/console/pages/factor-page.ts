import { isObject } from "../../../core/checking/members.ts";
import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { ProblemDocument } from "../../../http/request/format.ts";
import type { View } from "../../../http/request/view.ts";
import { findParameter } from "../addresses.ts";
import { passkeysElsewhere, writePasskeyForm } from "../forms/passkey-form.ts";
import { LOGIN_PATH, PASSKEY_PATH } from "../login-methods.ts";
import { isServed } from "../paths.ts";
import { resolveAddress, type Drawing, type Drawn, type Site } from "../site.ts";
import { drawConfirming, isConfirmation } from "./confirm-page.ts";
import { WRONG_PASSKEY } from "./login-page.ts";
import { findRecord } from "./rows.ts";
import { drawFactorChoice, codeField, drawHead, isWaiting, readNext, type WaitingLoginReply } from "./waiting-parts.ts";

// The second step of a login. Only passkeys need JavaScript.

type FactorMembers = Readonly<Record<string, unknown>>;

/** Draws the page for the second factor of the login that the cookie of this browser names. */
export async function drawWaitingLogin({ site, view }: Drawing): Promise<Drawn> {
  const waiting = findRecord(await view.ask(LOGIN_PATH));
  const wrong = findParameter(view, "wrong") === "code" ? "Wrong code." : undefined;
  if (isWaiting(waiting)) return drawWaiting(site, view, waiting, wrong);
  const next = new URLSearchParams({ next: readNext(view) }).toString();
  const title = "Log in again";
  const main = html`${drawHead(title, "This login has expired, or it is complete. A login waits five minutes for its second factor.")}
    <p class="row"><a class="btn main" href="${resolveAddress(view, site.pages.login)}?${next}">Log in</a></p>`;
  return { title, main, narrow: true };
}

/** Draws the page for `factor_required`, or for a wrong second factor. Returns null for every other problem. */
export async function drawFactorProblem(site: Site, view: View, document: ProblemDocument): Promise<Drawn | null> {
  const { login, code: problemCode } = document;
  if (problemCode === "factor_required" && isWaiting(login)) return drawWaiting(site, view, login);
  if (problemCode !== "invalid_credentials" || view.place?.path !== LOGIN_PATH) return null;
  const waiting = findRecord(await view.ask(LOGIN_PATH));
  if (!isWaiting(waiting)) return null;
  const wrong = wrongAnswer(view.sent);
  return isConfirmation(view, waiting) ? drawConfirming(view, waiting, wrong) : drawWaiting(site, view, waiting, wrong);
}

function wrongAnswer(sent: unknown): string {
  if (!isObject(sent)) return "Wrong code.";
  if (sent["credential"] !== undefined) return WRONG_PASSKEY;
  return sent["password"] === undefined ? "Wrong code." : "Wrong password.";
}

/** Draws a login that waits for another proof, with a form for each kind of factor. */
export function drawWaiting(site: Site, view: View, { needs, factors }: WaitingLoginReply, wrong?: string): Drawn {
  const all = factors.filter(isObject);
  const isMail = all.some(({ kind }) => kind === "mail");
  if (needs === "enrolment" && !isMail) {
    const title = "Add a second factor";
    const error = wrong === undefined ? "" : html`<p class="wrong" role="alert">${wrong} Add a new factor.</p>`;
    const main = html`${drawHead(title, "Your account must have a second factor. Add one to log in.")} ${error}${enrolmentForms(site, view)}`;
    return { title, main, narrow: true };
  }
  const passkey = all.find(({ kind }) => kind === "passkey");
  const codes = all.filter(({ kind }) => kind === "totp" || kind === "recovery" || kind === "mail");
  const isByPasskey = passkey !== undefined && codes.every(({ kind }) => kind === "recovery");
  const title = isByPasskey ? "Use your passkey" : "Enter your code";
  const text = isMail
    ? "Your password is correct. We have sent a code to your e-mail address."
    : "Your password is correct. Your account also needs a second factor.";
  const main = html`${drawHead(title, text)}
    <div class="stack">
      ${wrong === undefined ? "" : html`<p class="wrong" id="code-error" role="alert">${wrong}</p>`}
      ${passkey === undefined ? "" : passkeyForm(site, view, passkey)}
      ${codes.length === 0 ? "" : codeForm(view, codes, wrong === undefined ? "" : "code-error")}
      ${codes.length === 0 && passkey === undefined ? html`<p>The factors of this account need a program. <a href="${resolveAddress(view, "/")}">To the start page</a></p>` : ""}
    </div>`;
  return { title, main, narrow: true };
}

/** One form is enough for all passkeys of an account, because the browser shows those that it can use. */
function passkeyForm(site: Site, view: View, { id, ask }: FactorMembers): PageContent {
  const does = "Use a passkey";
  const next = readNext(view);
  const fields = { factor: String(id), next };
  const login = `${resolveAddress(view, site.pages.login)}?${new URLSearchParams({ next }).toString()}`;
  const form = { path: LOGIN_PATH, does, looks: "main", asks: { options: ask }, fields, next, label: does };
  return writePasskeyForm(view, form, login);
}

/** Returns the form for a code. `error` is the id of the HTML element with the error message, or empty. */
export function codeForm(view: View, factors: readonly FactorMembers[], error: string, hasFocus = true): Markup {
  return html`<form class="panel form" method="post" action="${resolveAddress(view, LOGIN_PATH)}" aria-label="Complete the login">
    <input type="hidden" name="next" value="${readNext(view)}" />
    ${drawFactorChoice(factors)}${codeField(factors, error, hasFocus)}
    <div class="row"><button class="btn main">Log in</button></div>
  </form>`;
}

function enrolmentForms(site: Site, view: View): Markup {
  const action = resolveAddress(view, `${LOGIN_PATH}factors/`);
  const next = html`<input type="hidden" name="next" value="${readNext(view)}" />`;
  const passkey = isServed(site, PASSKEY_PATH, "POST")
    ? (passkeysElsewhere(view, "Add a passkey", resolveAddress(view, site.pages.login)) ??
      html`<form class="panel form" data-js hidden data-method="POST" data-path="${action}" data-stay aria-label="Add a passkey">
        ${next} <input type="hidden" name="kind" value="passkey" />
        <p>A passkey is stored on this device, or in your password manager.</p>
        <div class="row"><button class="btn">Add a passkey</button></div>
      </form>`)
    : "";
  return html`<div class="stack">
    <form class="panel form" method="post" action="${action}" aria-label="Add a factor">
      ${next} <input type="hidden" name="kind" value="totp" />
      <p>You need an authenticator app on your phone.</p>
      <div class="row"><button class="btn main">Set up the app</button></div>
    </form>
    ${passkey}
  </div>`;
}
