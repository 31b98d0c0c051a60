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
import { drawOtherWays, drawRefusal, wideLink, writePasswordInput } from "./card-parts.ts";
import { writePasskeyForm, type PasskeyForm } from "./passkey-form.ts";

/** The state of a login form. */
export interface LoginState {
  /** True if the form is the subject of the page, so that its first empty field gets the focus. */
  readonly isSubject?: boolean;
  /** The reason why the last attempt failed, and whether it was an attempt by password. */
  readonly wrong?: { readonly reason: string; readonly byPassword: boolean };
}

/**
 * Returns every login method. All of them work without the script, except passkeys. After the login, the response
 * redirects to the page that the caller wanted.
 */
export function writeLoginForm(site: Site, view: View, state: LoginState = {}): PageContent {
  if (!hasLoginMethods(site.facts())) return "";
  const { password, passkey } = resolveLoginMethods(site.facts());
  const { next } = sentTo(site, view);
  const login = `${resolveAddress(view, site.pages.login)}?${new URLSearchParams({ next }).toString()}`;
  const others = [
    passkey === null ? "" : writePasskeyForm(view, passkeyLogin(passkey, next, password === null), login),
    ...companyLinks(site, view, next),
    isServed(site, MAIL_CODE_PATH, "POST")
      ? wideLink(
          `${resolveAddress(view, site.pages.login)}?${new URLSearchParams({ code: "1", next }).toString()}`,
          "Get a code by mail",
        )
      : "",
  ];
  return html`${drawRefusal("login-error", state.wrong?.reason)}
${password === null ? html`<div class="buttons">${others}</div>` : html`${passwordForm(site, view, state)}${drawOtherWays(others)}`}`;
}

/**
 * Returns the other sites at which users log in. Links instead of forms: the policy of pages (`form-action 'self'`)
 * also forbids forms that are redirected to another site.
 */
export function companyLinks(site: Site, view: View, next: string): readonly PageContent[] {
  const query = new URLSearchParams({ next }).toString();
  return site.facts().loginLinks.map(({ title, href }) => {
    const name = companyName(title);
    const [letter = ""] = name;
    return wideLink(
      `${resolveAddress(view, href)}?${query}`,
      html`<span class="mark plain" aria-hidden="true">${letter.toUpperCase()}</span>Continue with ${name} `,
    );
  });
}

/** Returns the name of a company, without words like "Log in with" before it. */
export function companyName(title: string): string {
  return title.replace(/^(?:log ?in|sign ?in|continue) (?:at|by|with) /i, "");
}

function passkeyLogin(start: string, next: string, isMain: boolean): PasskeyForm {
  const does = "Use a passkey";
  return { path: SESSION_PATH, does, asks: { start }, next, label: does, isMain };
}

function passwordForm(site: Site, view: View, { isSubject = false, wrong }: LoginState): PageContent {
  const { username = "", next } = sentTo(site, view);
  const marks = wrong?.byPassword === true ? html` aria-describedby="login-error"` : "";
  const focus = html` autofocus`;
  const forgot = isServed(site, RESET_PATH, "POST")
    ? html`<p class="small"><a href="${resolveAddress(view, site.pages.forgot)}">Forgot your password?</a></p>`
    : "";
  return html`<form class="form" method="post" action="${resolveAddress(view, SESSION_PATH)}" aria-label="Log in">
  <input type="hidden" name="next" value="${next}">
  <div class="field">
    <label for="username">E-mail or username</label>
    <input id="username" name="username" value="${username}" autocomplete="username" autocapitalize="none" spellcheck="false" required dir="auto"${marks}${isSubject && username === "" ? focus : ""}>
  </div>
  <div class="field">
    <label for="password">Password</label>
    ${writePasswordInput("password", html` name="password" autocomplete="current-password" required${marks}${isSubject && username !== "" ? focus : ""}`)}
    ${forgot}
  </div>
  <button class="btn main wide">Log in</button>
</form>`;
}

/** Returns the question below a login for callers who may create an account. */
export async function newHere(site: Site, view: View): Promise<PageContent> {
  if (!(await canSignUp(site, view))) return undefined;
  return html`<p>New here? <a href="${resolveAddress(view, site.pages.signup)}">Sign up</a></p>`;
}

/** Returns true if a caller without an account may create one. */
export async function canSignUp(site: Site, view: View): Promise<boolean> {
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
  // The form comes back after the login.
  if (view.sentForm !== null && view.place !== null) return { next: linkTo(formAddress(view)) };
  const isRepeated = !isUnsafe(call.method) && view.place?.hidesQuery !== true;
  if (here === SESSION_PATH.slice(0, -1) || !isRepeated) return { next: root };
  return { next: linkTo(readTarget(view)) };
}

/** Returns the address of the page with the form that was sent. */
function formAddress({ call, place }: View): string {
  const at = call.path.replace(/(?<=.)\/$/, "");
  if (place?.action === "create") return `${at}?form=new`;
  if (place?.action === "update" || place?.action === "replace") return `${at}?form=edit`;
  return at;
}
