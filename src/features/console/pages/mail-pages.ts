import { isObject } from "../../../core/checking/members.ts";
import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { LinkUser } from "../../../feature/feature.ts";
import { formType } from "../../../http/formats/form.ts";
import type { ProblemDocument } from "../../../http/request/format.ts";
import type { View } from "../../../http/request/view.ts";
import { findParameter } from "../addresses.ts";
import { writeForm } from "../forms/form.ts";
import { writePlainForm, type PlainField, type PlainForm } from "../forms/plain-form.ts";
import { ACCOUNT_PATH } from "../frame.ts";
import {
  EMAIL_CONFIRM_PATH,
  findUsers,
  INVITATION_PATH,
  RESET_CONFIRM_PATH,
  RESET_PATH,
  USERS_PATH,
} from "../login-methods.ts";
import { resolveAddress, type Drawing, type Drawn, type Site } from "../site.ts";
import { drawInvitationAgain } from "./invitation-page.ts";
import { loginAfter } from "./login-page.ts";
import { drawHead } from "./waiting-parts.ts";

// Sign-up, forgotten passwords and links of mails. Opening a page does not use up the link of a mail, because only the
// button of the page sends the token.

/** A refused attempt, which the page shows with its form again. */
type Refused = Pick<ProblemDocument, "code" | "detail" | "errors" | "status">;

const email: PlainField = { name: "email", label: "E-mail", type: "email", autocomplete: "email" };
/** The address in a form with a password: a password manager stores the password under it. */
const emailOfPassword: PlainField = { ...email, autocomplete: "username" };
const code: PlainField = {
  name: "code",
  label: "Code",
  autocomplete: "one-time-code",
  rule: "Eight digits, on a separate line of the mail",
};
const newPassword: PlainField = {
  name: "password",
  label: "New password",
  type: "password",
  autocomplete: "new-password",
  rule: "8 characters or more",
};

const username: PlainField = {
  name: "username",
  label: "Username",
  autocomplete: "username",
  rule: "Only for a new account. Leave it out to log in with your e-mail",
  optional: true,
};
const newUsernameRule = "Your e-mail address, or another name of your choice";

/** Draws the page for newcomers. */
export async function drawSignup({ site, view }: Drawing): Promise<Drawn> {
  const offer = (await view.offers(USERS_PATH)).find(({ method }) => method === "POST");
  const login = resolveAddress(view, site.pages.login);
  if (view.identity !== null) return drawLoggedIn(view, view.identity.id);
  if (offer === undefined) {
    const title = "Sign-up is closed";
    const main = html`${drawHead(title, "An administrator creates the accounts of this service.")}
      <p class="row"><a class="btn" href="${login}">Log in</a></p>`;
    return { title, narrow: true, main };
  }
  const users = findUsers(site.facts());
  if (users !== undefined && users.deferral !== null) return drawVerifiedSignup(site, view);
  const title = "Sign up";
  const main = html`${drawHead(title, "Then log in with your e-mail address and your password.")}
    ${writeForm({ view, offer, only: ["name", "email", "password"], does: "Sign up", next: login, prefix: "signup" })} ${toLogin(site, view)}`;
  return { title, narrow: true, main };
}

function drawLoggedIn(view: View, id: number): Drawn {
  const title = "You are logged in";
  const account = resolveAddress(view, ACCOUNT_PATH.replace("{id}", String(id)));
  const main = html`${drawHead(title, "To sign up as another user, log out first.")}
    <p class="row"><a class="btn" href="${account}">Your account</a></p>`;
  return { title, narrow: true, main };
}

function drawVerifiedSignup(site: Site, view: View, refused?: Refused): Drawn {
  const name: PlainField = { name: "name", label: "Name", autocomplete: "name" };
  const form = { path: USERS_PATH, does: "Sign up", fields: [name, email], hidden: {}, prefix: "signup" };
  const text = "You get a mail with a link and a code. With them you choose your password.";
  return drawPage(view, { title: "Sign up", text, form, refused, below: toLogin(site, view) });
}

/** Draws the page that sends a mail to a user who forgot the password. */
export function drawForgot({ site, view }: Drawing): Drawn {
  return drawForgotAgain(site, view);
}

function drawForgotAgain(site: Site, view: View, refused?: Refused): Drawn {
  const hidden = { next: resolveAddress(view, site.pages.reset) };
  const form = { path: RESET_PATH, does: "Send the mail", fields: [email], hidden, prefix: "forgot" };
  const text = "You get a mail with a link and a code, if an account has this address.";
  return drawPage(view, { title: "Forgot your password?", text, form, refused, below: toLogin(site, view) });
}

/** Draws the page that sets a new password, with the token of a link or with a code. */
export function drawReset({ site, view }: Drawing): Promise<Drawn> {
  return drawResetAgain(site, view);
}

async function drawResetAgain(site: Site, view: View, refused?: Refused): Promise<Drawn> {
  const user = await findLinkUser(site, view, "reset");
  const token = findToken(view);
  const hidden = { next: loginAfter(site, view, "password"), ...(token === undefined ? {} : { token }) };
  const fields = token === undefined ? [emailOfPassword, code, newPassword] : [newPassword];
  const named = user === null ? {} : { username: user.username };
  const form = { path: RESET_CONFIRM_PATH, does: "Set the password", fields, hidden, ...named, prefix: "reset" };
  const text =
    token === undefined
      ? "If an account has your address, a mail is on its way. Open its link, or enter its code here."
      : "This ends every login of your account. Then log in with the new password.";
  const below = html`<p><a href="${resolveAddress(view, site.pages.forgot)}">Send another mail</a></p>`;
  return drawPage(view, { title: "Choose a new password", text, form, refused, below });
}

/**
 * Draws the page that confirms an address. A newcomer chooses a password. A user who changes an address logs in first,
 * and keeps the password. The link of a changed address has the parameter `change`.
 */
export async function drawVerify({ site, view }: Drawing): Promise<Drawn> {
  const isChange = findParameter(view, "change") !== undefined;
  return isChange && view.identity === null ? drawLoginFirst(site, view) : drawVerifyAgain(site, view, !isChange);
}

async function drawVerifyAgain(site: Site, view: View, choosesPassword: boolean, refused?: Refused): Promise<Drawn> {
  const user = choosesPassword ? await findLinkUser(site, view, "verify") : null;
  const token = findToken(view);
  const hidden = {
    next: choosesPassword ? loginAfter(site, view, "address") : resolveAddress(view, "/"),
    ...(token === undefined ? {} : { token }),
  };
  const names = choosesPassword ? choosePassword(user) : { fields: [] };
  const fields = [...(token === undefined ? [email, code] : []), ...names.fields];
  const form = { path: EMAIL_CONFIRM_PATH, does: "Confirm the address", hidden, prefix: "verify", ...names, fields };
  const text =
    token === undefined
      ? "A mail is on its way. Open its link, or enter its code here."
      : choosesPassword
        ? "Choose the password of your account."
        : "Press the button to confirm it.";
  const below = choosesPassword
    ? html`<p>Are you changing the address of an account? <a href="${loginToChange(site, view)}">Log in first</a></p>`
    : "";
  return drawPage(view, { title: "Confirm your e-mail address", text, form, refused, below });
}

/**
 * Returns the fields of a form that chooses a password, with the username for a password manager. Only a new user
 * chooses a username: the page shows the default. An invited user has one. The user of a code, or of a link that is not
 * valid, is unknown.
 */
function choosePassword(user: LinkUser | null): Pick<PlainForm, "fields" | "username" | "values"> {
  if (user === null) return { fields: [username, newPassword] };
  if (!user.isNew) return { fields: [newPassword], username: user.username };
  return { fields: [{ ...username, rule: newUsernameRule }, newPassword], values: { username: user.username } };
}

/** The path that changes the address of a user. */
const EMAIL_PATH = "/users/{id}/email";

/**
 * Draws the form of one of these pages again, with the reason why it was refused. Returns null for every other request.
 */
export async function drawMailProblem(site: Site, view: View, document: ProblemDocument): Promise<Drawn | null> {
  const isForm = view.call.header("content-type")?.startsWith(formType) === true;
  if (!isForm || view.call.method !== "POST" || ![400, 401, 403, 409].includes(document.status)) return null;
  if (view.place?.path === INVITATION_PATH) return drawInvitationAgain(site, view, document);
  if (document.status === 403) return null;
  switch (view.place?.path) {
    case USERS_PATH:
      return drawVerifiedSignup(site, view, document);
    case RESET_PATH:
      return drawForgotAgain(site, view, document);
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
  return isObject(sent) && sent["password"] !== undefined;
}

function drawLoginFirst(site: Site, view: View): Drawn {
  const title = "Log in to confirm the address";
  const main = html`${drawHead(title, "The new address belongs to an account. Log in to it, then confirm.")}
    <p class="row"><a class="btn main" href="${loginToChange(site, view)}">Log in</a></p>`;
  return { title, narrow: true, main };
}

/** Returns the address of the login page that leads back to the confirmation of a changed address. */
function loginToChange(site: Site, view: View): string {
  const token = findToken(view);
  const query = new URLSearchParams({ change: "1", ...(token === undefined ? {} : { token }) }).toString();
  const next = `${resolveAddress(view, site.pages.verify)}?${query}`;
  return `${resolveAddress(view, site.pages.login)}?${new URLSearchParams({ next }).toString()}`;
}

/** Writes the form that changes the address of a user. */
export function emailForm(site: Site, view: View, user: string, refused?: Refused): PageContent {
  const fields: readonly PlainField[] = [
    { ...email, label: "New e-mail" },
    {
      name: "current_password",
      label: "Current password",
      type: "password",
      autocomplete: "current-password",
      rule: "Leave it out if you logged in with a second factor in the last ten minutes",
      optional: true,
    },
  ];
  const hidden = { next: `${resolveAddress(view, site.pages.verify)}?change=1` };
  const again = refused === undefined ? {} : { values: readSentValues(view), mistakes: refused.errors ?? [] };
  const label = "Change the e-mail address";
  return writePlainForm(view, {
    path: `${user}/email`,
    does: "Send the mail",
    fields,
    hidden,
    ...again,
    label,
    prefix: "email",
  });
}

function drawEmailAgain(site: Site, view: View, refused: Refused): Drawn {
  const title = "Change your e-mail address";
  const user = `/users/${String(view.place?.params["id"])}`;
  return {
    title,
    narrow: true,
    main: html`${drawHead(title, refused.detail)} ${emailForm(site, view, user, refused)}`,
  };
}

interface MailPage {
  readonly title: string;
  readonly text: string;
  readonly form: Omit<PlainForm, "label">;
  readonly refused: Refused | undefined;
  readonly below: PageContent;
}

function drawPage(view: View, { title, text, form, refused, below }: MailPage): Drawn {
  const errors = refused?.errors ?? [];
  const mistakes = errors.filter(({ pointer }) => form.fields.some(({ name }) => pointer === `/${name}`));
  // The mistake may be in a field of the sign-up that this form does not have. Its reason is then shown above the form.
  const reason = errors[0]?.detail ?? refused?.detail;
  const note: PageContent =
    reason === undefined || mistakes.length > 0 ? "" : html`<p class="wrong" role="alert">${reason}</p>`;
  const again = refused === undefined ? {} : { values: { ...form.values, ...readSentValues(view) }, mistakes };
  const main: Markup = html`${drawHead(title, text)}
    <div class="stack">
      ${note} ${writePlainForm(view, { ...form, ...again, label: title, isSubject: true })} ${below}
    </div>`;
  return { title, narrow: true, main };
}

function readSentValues({ sent }: View): Readonly<Record<string, unknown>> {
  return isObject(sent) ? sent : {};
}

/**
 * Returns the user of the link, without using the link up. Returns null if the link is wrong, used or expired, or if
 * there is none.
 */
async function findLinkUser(site: Site, view: View, page: "reset" | "verify"): Promise<LinkUser | null> {
  const token = findToken(view);
  return token === undefined ? null : site.facts().findLinkUser({ page, token, call: view.call });
}

/** Returns the token of the link: from the address of the page, or from its form. */
function findToken(view: View): string | undefined {
  const sent = readSentValues(view)["token"];
  return typeof sent === "string" ? sent : findParameter(view, "token");
}

function toLogin(site: Site, view: View): Markup {
  return html`<p>Do you have an account? <a href="${resolveAddress(view, site.pages.login)}">Log in</a></p>`;
}
