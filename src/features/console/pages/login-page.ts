import { isUnsafe } from "../../../core/call/cross-site.ts";
import { isObject } from "../../../core/checking/members.ts";
import { findOwnPath } from "../../../core/html/link.ts";
import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import { belowBasePath } from "../../../http/base-path.ts";
import type { ProblemDocument } from "../../../http/request/format.ts";
import type { View } from "../../../http/request/view.ts";
import { findParameter } from "../addresses.ts";
import { drawCardHead, drawRefusal, wideLink } from "../forms/card-parts.ts";
import { newHere, writeLoginForm, sentTo, type LoginState } from "../forms/login-form.ts";
import { writePlainForm, type PlainField } from "../forms/plain-form.ts";
import { MAIL_CODE_PATH, SESSION_PATH } from "../login-methods.ts";
import { isServed } from "../paths.ts";
import { findRecord } from "../replies.ts";
import { nameMany, resolveAddress, type Drawing, type Drawn, type Site } from "../site.ts";
import { drawMailbox } from "./mailbox-page.ts";

/** Draws the page to log in: every enabled login method, with the focus in the first field. */
export async function drawLoginPage({ site, view }: Drawing): Promise<Drawn> {
  const token = findParameter(view, "token");
  if (isServed(site, MAIL_CODE_PATH, "POST")) {
    if (token !== undefined) return drawMailLogin(site, view, { token });
    if (findParameter(view, "code") !== undefined)
      return findParameter(view, "email") === undefined
        ? drawMailRequest(site, view, sentTo(site, view).next)
        : drawMailLogin(site, view, {});
  }
  return drawLogin(site, view, { isSubject: true }, notes.get(findParameter(view, "done") ?? ""));
}

/** Draws the card to log in. */
export async function drawLogin(site: Site, view: View, state: LoginState, note?: string): Promise<Drawn> {
  const said = note === undefined ? "" : html`<div class="note good" role="status"><p>${note}</p></div>`;
  const main = html`${drawCardHead("Log in", describeTarget(site, view))}
${said}${writeLoginForm(site, view, state)}`;
  return { title: "Log in", main, card: { foot: await newHere(site, view), scripts: ["script", "passkeys"] } };
}

/** Returns what the caller goes on to. Names the list of the page, which is public like the description of the API. */
function describeTarget(site: Site, view: View): PageContent {
  if (isUnsafe(view.call.method) && !isLoginCall(view)) return "Log in to do this. Nothing was saved.";
  const { next } = sentTo(site, view);
  const path = (belowBasePath(next, view.basePath) ?? next).replace(/\?.*$/s, "");
  const listed = site
    .facts()
    .mounts.find(({ resource }) => resource.path === path || path.startsWith(`${resource.path}/`))?.resource;
  return listed === undefined ? "" : html`To go on to <b>${nameMany(listed)}</b>.`;
}

function isLoginCall({ place }: View): boolean {
  return place?.path === SESSION_PATH;
}

/**
 * The completed steps that lead to the login page, and the text that the page shows for each. Anyone can make a link
 * with one of these names, so the link only selects a text.
 */
const notes: ReadonlyMap<string, string> = new Map([
  ["address", "Your address is confirmed. Log in."],
  ["password", "Your password is changed. Log in."],
]);

/** Returns the address of the login page after a completed step. */
export function loginAfter(site: Site, view: View, done: "address" | "password"): string {
  return `${resolveAddress(view, site.pages.login)}?${new URLSearchParams({ done }).toString()}`;
}

/** Draws the page to log in after a wrong password, or a passkey that was not accepted. */
export async function drawLoginAgain(site: Site, view: View, { status }: ProblemDocument): Promise<Drawn> {
  const sent = isObject(view.sent) ? view.sent : {};
  const late = status === 429 ? describeWait(view) : undefined;
  if (typeof sent["token"] === "string" || typeof sent["code"] === "string")
    return drawMailLogin(site, view, { wrong: late ?? "This link or code is wrong, used or expired." });
  const byPassword = sent["credential"] === undefined;
  const reason = late ?? (byPassword ? "Wrong name or password." : WRONG_PASSKEY);
  return drawLogin(site, view, { isSubject: true, wrong: { reason, byPassword } });
}

/** Returns how long to wait after too many tries. */
export function describeWait({ headers }: Pick<View, "headers">): string {
  const seconds = Number(headers.find(([name]) => name === "Retry-After")?.[1]);
  if (!Number.isFinite(seconds)) return "Too many tries. Wait a moment.";
  const [count, unit] = seconds < 90 ? [seconds, "second"] : [Math.ceil(seconds / 60), "minute"];
  return `Too many tries. Wait ${count} ${unit}${count === 1 ? "" : "s"}.`;
}

/** Draws the form that sends a mail with a code. The next page asks for the code. */
function drawMailRequest(site: Site, view: View, next: string, refused?: ProblemDocument): Drawn {
  const title = "Get a code by mail";
  const values = isObject(view.sent) ? view.sent : {};
  const mistakes = refused?.errors ?? [];
  const reason = refused?.status === 429 ? describeWait(view) : undefined;
  const form = {
    path: MAIL_CODE_PATH,
    does: "Send the mail",
    fields: [EMAIL_FIELD],
    hidden: { next: codePage(site, view, next) },
    values,
  };
  const main = html`${drawCardHead(title, "We send you a mail with which you log in.")}
${drawRefusal("mail-error", reason)}${writePlainForm(view, { ...form, mistakes, label: title, prefix: "mail", isSubject: true, isWide: true })}`;
  return { title, main, card: { foot: backToLogin(site, view, next) } };
}

/** Draws the form that sends a mail with a code again, with the reason why it was refused. */
export function drawMailRequestAgain(site: Site, view: View, refused: ProblemDocument): Drawn {
  const sent = isObject(view.sent) ? view.sent["next"] : undefined;
  const page = URL.parse(typeof sent === "string" ? sent : "", "http://here.invalid");
  const next = findOwnPath(page?.searchParams.get("next"));
  return drawMailRequest(site, view, next ?? resolveAddress(view, "/"), refused);
}

/** Returns the link to the other ways to log in. */
export function backToLogin(site: Site, view: View, next?: string): Markup {
  const query = next === undefined ? "" : `?${new URLSearchParams({ next }).toString()}`;
  return html`<p><a href="${resolveAddress(view, site.pages.login)}${query}">Back to log in</a></p>`;
}

interface MailLogin {
  readonly token?: string;
  readonly wrong?: string;
}

/**
 * Draws the login by the link or the code of a mail. Opening the link does not log in: the user then presses the button
 * of the page. The page names the account, because another person may have sent the link. If a user is logged in, it
 * asks whether to change to that account.
 */
async function drawMailLogin(site: Site, view: View, { token, wrong }: MailLogin): Promise<Drawn> {
  const { next } = sentTo(site, view);
  const foot = backToLogin(site, view, next);
  if (token === undefined) return drawMailCode(site, view, next, wrong);
  const address = await findMaskedAddress(view, token);
  if (address === null) return drawExpired(site, view, next);
  const user = view.identity;
  const title = "Log in by mail";
  const does = user === null ? "Log in" : `Log in as ${address} instead`;
  const form = { path: SESSION_PATH, does, fields: [], hidden: { next, token }, label: title, prefix: "mail" };
  const stay = user === null ? "" : wideLink(resolveAddress(view, "/"), `Stay logged in as ${user.username}`);
  const main = html`${drawCardHead(title, describeMailLogin(address, user?.username ?? null))}
${drawRefusal("mail-error", wrong)}${writePlainForm(view, { ...form, isWide: true })}${stay}`;
  return { title, main, card: { foot } };
}

/** Draws the form for the code of a mail. The address was typed on the page before. */
function drawMailCode(site: Site, view: View, next: string, wrong: string | undefined): Drawn {
  const sent = isObject(view.sent) ? view.sent : {};
  const address = String(sent["email"] ?? findParameter(view, "email") ?? "");
  const page = codePage(site, view, next);
  return drawMailbox(view, {
    address,
    form: { path: SESSION_PATH, hidden: { next }, does: "Log in" },
    wrong,
    again: { path: MAIL_CODE_PATH, hidden: { next: page, email: address } },
    change: page,
  });
}

/** Returns the address of the page that asks for an address, or for the code of the mail if it has the address. */
function codePage(site: Site, view: View, next: string): string {
  return `${resolveAddress(view, site.pages.login)}?${new URLSearchParams({ code: "1", next }).toString()}`;
}

function drawExpired(site: Site, view: View, next: string): Drawn {
  const title = "This link no longer works";
  const hidden = { next: codePage(site, view, next) };
  const form = { path: MAIL_CODE_PATH, does: "Send a new mail", fields: [EMAIL_FIELD], hidden };
  const main = html`${drawCardHead(title, "It was used already, or it is older than 30 minutes. Nothing was changed.")}
${writePlainForm(view, { ...form, label: "Send a new mail", prefix: "mail", isSubject: true, isWide: true })}`;
  return { title, main, card: { foot: backToLogin(site, view, next) } };
}

/** Returns the question of the page of a link. */
function describeMailLogin(address: string, username: string | null): string {
  if (username === null) return `Press the button to log in as ${address}.`;
  return `You are logged in as ${username}. This link is for the account of ${address}. Do you want to change to that account?`;
}

/** Returns the masked address of a link. Returns null if the link is wrong, used or expired. */
async function findMaskedAddress(view: View, token: string): Promise<string | null> {
  const link = findRecord(await view.ask(`${MAIL_CODE_PATH}?${new URLSearchParams({ token }).toString()}`));
  return typeof link?.["email"] === "string" ? link["email"] : null;
}

const EMAIL_FIELD: PlainField = { name: "email", label: "E-mail", type: "email", autocomplete: "email" };

/**
 * The message for a refused passkey. It is the same for every reason, so that it does not reveal which passkeys exist.
 */
export const WRONG_PASSKEY = "This passkey was not accepted. Choose another way.";
