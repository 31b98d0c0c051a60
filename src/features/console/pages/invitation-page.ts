import { isObject, isText } from "../../../core/checking/members.ts";
import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { ProblemDocument } from "../../../http/request/format.ts";
import type { View } from "../../../http/request/view.ts";
import { findParameter } from "../addresses.ts";
import { drawCardHead, drawRefusal, wideLink } from "../forms/card-parts.ts";
import { writePlainForm, type PlainField } from "../forms/plain-form.ts";
import { INVITATION_PATH, SESSION_PATH } from "../login-methods.ts";
import { findRecord } from "../replies.ts";
import { resolveAddress, type Drawing, type Drawn, type Site } from "../site.ts";

// The page of an invitation to a group. Opening it does not use the link up: only the button sends the token.

/** The part of a problem that the page shows with its form. */
type Refused = Pick<ProblemDocument, "detail" | "errors">;

/** An invitation that is valid now. */
interface Invitation {
  readonly token: string;
  readonly sender: string;
  readonly group: string;
  readonly email: string;
  /** True if an account has the address. */
  readonly account: boolean;
  /** True if the reader is logged in with the address. */
  readonly yours: boolean;
}

const fields: readonly PlainField[] = [
  { name: "name", label: "Your name", autocomplete: "name" },
  { name: "email", label: "E-mail", type: "shown", autocomplete: "off" },
  {
    name: "password",
    label: "Password",
    type: "password",
    autocomplete: "new-password",
    hint: "At least 8 characters. A few words are good.",
  },
];

const TITLE = "You are invited";

/** Draws the page of an invitation: who invites to what, with a login or a form for a new account. */
export function drawInvitation({ site, view }: Drawing): Promise<Drawn> {
  return drawInvitationAgain(site, view);
}

/** Draws the page of an invitation again, with the reason why its form was refused. */
export async function drawInvitationAgain(site: Site, view: View, refused?: Refused): Promise<Drawn> {
  const invitation = await findInvitation(view);
  if (invitation === null) return drawDeadLink(site, view);
  const { sender, group, account, yours } = invitation;
  const isOther = view.identity !== null && !yours;
  const does = yours
    ? "Press the button to join."
    : account
      ? isOther
        ? ""
        : "Log in to join."
      : "Choose a password to join.";
  const main = html`${drawCardHead(TITLE, html`<bdi>${sender}</bdi> invites you to <b><bdi>${group}</bdi></b>. ${does}`)}
    ${writeNote(refused)} ${writeChoices(site, view, invitation, refused)}`;
  const isNew = !yours && !account;
  const login = html`<p>You have an account? <a href="${loginFirst(site, view, invitation)}">Log in and join</a></p>`;
  return { title: TITLE, card: isNew ? { foot: login } : {}, main };
}

function writeChoices(site: Site, view: View, invitation: Invitation, refused?: Refused): PageContent {
  if (invitation.yours) return writeJoin(view, invitation);
  if (invitation.account)
    return view.identity === null ? writeLogin(site, view, invitation) : writeOther(view, invitation);
  return writeNewAccount(view, invitation, refused);
}

function writeJoin(view: View, { token }: Invitation): PageContent {
  const form = { path: INVITATION_PATH, does: "Join", fields: [], hidden: { token }, prefix: "invitation" };
  return writePlainForm(view, { ...form, label: TITLE, isSubject: true, isWide: true });
}

function writeLogin(site: Site, view: View, invitation: Invitation): Markup {
  return html`<p>The invitation is for <bdi>${invitation.email}</bdi>.</p>
    ${wideLink(loginFirst(site, view, invitation), "Log in and join", "main")}`;
}

function writeOther(view: View, { email }: Invitation): Markup {
  return html`<p>
      You are logged in as ${view.identity?.username ?? ""}. The invitation is for <bdi>${email}</bdi>. Log out, then open
      the link again.
    </p>
    ${wideLink(resolveAddress(view, SESSION_PATH), "Your login")}`;
}

function writeNewAccount(view: View, { token, email }: Invitation, refused?: Refused): PageContent {
  const typed = refused === undefined ? {} : readSent(view);
  const mistakes = refused?.errors ?? [];
  const form = {
    path: INVITATION_PATH,
    does: "Join",
    fields,
    hidden: { token },
    username: email,
    prefix: "invitation",
  };
  const values = { ...typed, email };
  return writePlainForm(view, { ...form, values, mistakes, label: TITLE, isSubject: true, isWide: true });
}

/** Returns the reason of a refusal that belongs to no field of the form. */
function writeNote(refused: Refused | undefined): PageContent {
  const { errors = [], detail } = refused ?? {};
  const isInForm = errors.some(({ pointer }) => fields.some(({ name }) => pointer === `/${name}`));
  const reason = errors[0]?.detail ?? detail;
  return reason === undefined || isInForm ? "" : drawRefusal("invitation-error", reason);
}

function drawDeadLink(site: Site, view: View): Drawn {
  const title = "This invitation is not valid";
  const main = html`${drawCardHead(title, "The link was used, has expired or was taken back. Ask the person who invited you for another one.")}
    ${wideLink(resolveAddress(view, site.pages.login), "Log in")}`;
  return { title, card: {}, main };
}

/** Returns the address of the login page that leads back to the invitation. */
function loginFirst(site: Site, view: View, { token }: Invitation): string {
  const page = resolveAddress(view, site.pages.invitation);
  const next = `${page}?${new URLSearchParams({ token }).toString()}`;
  return `${resolveAddress(view, site.pages.login)}?${new URLSearchParams({ next }).toString()}`;
}

/** Returns the invitation of the link. Returns null if the link is not valid. */
async function findInvitation(view: View): Promise<Invitation | null> {
  const sent = readSent(view)["token"];
  const token = isText(sent) ? sent : findParameter(view, "token");
  if (token === undefined) return null;
  const found = findRecord(await view.ask(`${INVITATION_PATH}?${new URLSearchParams({ token }).toString()}`));
  if (!isObject(found)) return null;
  const { sender, group, email, account, yours } = found;
  if (!isText(sender) || !isText(group) || !isText(email)) return null;
  return { token, sender, group, email, account: account === true, yours: yours === true };
}

function readSent({ sent }: View): Readonly<Record<string, unknown>> {
  return isObject(sent) ? sent : {};
}
