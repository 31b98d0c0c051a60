import { isObject } from "../../../core/checking/members.ts";
import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { ProblemDocument } from "../../../http/request/format.ts";
import type { View } from "../../../http/request/view.ts";
import { findParameter } from "../addresses.ts";
import { drawCardHead, drawOtherWays, drawRefusal, passkeySign, wideLink } from "../forms/card-parts.ts";
import { passkeysElsewhere, writePasskeyForm } from "../forms/passkey-form.ts";
import { LOGIN_PATH, PASSKEY_PATH } from "../login-methods.ts";
import { isServed } from "../paths.ts";
import { findRecord } from "../replies.ts";
import { resolveAddress, type Drawing, type Drawn, type Site } from "../site.ts";
import { drawConfirming, isConfirmation } from "./confirm-page.ts";
import { describeWait, WRONG_PASSKEY } from "./login-page.ts";
import { drawFactorChoice, codeField, isWaiting, readNext, type WaitingLoginReply } from "./waiting-parts.ts";

// The second step of a login: one way at a time. Only passkeys need JavaScript.

type FactorMembers = Readonly<Record<string, unknown>>;

/** Draws the page for the second factor of the login that the cookie of this browser names. */
export async function drawWaitingLogin({ site, view }: Drawing): Promise<Drawn> {
  const waiting = findRecord(await view.ask(LOGIN_PATH));
  const isWrong = findParameter(view, "wrong") === "code";
  if (isWaiting(waiting)) return drawWaiting(site, view, waiting, isWrong ? "Wrong code." : undefined);
  return drawLoginExpired(site, view);
}

/** Draws the page for a login that no longer waits. */
export function drawLoginExpired(site: Site, view: View): Drawn {
  const title = "Log in again";
  const login = `${resolveAddress(view, site.pages.login)}?${new URLSearchParams({ next: readNext(view) }).toString()}`;
  const main = html`${drawCardHead(title, "This login has expired, or it is complete. A login waits five minutes for its second step.")}
<div class="buttons">${wideLink(login, "Log in", "main")}</div>`;
  return { title, main, card: {} };
}

/**
 * Draws the page for `factor_required`, and for a second step that was refused. Returns null for every other problem.
 */
export async function drawFactorProblem(site: Site, view: View, document: ProblemDocument): Promise<Drawn | null> {
  const { login, code, status } = document;
  if (code === "factor_required" && isWaiting(login)) return drawWaiting(site, view, login);
  if (view.place?.path !== LOGIN_PATH) return null;
  if (code === "login_expired") return drawLoginExpired(site, view);
  if (code !== "invalid_credentials" && status !== 429) return null;
  const waiting = findRecord(await view.ask(LOGIN_PATH));
  if (!isWaiting(waiting)) return null;
  const wrong = status === 429 ? describeWait(view) : wrongAnswer(view.sent);
  return isConfirmation(view, waiting) ? drawConfirming(view, waiting, wrong) : drawWaiting(site, view, waiting, wrong);
}

function wrongAnswer(sent: unknown): string {
  if (!isObject(sent)) return "Wrong code.";
  if (sent["credential"] !== undefined) return WRONG_PASSKEY;
  return sent["password"] === undefined ? "Wrong code." : "Wrong password.";
}

/** Draws a login that waits for another proof, with one way at a time. */
export function drawWaiting(site: Site, view: View, { needs, factors }: WaitingLoginReply, wrong?: string): Drawn {
  const all = factors.filter(isObject);
  const ofKind = (kind: string): readonly FactorMembers[] => all.filter((factor) => factor["kind"] === kind);
  const [mail, apps, [passkey], [recovery]] = [ofKind("mail"), ofKind("totp"), ofKind("passkey"), ofKind("recovery")];
  if (needs === "enrolment" && mail.length === 0) return drawEnrolment(site, view, wrong);
  const step = { site, view, passkey, recovery, hasApp: apps.length > 0, wrong };
  if (mail.length > 0)
    return drawCodeStep(step, {
      title: "Look into your mailbox",
      lead: "We sent a mail to your address. Type its code here.",
      kind: "mail",
      factors: mail,
    });
  const asksRecovery = readWay(view) === "recovery" || (apps.length === 0 && passkey === undefined);
  if (recovery !== undefined && asksRecovery)
    return drawCodeStep(step, {
      title: "Use a recovery code",
      lead: "You got ten of them when you turned on two-step login. Each works once.",
      kind: "recovery",
      factors: [recovery],
    });
  if (apps.length > 0)
    return drawCodeStep(step, {
      title: "Enter your code",
      lead: `Open the authenticator app on your phone. It shows six digits for ${site.title}.`,
      kind: "totp",
      factors: apps,
    });
  return drawPasskeyStep(step);
}

/** Returns the way that the user chose by a link, or by the form before. */
function readWay(view: View): string | undefined {
  const sent = isObject(view.sent) ? view.sent["factor"] : undefined;
  return sent === "recovery" ? sent : findParameter(view, "way");
}

/** The ways of a waiting login. */
interface Step {
  readonly site: Site;
  readonly view: View;
  readonly passkey: FactorMembers | undefined;
  readonly recovery: FactorMembers | undefined;
  readonly hasApp: boolean;
  readonly wrong: string | undefined;
}

interface CodeStep {
  readonly title: string;
  readonly lead: string;
  readonly kind: "mail" | "recovery" | "totp";
  readonly factors: readonly FactorMembers[];
}

function drawCodeStep(step: Step, { title, lead, kind, factors }: CodeStep): Drawn {
  const { site, view, passkey, recovery, hasApp, wrong } = step;
  const isCode = wrong === "Wrong code.";
  const others =
    kind === "totp"
      ? [
          passkey === undefined ? "" : passkeyForm(site, view, passkey, false),
          recovery === undefined ? "" : wideLink(wayAddress(step, "recovery"), "Use a recovery code"),
        ]
      : [];
  const back = hasApp ? "Use the code from your app" : passkey === undefined ? null : "Use a passkey";
  const foot =
    kind === "recovery"
      ? html`${back === null ? "" : html`<p><a href="${wayAddress(step, null)}">${back}</a></p>`}<p>No codes left? Ask the person who runs ${site.title}.</p>`
      : asAnother(site, view);
  const main = html`${drawCardHead(title, lead)}
${drawRefusal("way-error", isCode ? undefined : wrong)}${codeForm(view, { kind, factors, error: isCode ? wrong : undefined })}${drawOtherWays(others)}`;
  return { title, main, card: { foot, scripts: passkey === undefined ? ["script"] : ["script", "passkeys"] } };
}

function drawPasskeyStep(step: Step): Drawn {
  const { site, view, passkey, recovery, wrong } = step;
  const title = "Use your passkey";
  if (passkey === undefined) {
    const main = html`${drawCardHead(title, "No page can ask for the second step of this account. Use a program.")}`;
    return { title, main, card: { foot: asAnother(site, view) } };
  }
  const others = [recovery === undefined ? "" : wideLink(wayAddress(step, "recovery"), "Use a recovery code")];
  const main = html`${drawCardHead(title, "Your browser asks for your finger, your face or a security key.")}
${drawRefusal("way-error", wrong)}<div class="buttons">${passkeyForm(site, view, passkey, true)}</div>
<noscript><p class="small dim">A passkey needs JavaScript.</p></noscript>${drawOtherWays(others)}`;
  return { title, main, card: { foot: asAnother(site, view), scripts: ["script", "passkeys"] } };
}

function asAnother(site: Site, view: View): Markup {
  return html`<p><a href="${resolveAddress(view, site.pages.login)}">Log in as someone else</a></p>`;
}

/** Returns the address of this step with another way. */
function wayAddress({ site, view }: Step, way: "recovery" | null): string {
  const query = new URLSearchParams({ next: readNext(view), ...(way === null ? {} : { way }) });
  return `${resolveAddress(view, site.pages.factor)}?${query.toString()}`;
}

/** One form is enough for all passkeys of an account, because the browser shows those that it can use. */
function passkeyForm(site: Site, view: View, { id, ask }: FactorMembers, isMain: boolean): PageContent {
  const does = "Use a passkey";
  const next = readNext(view);
  const fields = { factor: String(id), next };
  const login = `${resolveAddress(view, site.pages.login)}?${new URLSearchParams({ next }).toString()}`;
  const form = { path: LOGIN_PATH, does, isMain, asks: { options: ask }, fields, next, label: does };
  return writePasskeyForm(view, form, login);
}

/** The form for a code. */
interface CodeForm {
  readonly kind: "mail" | "recovery" | "totp";
  readonly factors: readonly FactorMembers[];
  readonly error?: string | undefined;
  readonly hasFocus?: boolean;
  readonly does?: string;
}

/** Returns the form for a code. */
export function codeForm(view: View, { kind, factors, error, hasFocus = true, does = "Continue" }: CodeForm): Markup {
  return html`<form class="form" method="post" action="${resolveAddress(view, LOGIN_PATH)}" aria-label="Complete the login">
  <input type="hidden" name="next" value="${readNext(view)}">
  ${drawFactorChoice(factors)}${codeField(kind, error, hasFocus)}
  <button class="btn main wide">${does}</button>
</form>`;
}

/** Draws the page for an account that must have a second step and has none. */
function drawEnrolment(site: Site, view: View, wrong: string | undefined): Drawn {
  const title = "Set up two-step login";
  const action = resolveAddress(view, `${LOGIN_PATH}factors/`);
  const next = html`<input type="hidden" name="next" value="${readNext(view)}">`;
  const does = "Add a passkey";
  const passkey = isServed(site, PASSKEY_PATH, "POST")
    ? (passkeysElsewhere(view, does, resolveAddress(view, site.pages.login)) ??
      html`<form data-js hidden method="post" action="${action}" aria-label="${does}">${next}<input type="hidden" name="kind" value="passkey"><button class="btn wide">${passkeySign}${does}</button></form>`)
    : "";
  const main = html`${drawCardHead(title, "Your account needs it. Take your phone with an authenticator app.")}
${drawRefusal("way-error", wrong === undefined ? undefined : `${wrong} Start again.`)}<form class="form" method="post" action="${action}" aria-label="Set up the app">
  ${next}<input type="hidden" name="kind" value="totp">
  <button class="btn main wide">Set up the app</button>
</form>${drawOtherWays([passkey])}`;
  return { title, main, card: { foot: asAnother(site, view) } };
}
