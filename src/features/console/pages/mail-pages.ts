import { isObject } from "../../../core/checking/members.ts";
import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { LinkUser } from "../../../feature/feature.ts";
import { formType } from "../../../http/formats/form.ts";
import type { ProblemDocument } from "../../../http/request/format.ts";
import type { View } from "../../../http/request/view.ts";
import { findParameter } from "../addresses.ts";
import { drawCardHead, drawOtherWays, wideLink } from "../forms/card-parts.ts";
import { writeForm } from "../forms/form.ts";
import { canSignUp, companyLinks } from "../forms/login-form.ts";
import type { PlainField, PlainForm } from "../forms/plain-form.ts";
import { ACCOUNT_PATH } from "../frame.ts";
import {
  EMAIL_CONFIRM_PATH,
  findUsers,
  INVITATION_PATH,
  MAIL_CODE_PATH,
  RESET_CONFIRM_PATH,
  RESET_PATH,
  USERS_PATH,
} from "../login-methods.ts";
import { resolveAddress, type Drawing, type Drawn, type Site } from "../site.ts";
import { drawEmailAgain } from "./email-form.ts";
import { drawInvitationAgain } from "./invitation-page.ts";
import { backToLogin, drawMailRequestAgain, loginAfter } from "./login-page.ts";
import {
  describeRefusal,
  drawPage,
  email,
  findLinkUser,
  findToken,
  isFirstAsk,
  needsCode,
  newPassword,
  readMailed,
  type MailPage,
  type Refused,
} from "./mail-parts.ts";
import { drawMailbox } from "./mailbox-page.ts";

// Sign-up, forgotten passwords and links of mails. Opening a page does not use up the link of a mail, because only the
// button of the page sends the token.

const username: PlainField = {
  name: "username",
  label: "Username",
  autocomplete: "username",
  hint: "Your e-mail address, or another name of your choice.",
  optional: true,
  foldedAs: "Choose a username",
};

/** Draws the page for newcomers. */
export async function drawSignup({ site, view }: Drawing): Promise<Drawn> {
  const offer = (await view.offers(USERS_PATH)).find(({ method }) => method === "POST");
  if (view.identity !== null) return drawLoggedIn(view, view.identity.id);
  if (offer === undefined) {
    const title = "Sign-up is closed";
    const login = wideLink(resolveAddress(view, site.pages.login), "Log in", "main");
    const main = html`${drawCardHead(title, `The person who runs ${site.title} creates the accounts.`)}
<div class="buttons">${login}</div>`;
    return { title, main, card: {} };
  }
  const users = findUsers(site.facts());
  if (users !== undefined && users.deferral !== null) return drawVerifiedSignup(site, view);
  const title = "Sign up";
  const next = resolveAddress(view, site.pages.login);
  const form = { view, offer, only: ["name", "email", "password"], does: "Sign up", next, prefix: "signup" };
  const main = html`${drawCardHead(title, "Then log in with your e-mail address and your password.")}
${writeForm({ ...form, isCard: true })}${companies(site, view)}`;
  return { title, main, card: { foot: toLogin(site, view), scripts: ["script", "forms"] } };
}

function drawLoggedIn(view: View, id: number): Drawn {
  const title = "You are logged in";
  const account = resolveAddress(view, ACCOUNT_PATH.replace("{id}", String(id)));
  const main = html`${drawCardHead(title, "To sign up as another user, log out first.")}
<div class="buttons">${wideLink(account, "Your account", "main")}</div>`;
  return { title, main, card: {} };
}

function drawVerifiedSignup(site: Site, view: View, refused?: Refused): Drawn {
  const name: PlainField = { name: "name", label: "Your name", autocomplete: "name" };
  return drawPage(view, {
    title: "Sign up",
    lead: "We send you a mail to check your address. You choose a password after that.",
    form: { path: USERS_PATH, does: "Sign up", fields: [name, email], hidden: {}, prefix: "signup" },
    refused,
    below: companies(site, view),
    foot: toLogin(site, view),
  });
}

function companies(site: Site, view: View): PageContent {
  return drawOtherWays(companyLinks(site, view, resolveAddress(view, "/")));
}

/** Draws the page that sends a mail to a user who forgot the password. */
export function drawForgot({ site, view }: Drawing): Drawn {
  return drawForgotAgain(site, view);
}

function drawForgotAgain(site: Site, view: View, refused?: Refused): Drawn {
  return drawPage(view, {
    title: "Forgot your password?",
    lead: "We send you a mail with which you choose a new one.",
    form: forgotForm(site, view, "Send the mail"),
    refused,
    foot: backToLogin(site, view),
  });
}

function forgotForm(site: Site, view: View, does: string): MailPage["form"] {
  const hidden = { next: resolveAddress(view, site.pages.reset) };
  return { path: RESET_PATH, does, fields: [email], hidden, prefix: "forgot" };
}

/**
 * Draws the page that sets a new password: with the token of a link, or with a code. A code is checked first, so the
 * page asks for the password only after a right one.
 */
export function drawReset({ site, view }: Drawing): Promise<Drawn> {
  return drawResetAgain(site, view);
}

async function drawResetAgain(site: Site, view: View, refused?: Refused): Promise<Drawn> {
  const token = findToken(view);
  const user = token === undefined ? null : await findLinkUser(site, view, "reset", token);
  if (token !== undefined && user === null) return drawExpiredReset(site, view);
  const { email: address = "", code } = readMailed(view);
  if (token === undefined && needsCode(view, refused)) return drawResetMailbox(site, view, address, refused);
  const hidden = {
    next: loginAfter(site, view, "password"),
    ...(token === undefined ? { email: address, code: code ?? "" } : { token }),
  };
  const named = user?.username ?? address;
  const keep = html`<label class="pick"><input type="checkbox" name="end_keys" value="false"> <span>Keep my keys for programs</span></label>`;
  return drawPage(view, {
    title: "Choose a new password",
    lead: html`For <b><bdi>${named}</bdi></b>. You are logged out everywhere else.`,
    form: {
      path: RESET_CONFIRM_PATH,
      does: "Save password",
      fields: [newPassword],
      hidden,
      username: named,
      prefix: "reset",
      more: keep,
    },
    refused: isFirstAsk(view, refused) ? undefined : refused,
  });
}

/** Draws the page for the code of a reset. */
function drawResetMailbox(site: Site, view: View, address: string, refused?: Refused): Drawn {
  const { forgot, reset } = site.pages;
  return drawMailbox(view, {
    address,
    form: { path: RESET_CONFIRM_PATH, hidden: { next: loginAfter(site, view, "password") }, does: "Continue" },
    wrong: describeRefusal(view, refused),
    again: { path: RESET_PATH, hidden: { next: resolveAddress(view, reset), email: address } },
    change: resolveAddress(view, forgot),
  });
}

function drawExpiredReset(site: Site, view: View): Drawn {
  return drawPage(view, {
    title: EXPIRED,
    lead: "It was used already, or it is older than 30 minutes. Nothing was changed.",
    form: forgotForm(site, view, "Send a new mail"),
    foot: backToLogin(site, view),
  });
}

const EXPIRED = "This link no longer works";

/**
 * Draws the page that confirms an address. A newcomer chooses a password. A user who changes an address logs in first,
 * and keeps the password. The link of a changed address has the parameter `change`.
 */
export async function drawVerify({ site, view }: Drawing): Promise<Drawn> {
  const isChange = findParameter(view, "change") !== undefined;
  return isChange && view.identity === null ? drawLoginFirst(site, view) : drawVerifyAgain(site, view, !isChange);
}

async function drawVerifyAgain(site: Site, view: View, choosesPassword: boolean, refused?: Refused): Promise<Drawn> {
  const token = findToken(view);
  const user = choosesPassword && token !== undefined ? await findLinkUser(site, view, "verify", token) : null;
  if (token !== undefined && refused?.code === "invalid_link") return drawExpiredVerify(site, view);
  const { email: address = "", code } = readMailed(view);
  if (token === undefined && needsCode(view, refused))
    return drawVerifyMailbox(site, view, { address, choosesPassword, refused });
  const proof = token === undefined ? { email: address, code: code ?? "" } : { token };
  const next = choosesPassword ? loginAfter(site, view, "address") : resolveAddress(view, "/");
  const named = user?.username ?? address;
  const names = choosesPassword ? choosePassword(user, address) : { fields: [] };
  const isNew = user === null || user.isNew;
  return drawPage(view, {
    title: choosesPassword ? greet(user) : "Confirm your e-mail address",
    lead: choosesPassword
      ? html`Choose a password${named === "" ? "" : html` for <b><bdi>${named}</bdi></b>`}. Then your account is ready.`
      : "Then you log in with it, and we send mail to it.",
    form: {
      path: EMAIL_CONFIRM_PATH,
      does: choosesPassword ? (isNew ? "Create account" : "Save password") : "Confirm the address",
      hidden: { next, ...proof },
      prefix: "verify",
      ...names,
    },
    refused: isFirstAsk(view, refused) ? undefined : refused,
    ...(choosesPassword && token !== undefined && user === null
      ? { foot: html`<p>A new address for your account? <a href="${loginToChange(site, view)}">Log in first</a></p>` }
      : {}),
  });
}

function greet(user: LinkUser | null): PageContent {
  return user?.name === undefined ? "Welcome" : html`Welcome, <bdi>${user.name}</bdi>`;
}

/** Draws the page for the code of a sign-up, an invitation or a changed address. */
function drawVerifyMailbox(
  site: Site,
  view: View,
  { address, choosesPassword, refused }: { address: string; choosesPassword: boolean; refused: Refused | undefined },
): Drawn {
  const next = choosesPassword ? loginAfter(site, view, "address") : resolveAddress(view, "/");
  return drawMailbox(view, {
    address,
    form: { path: EMAIL_CONFIRM_PATH, hidden: { next }, does: choosesPassword ? "Continue" : "Confirm the address" },
    wrong: describeRefusal(view, refused),
    again: null,
    change: choosesPassword ? resolveAddress(view, site.pages.signup) : null,
  });
}

async function drawExpiredVerify(site: Site, view: View): Promise<Drawn> {
  const signUp = (await canSignUp(site, view))
    ? wideLink(resolveAddress(view, site.pages.signup), "Sign up again")
    : "";
  const main = html`${drawCardHead(EXPIRED, "It was used already, or it is too old. Nothing was changed.")}
<div class="buttons">${wideLink(resolveAddress(view, site.pages.login), "Log in", "main")}${signUp}</div>
<p class="small dim">Were you invited? Ask for another invitation.</p>`;
  return { title: EXPIRED, main, card: {} };
}

/**
 * Returns the fields of a form that chooses a password, with the username for a password manager. Only a new user
 * chooses a username: the page shows the default. An invited user has one. The user of a link that is not valid is
 * unknown.
 */
function choosePassword(user: LinkUser | null, address: string): Pick<PlainForm, "fields" | "username" | "values"> {
  const password = { ...newPassword, label: "Password" };
  if (user === null && address === "") return { fields: [password] };
  if (user !== null && !user.isNew) return { fields: [password], username: user.username };
  return { fields: [password, username], values: { username: user?.username ?? address } };
}

/** The path that changes the address of a user. */
const EMAIL_PATH = "/users/{id}/email";

/**
 * Draws the form of one of these pages again, with the reason why it was refused. Returns null for every other request.
 */
export async function drawMailProblem(site: Site, view: View, document: ProblemDocument): Promise<Drawn | null> {
  const isForm = view.call.header("content-type")?.startsWith(formType) === true;
  if (!isForm || view.call.method !== "POST" || ![400, 401, 403, 409, 429].includes(document.status)) return null;
  if (view.place?.path === INVITATION_PATH) return drawInvitationAgain(site, view, document);
  if (document.status === 403) return null;
  switch (view.place?.path) {
    case USERS_PATH:
      return drawVerifiedSignup(site, view, document);
    case RESET_PATH:
      return drawForgotAgain(site, view, document);
    case MAIL_CODE_PATH:
      return drawMailRequestAgain(site, view, document);
    case RESET_CONFIRM_PATH:
      return drawResetAgain(site, view, document);
    case EMAIL_CONFIRM_PATH:
      return document.status === 401
        ? drawLoginFirst(site, view)
        : drawVerifyAgain(site, view, needsPassword(view, document), document);
    case EMAIL_PATH:
      return document.status === 400 ? drawEmailAgain(site, view, document) : null;
    default:
      return null;
  }
}

/**
 * Returns true if the form asks for a password. Only a newcomer chooses one, and only the response of the service shows
 * whether the link belongs to a newcomer.
 */
function needsPassword({ sent }: View, { errors = [] }: ProblemDocument): boolean {
  const mistake = errors.find(({ pointer }) => pointer === "/password");
  if (mistake !== undefined) return mistake.code !== "read_only";
  const next = isObject(sent) ? sent["next"] : undefined;
  return typeof next === "string" && next.includes("done=address");
}

function drawLoginFirst(site: Site, view: View): Drawn {
  const title = "Log in to confirm the address";
  const main = html`${drawCardHead(title, "The new address belongs to an account. Log in to it, then confirm.")}
<div class="buttons">${wideLink(loginToChange(site, view), "Log in", "main")}</div>`;
  return { title, main, card: {} };
}

/** Returns the address of the login page that leads back to the confirmation of a changed address. */
function loginToChange(site: Site, view: View): string {
  const token = findToken(view);
  const address = token === undefined ? readMailed(view).email : undefined;
  const query = new URLSearchParams({
    change: "1",
    ...(token === undefined ? {} : { token }),
    ...(address === undefined ? {} : { email: address }),
  });
  const next = `${resolveAddress(view, site.pages.verify)}?${query.toString()}`;
  return `${resolveAddress(view, site.pages.login)}?${new URLSearchParams({ next }).toString()}`;
}

function toLogin(site: Site, view: View): Markup {
  return html`<p>You have an account? <a href="${resolveAddress(view, site.pages.login)}">Log in</a></p>`;
}
