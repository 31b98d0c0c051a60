import { isObject } from "../../../core/checking/members.ts";
import { html, type PageContent } from "../../../core/html/markup.ts";
import type { Offer } from "../../../http/request/view.ts";
import { drawCardHead, wideLink } from "../forms/card-parts.ts";
import { writeButton, writeForm } from "../forms/form.ts";
import { companyName } from "../forms/login-form.ts";
import { passkeysElsewhere } from "../forms/passkey-form.ts";
import { PASSKEY_PATH } from "../login-methods.ts";
import { isServed } from "../paths.ts";
import type { Drawing, Drawn } from "../site.ts";
import { showAgo, showDay } from "../values.ts";
import { fold, line, lines, removal, rowsAt, settingsSection, type AccountView, type Row } from "./account-parts.ts";
import { proofWords } from "./account-words.ts";

// The parts of an account with which its user logs in: apps, passkeys, and logins of companies.

/** Draws the authenticator apps and the recovery codes. */
export async function drawApps(shown: AccountView): Promise<PageContent> {
  const { drawing, user, isOwn, factors } = shown;
  if (factors === null) return "";
  const apps = factors.filter(({ kind }) => kind === "totp");
  const [recovery] = factors.filter(({ kind }) => kind === "recovery");
  const add = await findAdd(shown, `${user}/factors`);
  const listed = await Promise.all(apps.map((app) => drawApp(drawing, `${user}/factors`, app, isOwn)));
  const asks = apps.length === 0 ? "Set it up" : "Add another app";
  const form = add === undefined ? "" : fold(asks, newFactor(shown, add, "totp", "Set it up"));
  const none = apps.length > 0 ? "" : recovery === undefined ? "Not set up yet" : "No app yet";
  const addLine = form === "" && none === "" ? "" : line(none, form);
  const codes = recovery === undefined ? "" : await drawRecovery(drawing, `${user}/factors/recovery`, recovery, isOwn);
  return settingsSection(
    "two",
    "Two-step login",
    "A code from your phone, after the password.",
    lines([...listed, codes, addLine]),
  );
}

async function drawApp(drawing: Drawing, path: string, app: Row, isOwn: boolean): Promise<PageContent> {
  // The service names an app without a name by its kind.
  const name = app["label"] === app["kind"] ? "Authenticator app" : String(app["label"]);
  const used =
    typeof app["last_used_at"] === "string" ? html`Last used ${showAgo(app["last_used_at"])}` : "Not used yet";
  const warning = isOwn
    ? "Then your password alone may let you in. Your other logins end."
    : "Then the password alone may let the user in. All logins of the user end.";
  return line(
    html`<b><bdi>${name}</bdi></b> <span class="tag good">on</span><br><span class="small dim">${used}</span>`,
    await removal(drawing, { path: `${path}/${String(app["id"])}`, id: `rm-app-${String(app["id"])}`, name, warning }),
  );
}

/** Writes the button that makes new recovery codes. The answer shows them. */
async function drawRecovery({ view }: Drawing, path: string, { remaining }: Row, isOwn: boolean): Promise<PageContent> {
  const offer = isOwn ? (await view.offers(path)).find(({ method }) => method === "POST") : undefined;
  const button = offer === undefined ? "" : writeButton({ view, offer, does: "Make new codes" }, "low");
  return line(
    html`<b>Recovery codes</b><br><span class="small dim">${Number(remaining ?? 0)} of 10 left</span>`,
    button,
  );
}

async function findAdd({ drawing: { view }, isOwn }: AccountView, path: string): Promise<Offer | undefined> {
  return isOwn ? (await view.offers(path)).find(({ method }) => method === "POST") : undefined;
}

function newFactor({ drawing: { view }, factors }: AccountView, offer: Offer, kind: string, does: string): PageContent {
  const only = ["label", ...((factors ?? []).length > 0 ? [] : ["current_password"])];
  const more = html`<input type="hidden" name="kind" value="${kind}">`;
  return writeForm({ view, offer, only, values: { kind }, does, prefix: kind, isPlain: true, words: proofWords, more });
}

/** Draws the passkeys. */
export async function drawPasskeys(shown: AccountView): Promise<PageContent> {
  const { drawing, user, factors, isOwn } = shown;
  const { site, view } = drawing;
  if (factors === null || !isServed(site, PASSKEY_PATH, "POST")) return "";
  const passkeys = factors.filter(({ kind }) => kind === "passkey");
  const listed = passkeys.map(async (passkey) => {
    const name = String(passkey["label"] ?? "Passkey");
    const warning = `${isOwn ? "You" : "The user"} can no longer log in with this passkey.`;
    const path = `${user}/factors/${String(passkey["id"])}`;
    const added = html`Added ${showDay(String(passkey["created_at"]))}`;
    return line(
      html`<b><bdi>${name}</bdi></b><br><span class="small dim">${added}</span>`,
      await removal(drawing, { path, id: `rm-key-${String(passkey["id"])}`, name, warning }),
    );
  });
  const add = await findAdd(shown, `${user}/factors`);
  const does = "Add a passkey";
  const form =
    add === undefined
      ? ""
      : (passkeysElsewhere(view, does) ??
        html`<div class="more" data-js hidden>${fold(does, newFactor(shown, add, "passkey", "Add the passkey"))}</div><noscript>Adding a passkey needs JavaScript.</noscript>`);
  const none = passkeys.length === 0 ? "None yet" : "";
  return settingsSection(
    "keys-of",
    "Passkeys",
    "Log in with your finger, face or a security key instead of a password.",
    lines([...(await Promise.all(listed)), form === "" && none === "" ? "" : line(none, form)]),
  );
}

/** Draws the logins of companies: those that are connected, and those that can be. */
export async function drawCompanies(shown: AccountView): Promise<PageContent> {
  const { drawing, user, isOwn } = shown;
  const { view, site } = drawing;
  const path = `${user}/identities`;
  const rows = await rowsAt(view, path);
  if (rows === null) return "";
  const add = await findAdd(shown, path);
  const connected = rows.map(async (row) => {
    const name = companyName(String(row["title"]));
    const warning = `${isOwn ? "You" : "The user"} can no longer log in with it.`;
    return line(
      html`<b><bdi>${name}</bdi></b> <span class="tag good">connected</span><br><span class="small dim"><bdi>${String(row["subject"])}</bdi></span>`,
      await removal(drawing, { path: `${path}/${String(row["id"])}`, id: `rm-co-${String(row["id"])}`, name, warning }),
    );
  });
  const others =
    add === undefined ? [] : site.facts().loginLinks.map(({ title, href }) => newCompany(shown, add, title, href));
  return settingsSection(
    "company",
    "Company logins",
    isOwn ? "Log in with an account that you have elsewhere." : "Accounts elsewhere with which the user logs in.",
    lines([...(await Promise.all(connected)), ...others]),
  );
}

/**
 * Returns the form that connects the login of a company. The login starts at `/api/login/{provider}/start`. Returns
 * nothing for any other login.
 */
function newCompany(
  { drawing: { view }, factors }: AccountView,
  offer: Offer,
  title: string,
  href: string,
): PageContent {
  const provider = /^\/api\/login\/([^/]+)\/start$/.exec(href)?.[1];
  if (provider === undefined) return "";
  const name = companyName(title);
  const only = (factors ?? []).length > 0 ? [] : ["current_password"];
  const more = html`<input type="hidden" name="provider" value="${provider}">`;
  const parts = { view, offer, only, more, prefix: `company-${provider}`, isPlain: true, words: proofWords };
  return line(
    html`<b><bdi>${name}</bdi></b>`,
    fold(html`Connect<span class="vh"> ${name}</span>`, writeForm({ ...parts, does: `Connect ${name}` })),
  );
}

/**
 * Draws the response with the link to the provider at which the user then logs in. Returns null for the list of
 * identities.
 */
export function drawIdentityStart({ body }: Drawing): Drawn | null {
  const { value } = body;
  if (!isObject(value) || typeof value["start"] !== "string") return null;
  const title = "Connect a company login";
  const main = html`${drawCardHead(title, "Log in there. It sends you back to your account.")}
<div class="buttons">${wideLink(value["start"], "Go to the company login", "main")}</div>`;
  return { title, main, card: {} };
}
