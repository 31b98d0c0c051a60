import { isObject } from "../../../core/checking/members.ts";
import { html, type PageContent } from "../../../core/html/markup.ts";
import type { View } from "../../../http/request/view.ts";
import { findParameter } from "../addresses.ts";
import { writeLoginForm, sentTo } from "../forms/login-form.ts";
import { writePlainForm } from "../forms/plain-form.ts";
import { MAIL_CODE_PATH, SESSION_PATH } from "../login-methods.ts";
import { isServed } from "../paths.ts";
import { resolveAddress, type Drawing, type Drawn, type Site } from "../site.ts";
import { findRecord } from "./rows.ts";
import { drawHead } from "./waiting-parts.ts";

/** Draws the page to log in: every enabled login method, with the focus in the first field. */
export async function drawLoginPage({ site, view }: Drawing): Promise<Drawn> {
  const token = findParameter(view, "token");
  if (isServed(site, MAIL_CODE_PATH, "POST")) {
    if (token !== undefined) return drawMailLogin(site, view, { token });
    if (findParameter(view, "code") !== undefined) return drawMailLogin(site, view, {});
  }
  const note = notes.get(findParameter(view, "done") ?? "");
  return draw(await writeLoginForm(site, view, { isSubject: true }), note);
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
export async function drawLoginAgain(site: Site, view: View): Promise<Drawn> {
  const sent = isObject(view.sent) ? view.sent : {};
  if (typeof sent["token"] === "string" || typeof sent["code"] === "string")
    return drawMailLogin(site, view, { wrong: "This link or code is wrong, used or expired." });
  const byPassword = !isObject(view.sent) || view.sent["credential"] === undefined;
  const reason = byPassword ? "Wrong name or password." : WRONG_PASSKEY;
  return draw(await writeLoginForm(site, view, { isSubject: true, wrong: { reason, byPassword } }));
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
  const login = `${resolveAddress(view, site.pages.login)}?${new URLSearchParams({ next }).toString()}`;
  const title = "Log in by mail";
  const address = token === undefined ? null : await findMaskedAddress(view, token);
  if (token !== undefined && address === null) {
    const main = html`${drawHead(title, "This link is wrong, used or expired.")}
      <p class="row"><a class="btn main" href="${login}">Log in</a></p>`;
    return { title, main, narrow: true };
  }
  const user = token === undefined ? null : view.identity;
  const fields = token === undefined ? CODE_FIELDS : [];
  const hidden = { next, ...(token === undefined ? {} : { token }) };
  const values = isObject(view.sent) ? view.sent : {};
  const does = user === null || address === null ? "Log in" : `Log in as ${address} instead`;
  const form = { path: SESSION_PATH, does, fields, hidden, values, label: title, prefix: "mail", isSubject: true };
  const below =
    user === null
      ? html`<a href="${login}">Other ways to log in</a>`
      : html`<a href="${resolveAddress(view, "/")}">Stay logged in as ${user.username}</a>`;
  const main = html`${drawHead(title, describeMailLogin(address, user?.username ?? null))}
    <div class="stack">
      ${wrong === undefined ? "" : html`<p class="wrong" role="alert">${wrong}</p>`} ${writePlainForm(view, form)}
      <p>${below}</p>
    </div>`;
  return { title, main, narrow: true };
}

function describeMailLogin(address: string | null, username: string | null): string {
  if (address === null) return "If an account has your address, a mail with a code is on its way.";
  if (username === null)
    return `Press the button to log in as ${address}. If this is not your address, close this page.`;
  return `You are logged in as ${username}. This link is for the account of ${address}. Do you want to change to that account?`;
}

/** Returns the masked address of a link. Returns null if the link is wrong, used or expired. */
async function findMaskedAddress(view: View, token: string): Promise<string | null> {
  const link = findRecord(await view.ask(`${MAIL_CODE_PATH}?${new URLSearchParams({ token }).toString()}`));
  return typeof link?.["email"] === "string" ? link["email"] : null;
}

const CODE_FIELDS = [
  { name: "email", label: "E-mail", type: "email", autocomplete: "email" },
  {
    name: "code",
    label: "Code",
    autocomplete: "one-time-code",
    rule: "Eight digits, on a separate line of the mail",
  },
] as const;

/**
 * The message for a refused passkey. It is the same for every reason, so that it does not reveal which passkeys exist.
 */
export const WRONG_PASSKEY = "This passkey was not accepted. Choose another way.";

function draw(form: PageContent, note?: string): Drawn {
  const main = html`<div class="head">
      <div>
        <h1 tabindex="-1">Log in</h1>
        ${note === undefined ? "" : html`<p role="status">${note}</p>`}
      </div>
    </div>
    ${form}`;
  return { title: "Log in", main, narrow: true };
}
