import { factsOf } from "../../../access/permission/facts.ts";
import type { Permission } from "../../../access/permission/permission.ts";
import { html, type PageContent } from "../../../core/html/markup.ts";
import type { ProblemDocument } from "../../../http/request/format.ts";
import type { View } from "../../../http/request/view.ts";
import { formatTitle } from "../../../resource/record-labels.ts";
import type { Resource } from "../../../resource/resource.ts";
import { excerptText, inCell } from "../excerpt.ts";
import { labelsOf } from "../labels.ts";
import { hasLoginMethods } from "../login-methods.ts";
import { askedPath, splitPath } from "../paths.ts";
import { readBodyValue } from "../replies.ts";
import { nameInSentence, nameMany, resolveAddress, type Drawn, type Site } from "../site.ts";
import { listsOf, type InnerList } from "./nested-lists.ts";
import { describeCondition } from "./reasons.ts";
import { nameOfRecord } from "./record-name.ts";

// The problems that people meet with data: what happened, and where to go.

/** Draws the page for an address that has nothing for the caller. */
export async function drawMissing(site: Site, view: View): Promise<Drawn> {
  const up = await findAbove(site, view);
  const main = html`<h1 tabindex="-1" data-focus>There is nothing here</h1>
<p>It was deleted, the address has a mistake, or it is not yours to see.</p>
<p class="row">${linkAbove(view, up, "")}<a class="btn" href="${resolveAddress(view, "/")}">Start</a></p>`;
  return { title: "Not found", looks: "narrow problem", main };
}

/** Draws the page for what the caller may not do, with those who may if the declaration says it. */
export async function drawForbidden(site: Site, view: View, { detail }: ProblemDocument): Promise<Drawn> {
  const who = findAllowed(site, view);
  const title = who === null ? "This is not yours to open" : `This is for ${who}`;
  const caller = await nameCaller(view);
  const you = caller === null ? "" : html`You are <bdi>${caller}</bdi>. `;
  const condition = findCondition(site, view);
  const asked = condition === null ? detail : `You may do this only if ${condition}.`;
  const why = who === null ? asked : `Only ${who} may do this.`;
  const up = await findAbove(site, view);
  const login = hasLoginMethods(site.facts())
    ? html`<a class="btn" href="${resolveAddress(view, site.pages.login)}">Log in as someone else</a>`
    : "";
  const main = html`<h1 tabindex="-1" data-focus>${title}</h1>
<p>${you}${why}</p>
<p class="row">${linkAbove(view, up, "Back to ")}${login}</p>`;
  return { title, looks: "narrow problem", main };
}

/**
 * Draws the page for a write that had no effect, because of other records or because it came too late. Returns null if
 * it was not a write of a record.
 */
export async function drawUndone(
  site: Site,
  view: View,
  { code, detail, errors = [] }: ProblemDocument,
): Promise<Drawn | null> {
  const { place, call } = view;
  const resource = place?.resource ?? null;
  if (place === null || resource === null || place.params["id"] === undefined) return null;
  const path = askedPath(view);
  const at = place.path.endsWith("/{id}") ? path : path.slice(0, path.lastIndexOf("/"));
  const reply = await view.ask(at);
  if (reply?.body?.kind !== "data") return null;
  const record = reply.body.value as Readonly<Record<string, unknown>>;
  const name = await nameOfRecord(site, view, resource, record);
  const users = code === "referenced" ? await findUsers(site, view, resource, record["id"]) : [];
  const names = users.map((list) => nameMany(list.resource).toLowerCase());
  const isDeletion = call.method === "DELETE";
  const title = isDeletion ? `This ${nameInSentence(resource)} was not deleted` : "Nothing was saved";
  const why = users.length === 0 ? detail : `It still has ${names.join(" and ")}.`;
  const more = errors.filter((each) => each.detail !== detail).map((each) => html` ${each.detail}`);
  const links = users.map(
    ({ path: list, query }, index) =>
      html` <a class="btn" href="${resolveAddress(view, `${list}?${query}`)}">See its ${names[index]}</a>`,
  );
  const main = html`<h1 tabindex="-1" data-focus>${title}</h1>
<p>“<bdi>${name}</bdi>” is as it was. ${why}${more}</p>
<p class="row"><a class="btn main" href="${resolveAddress(view, at)}">Back to the ${nameInSentence(resource)}</a>${links}</p>`;
  return { title, looks: "narrow problem", main };
}

/** Returns the lists with records that refer to a record, as far as the caller may open them. */
async function findUsers(site: Site, view: View, resource: Resource, id: unknown): Promise<readonly InnerList[]> {
  const found: InnerList[] = [];
  for (const list of listsOf(site, resource, id).slice(0, MOST_USERS)) {
    const rows = readBodyValue((await view.ask(`${list.path}?${list.query}&limit=1`))?.body);
    if (Array.isArray(rows) && rows.length > 0) found.push(list);
  }
  return found;
}

/** The maximum number of lists that are searched for the records that refer to a record. */
const MOST_USERS = 6;

/** A page above the requested one that the caller may open. */
interface Above {
  readonly path: string;
  readonly name: string;
  readonly isList: boolean;
}

/** Returns the nearest page above the requested path that the caller may open. The start page is none. */
async function findAbove(site: Site, view: View): Promise<Above | null> {
  if (view.status >= 500) return null;
  const parts = splitPath(askedPath(view)).slice(0, 12);
  for (let length = parts.length - 1; length > 0; length -= 1) {
    const path = `/${parts.slice(0, length).join("/")}`;
    const readable = (await view.offers(path)).find(({ method, resource }) => method === "GET" && resource !== null);
    const resource = readable?.resource ?? null;
    if (readable === undefined || resource === null) continue;
    if (readable.action === "list") return { path, name: nameMany(resource), isList: true };
    return { path, name: await nameById(site, view, resource, parts[length - 1]!), isList: false };
  }
  return null;
}

async function nameById(site: Site, view: View, resource: Resource, id: string): Promise<string> {
  const key = resource.id === "integer" ? Number(id) : id;
  const names = resource.within === null ? await labelsOf(site, view, resource, [key]) : null;
  return excerptText(names?.get(key) ?? "", inCell.characters) || `the ${nameInSentence(resource)}`;
}

function linkAbove(view: View, above: Above | null, words: string): PageContent {
  if (above === null) return "";
  const { path, name, isList } = above;
  const many = isList ? name.toLowerCase() : name;
  const text = isList && words === "" ? `All ${many}` : words === "" ? name : `${words}${many}`;
  return html`<a class="btn main" href="${resolveAddress(view, path)}">${text}</a> `;
}

async function nameCaller(view: View): Promise<string | null> {
  const { identity } = view;
  if (identity === null) return null;
  const name = (await view.values("/users", [identity.id], "name"))?.get(identity.id);
  return typeof name === "string" && name !== "" ? name : identity.username;
}

/**
 * Returns the roles that may do what was asked, as words: `treasurers or administrators`. Null if it is not about
 * roles.
 */
function findAllowed(site: Site, view: View): string | null {
  const permission = findPermission(site, view);
  const roles = permission === undefined ? null : findRoles(permission);
  if (roles === null || roles.length === 0) return null;
  const words = roles.map((role) => (role === "admin" ? "administrators" : `${formatTitle(role).toLowerCase()}s`));
  return words.length < 2 ? words[0]! : `${words.slice(0, -1).join(", ")} or ${words.at(-1)!}`;
}

/** Returns the declared condition of the permission that refused the caller. */
function findCondition(site: Site, view: View): string | null {
  const permission = findPermission(site, view);
  return permission === undefined ? null : describeCondition(permission);
}

function findPermission(site: Site, { place }: View): Permission<string> | undefined {
  if (place === null || place.resource === null || place.action === "call") return undefined;
  const { path } = place.resource;
  return site.facts().mounts.find(({ resource }) => resource.path === path)?.permissions[place.action];
}

function findRoles(permission: Permission<string>): readonly string[] | null {
  const facts = factsOf(permission);
  if (facts?.kind === "roles") return facts.roles;
  if (facts?.kind === "administrator") return ["admin"];
  if (facts?.kind !== "any") return null;
  const parts = facts.parts.map(findRoles);
  return parts.includes(null) ? null : [...new Set(parts.flatMap((each) => each ?? []))];
}
