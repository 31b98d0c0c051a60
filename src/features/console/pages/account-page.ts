import { isObject } from "../../../core/checking/members.ts";
import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { Offer } from "../../../http/request/view.ts";
import { writeForm, type FormParts } from "../forms/form.ts";
import { collectInputs } from "../forms/inputs.ts";
import { asJSON } from "../parts.ts";
import type { Drawing, Drawn } from "../site.ts";
import { showValue } from "../values.ts";
import { drawKeys, drawSessions, drawToken } from "./credential-lists.ts";
import { drawFactors, drawIdentities } from "./login-lists.ts";
import { emailForm } from "./mail-pages.ts";
import { findRecord } from "./rows.ts";

/** Draws an account: the user, the login, the open sessions, and the keys of programs. */
export async function drawAccount(drawing: Drawing): Promise<Drawn | null> {
  const { view, body, path } = drawing;
  const { value } = body;
  const id = view.place?.params["id"];
  if (!isObject(value) || typeof value["username"] !== "string" || id === undefined) return null;
  const user = `/users/${id}`;
  const isOwn = view.identity?.id === id;
  const found = await view.ask(user);
  const record = findRecord(found) ?? {};
  const title = isOwn ? "Your account" : `The account of ${value["username"]}`;
  const main = html`<div class="head">
      <div>
        <h1 tabindex="-1"><bdi>${title}</bdi></h1>
        <p>
          <bdi>${String(record["name"] ?? value["username"])}</bdi>, ${String(value["role"])}${value["active"] === false ? ", not active" : ""}, since
          ${showValue(drawing, null, value["created_at"])}
        </p>
      </div>
      <div class="row"><a class="btn" href="${view.basePath}${user}">${user}</a></div>
    </div>
    ${await drawProfileForm(drawing, user, { record, tag: found?.tag, isOwn })} ${drawLoginForm(drawing, value, isOwn)}
    ${isOwn ? "" : await drawOneTimeForm(drawing, user)} ${isOwn ? await drawEmailForm(drawing, user) : ""} ${await drawFactors(drawing, user, isOwn)} ${await drawIdentities(drawing, user, isOwn)} ${await drawSessions(drawing, user, isOwn)} ${await drawKeys(drawing, user, isOwn)}
    ${await drawToken(drawing, user)}
    <details class="more">
      <summary>What programs get</summary>
      ${asJSON("json", "application/json", `the answer of ${path} as JSON`, value)}
    </details>`;
  return { title, main };
}

interface Profile {
  readonly record: Readonly<Record<string, unknown>>;
  readonly tag: unknown;
  readonly isOwn: boolean;
}

/** Returns the form for name, email, password and additional fields. The username is in the login form. */
async function drawProfileForm({ view }: Drawing, user: string, { record, tag, isOwn }: Profile): Promise<PageContent> {
  const offer = (await view.offers(user)).find(({ action }) => action === "update");
  if (offer === undefined) return "";
  const parts = { view, offer, values: record, tag: typeof tag === "string" ? `"${tag}"` : null };
  return formSection("Profile", {
    ...parts,
    ...sentFrom(view.call.path, offer, isOwn, [
      "username",
      ...((await changesEmailByMail(view, user)) && isOwn ? ["email"] : []),
    ]),
    prefix: "profile",
  });
}

/** Returns the form for the username. Administrators also set the role and whether the account is active. */
function drawLoginForm({ view, offers, tag }: Drawing, values: Profile["record"], isOwn: boolean): PageContent {
  const offer = offers.find(({ action }) => action === "update");
  if (offer === undefined) return "";
  const others = view.identity?.role === "admin" ? [] : ["role", "active"];
  return formSection("Logging in", {
    view,
    offer,
    values,
    tag,
    ...sentFrom(view.call.path, offer, isOwn, others),
    prefix: "login",
  });
}

/**
 * Returns the fields of the form. Users confirm changes of their account with their password. Administrators change
 * other accounts without a password.
 */
function sentFrom(next: string, offer: Offer, isOwn: boolean, without: readonly string[]) {
  const names = collectInputs(offer).map(({ name }) => name);
  // Only a new user is invited.
  const left = ["invite", ...without, ...(isOwn ? [] : ["current_password"])];
  return { only: names.filter((name) => !left.includes(name)), next };
}

function formSection(title: string, parts: Omit<FormParts, "does" | "note">): Markup {
  const note = html`<button class="btn" type="reset">Undo</button>`;
  return html`<section aria-labelledby="${parts.prefix}">
    <h2 id="${parts.prefix}">${title}</h2>
    ${writeForm({ ...parts, does: `Save ${parts.prefix}`, note, isWide: true })}
  </section>`;
}

/** Returns true if the user proves a new address by mail. */
async function changesEmailByMail(view: Drawing["view"], user: string): Promise<boolean> {
  return (await view.offers(`${user}/email`)).some(({ method }) => method === "POST");
}

/** Returns the form for another e-mail address, if it is proved by mail. */
async function drawEmailForm({ site, view }: Drawing, user: string): Promise<PageContent> {
  if (!(await changesEmailByMail(view, user))) return "";
  return html`<details class="more">
    <summary>Change the e-mail address</summary>
    <p class="dim">You get a mail at the new address. Your address changes when you confirm the new one.</p>
    ${emailForm(site, view, user)}
  </details>`;
}

/** Returns the form for a one-time password, for a user who has none or has lost it. */
async function drawOneTimeForm({ view }: Drawing, user: string): Promise<PageContent> {
  const offer = (await view.offers(`${user}/password`)).find(({ method }) => method === "POST");
  if (offer === undefined) return "";
  return html`<details class="more">
    <summary>Give a one-time password</summary>
    <p class="dim">It is shown once, and is good for one login. All logins of this user end now.</p>
    ${writeForm({ view, offer, does: "Make a one-time password", looks: "", prefix: "once" })}
  </details>`;
}
