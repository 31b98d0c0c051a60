import { isUnsafe } from "../../../core/call/cross-site.ts";
import { isObject } from "../../../core/checking/members.ts";
import { linkTo, findOwnPath } from "../../../core/html/link.ts";
import { html, type PageContent } from "../../../core/html/markup.ts";
import type { View } from "../../../http/request/view.ts";
import { findParameter, readTarget } from "../addresses.ts";
import {
  hasLoginMethods,
  MAIL_CODE_PATH,
  RESET_PATH,
  SESSION_PATH,
  USERS_PATH,
  resolveLoginMethods,
} from "../login-methods.ts";
import { isServed } from "../paths.ts";
import { resolveAddress, type Site } from "../site.ts";
import { writePasskeyForm, type PasskeyForm } from "./passkey-form.ts";
import { writePlainForm } from "./plain-form.ts";

/** The state of a login form. */
interface LoginState {
  /** True if the form is the subject of the page, so that its first empty field gets the focus. */
  readonly isSubject?: boolean;
  /** The reason why the last attempt failed, and whether it was an attempt by password. */
  readonly wrong?: { readonly reason: string; readonly byPassword: boolean };
}

/**
 * Returns every login method. All of them work without the script, except passkeys. After the login, the response
 * redirects to the page that the caller wanted.
 */
export async function writeLoginForm(site: Site, view: View, state: LoginState = {}): Promise<PageContent> {
  if (!hasLoginMethods(site.facts())) return "";
  const { password, passkey, others } = resolveLoginMethods(site.facts());
  const { next } = sentTo(site, view);
  const query = new URLSearchParams({ next }).toString();
  // A link instead of a form: the policy of pages (`form-action 'self'`) also forbids forms that are redirected to
  // another site.
  const buttons = others.map(
    ({ title, href }) => html`<a class="btn" href="${resolveAddress(view, href)}?${query}">${title}</a> `,
  );
  const { wrong } = state;
  return html`<div class="stack">
    ${wrong === undefined ? "" : html`<p class="wrong" id="login-error" role="alert">${wrong.reason}</p>`}
    ${password === null ? "" : passwordForm(site, view, state)}
    ${passkey === null ? "" : writePasskeyForm(view, passkeyLogin(passkey, next), `${resolveAddress(view, site.pages.login)}?${query}`)}
    ${buttons.length === 0 ? "" : html`<div class="row"><span class="dim">Or log in with</span> ${buttons}</div>`}
    ${isServed(site, MAIL_CODE_PATH, "POST") ? mailForm(site, view, next) : ""} ${await writeLinks(site, view)}
  </div>`;
}

/** Returns the form that sends a mail with a code. The next page asks for the code. */
function mailForm(site: Site, view: View, next: string): PageContent {
  const page = `${resolveAddress(view, site.pages.login)}?${new URLSearchParams({ code: "1", next }).toString()}`;
  const does = "Send me a code";
  const fields = [{ name: "email", label: "E-mail", type: "email", autocomplete: "email" }] as const;
  return html`<details class="more">
    <summary>Log in with a code by mail</summary>
    ${writePlainForm(view, { path: MAIL_CODE_PATH, does, fields, hidden: { next: page }, label: does, prefix: "mail" })}
  </details>`;
}

function passkeyLogin(start: string, next: string): PasskeyForm {
  const does = "Log in with a passkey";
  return { path: SESSION_PATH, does, asks: { start }, next, label: does };
}

function passwordForm(site: Site, view: View, { isSubject = false, wrong }: LoginState): PageContent {
  const { username = "", next } = sentTo(site, view);
  const marks = wrong?.byPassword === true ? html` aria-invalid="true" aria-describedby="login-error"` : "";
  const focus = html` autofocus`;
  return html`<form class="panel form" method="post" action="${resolveAddress(view, SESSION_PATH)}" aria-label="Log in">
    <input type="hidden" name="next" value="${next}" />
    <p class="field">
      <label for="username">Username or e-mail</label>
      <input
        id="username"
        name="username"
        value="${username}"
        autocomplete="username"
        autocapitalize="none"
        spellcheck="false"
        required${marks}${isSubject && username === "" ? focus : ""}
      />
    </p>
    <p class="field">
      <label for="password">Password</label>
      <input id="password" name="password" type="password" autocomplete="current-password" required${marks}${isSubject && username !== "" ? focus : ""} />
    </p>
    <div class="row"><button class="btn main">Log in</button></div>
  </form>`;
}

/** Returns the links to the pages for people who cannot log in yet, as far as the service has them. */
async function writeLinks(site: Site, view: View): Promise<PageContent> {
  const { forgot, signup } = site.pages;
  const links: readonly PageContent[] = [
    isServed(site, RESET_PATH, "POST") ? html`<a href="${resolveAddress(view, forgot)}">Forgot your password?</a>` : "",
    (await canSignUp(site, view)) ? html`<a href="${resolveAddress(view, signup)}">Sign up</a>` : "",
  ];
  return links.every((each) => each === "") ? "" : html`<p class="row">${links}</p>`;
}

/** Returns true if a caller without an account may create one. */
async function canSignUp(site: Site, view: View): Promise<boolean> {
  if (view.identity !== null || !isServed(site, site.pages.signup)) return false;
  return (await view.offers(USERS_PATH)).some(({ method }) => method === "POST");
}

/**
 * Returns the values of the last attempt, never the password. The next page is the current page. On the login pages, it
 * is the page that the form or the link names.
 */
export function sentTo(site: Site, view: View): { readonly username?: string; readonly next: string } {
  const { sent, call, basePath } = view;
  const root = `${basePath}/`;
  if (isObject(sent) && call.method === "POST") {
    const { username, next } = sent;
    return {
      ...(typeof username === "string" ? { username } : {}),
      next: (typeof next === "string" ? findOwnPath(next) : null) ?? root,
    };
  }
  const here = call.path.replace(/(?<=.)\/$/, "").slice(basePath.length);
  if (here === site.pages.login || here === site.pages.factor)
    return { next: findOwnPath(findParameter(view, "next")) ?? root };
  const isRepeated = !isUnsafe(call.method) && view.place?.hidesQuery !== true;
  if (here === SESSION_PATH.slice(0, -1) || !isRepeated) return { next: root };
  return { next: linkTo(readTarget(view)) };
}
