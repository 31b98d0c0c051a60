import { html, type Markup } from "../../../core/html/markup.ts";
import { belowBasePath } from "../../../http/base-path.ts";
import type { View } from "../../../http/request/view.ts";
import type { AccountPage } from "../data/conflict-page.ts";
import { drawCardHead } from "../forms/card-parts.ts";
import { writeForm, type FieldWords, type FormParts } from "../forms/form.ts";
import { collectInputs } from "../forms/inputs.ts";
import { ACCOUNT_PATH } from "../frame.ts";
import { USERS_PATH } from "../login-methods.ts";
import { resolveAddress, type Drawn } from "../site.ts";
import { accountWords, keyWords, proofWords } from "./account-words.ts";

const OWN_TITLE = "Change your account";

/** The forms of the account page, by the declared path that receives them. */
const forms: Readonly<Record<string, readonly [title: string, words: FieldWords, does: string]>> = {
  "/users/{id}": [OWN_TITLE, accountWords, "Save"],
  [ACCOUNT_PATH]: [OWN_TITLE, accountWords, "Save"],
  "/users/{id}/factors": ["Confirm that it is you", proofWords, "Go on"],
  "/users/{id}/identities": ["Connect a company login", proofWords, "Go on"],
  "/users/{id}/keys": ["Make a key", keyWords, "Make a key"],
  "/users/{id}/token": ["Make the API token", proofWords, "Go on"],
};

/** Draws a refused form of the account page again, with everything that was typed. Returns null for any other form. */
export async function drawAccountAgain(view: View, form: Omit<FormParts, "does">): Promise<Drawn | null> {
  const [named, words, does] = forms[view.place?.path ?? ""] ?? [];
  if (named === undefined || words === undefined || does === undefined || !isOfAccountPage(view)) return null;
  const title = named === OWN_TITLE ? await nameAccount(view) : named;
  const { values: sent = {}, again = [], mistakes = [], offer } = form;
  const isWrong = (name: string): boolean => mistakes.some(({ pointer }) => pointer === `/${name}`);
  const names = collectInputs(offer).map(({ name }) => name);
  const typed = names.filter((name) => isTyped(name, sent[name]) && again.includes(name));
  const only = names.filter((name) => typed.includes(name) || isWrong(name));
  const others = again.filter((name) => !only.includes(name)).map((name) => hidden(name, sent[name]));
  const inFields = mistakes.filter(({ pointer }) => only.some((name) => pointer === `/${name}`));
  const reason = inFields.length > 0 ? undefined : mistakes[0]?.detail;
  const account = addressOfAccount(view, view.place?.params["id"]);
  const next = offer.method === "PATCH" ? { next: account } : {};
  const main = html`${drawCardHead(title, "Nothing was saved yet. What you typed is still here.")}
<div class="note bad" role="alert" tabindex="-1"><p>${reason ?? (inFields.length === 1 ? inFields[0]!.detail : `${inFields.length} things to correct.`)}</p></div>
${writeForm({ ...form, ...next, only, words, does, looks: "main wide", more: html`${others}` })}`;
  const foot = html`<p><a href="${account}" data-back>Do not change it</a></p>`;
  return { title, main, card: { foot, scripts: ["script", "forms"] } };
}

/** Returns the title for a change of an account, which names a user other than the caller. */
async function nameAccount(view: View): Promise<string> {
  const id = Number(view.place?.params["id"]);
  if (id === view.identity?.id) return OWN_TITLE;
  const name = (await view.values(USERS_PATH, [id], "name"))?.get(id);
  return typeof name === "string" && name !== "" ? `Change the account of ${name}` : "Change this account";
}

/** The members of a body that no person types. */
const unseen: ReadonlySet<string> = new Set(["kind", "provider", "scopes", "end_keys"]);

function isTyped(name: string, value: unknown): boolean {
  return !unseen.has(name) && (typeof value === "string" || typeof value === "boolean");
}

function hidden(name: string, value: unknown): Markup {
  return typeof value === "string"
    ? html`<input type="hidden" name="${name}" value="${value}">`
    : html`<input type="hidden" name="${name}" data-type="json" value="${JSON.stringify(value)}">`;
}

/** Returns the account page that sent a form. Null if another page sent it. */
export function findAccountPage(view: View): AccountPage | null {
  const { path, params } = view.place ?? {};
  if ((path !== ACCOUNT_PATH && path !== "/users/{id}") || !isOfAccountPage(view)) return null;
  return { address: addressOfAccount(view, params?.["id"]), words: accountWords };
}

function addressOfAccount(view: View, id: unknown): string {
  return resolveAddress(view, ACCOUNT_PATH.replace("{id}", String(id)));
}

/** Returns true if the account page sent the form. The record of a user has a form of its own. */
function isOfAccountPage({ place, call, basePath }: View): boolean {
  if (place?.path !== "/users/{id}") return true;
  const from = URL.parse(call.header("referer") ?? "")?.pathname ?? "";
  return (belowBasePath(from, basePath) ?? from).endsWith("/account");
}
