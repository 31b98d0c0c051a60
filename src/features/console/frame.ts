import { isUnsafe } from "../../core/call/cross-site.ts";
import { html, type PageContent, type Markup } from "../../core/html/markup.ts";
import { writeCard, writePage, type PageLink } from "../../core/html/page.ts";
import type { View } from "../../http/request/view.ts";
import { formatTitle, nameOne } from "../../resource/record-labels.ts";
import { readTarget } from "./addresses.ts";
import { isForAdministrators } from "./data/access-words.ts";
import { excerptText, inCell } from "./excerpt.ts";
import { labelsOf } from "./labels.ts";
import { hasLoginMethods, PASSKEY_PATH, SESSION_PATH, USERS_PATH } from "./login-methods.ts";
import { askedPath, fits, isReadable, isServed, splitPath } from "./paths.ts";
import { nameMany, resolveAddress, type Asset, type Drawn, type Site } from "./site.ts";
import { drawStrip } from "./strip.ts";
import { WHY_PATH } from "./why.ts";

/** The path of an account, with everything that its user or an administrator can do with it. */
export const ACCOUNT_PATH = "/users/{id}/account";

/**
 * Writes a whole page. A card has the name of the service and its content. Every other page has a bar with the main
 * lists and the caller, and a foot.
 */
export async function writeFramed(site: Site, view: View, drawn: Drawn, requestId?: string): Promise<string> {
  const {
    title,
    main,
    card,
    narrow = false,
    looks = narrow ? "narrow" : undefined,
    hasStrip = !isAccountPage(site, view),
  } = drawn;
  const common = {
    title,
    look: site.look,
    basePath: view.basePath,
    // The root always has a page. Without an endpoint there, this page lists the resources.
    root: true,
    main,
  };
  if (card !== undefined) {
    const foot = card.foot === undefined ? {} : { foot: card.foot };
    return writeCard({ ...common, ...foot, head: drawHead(site, ["style"], card.scripts ?? ["script"]) });
  }
  const links = await collectLists(site, view);
  return writePage({
    ...common,
    head: drawHead(site, chooseStyles(main), chooseScripts(site, main)),
    nav: { label: "Contents", links },
    who: await drawWho(site, view),
    crumbs: looks === undefined || looks === "narrow" ? await collectCrumbs(site, view, narrow) : [],
    ...(looks === undefined ? {} : { looks }),
    ...(looks === "settings" ? { hasKeys: false } : { foot: hasStrip ? drawStrip(site, view, requestId) : html`` }),
  });
}

/** Returns the styles that a page needs. Only what developers read needs a second one. */
function chooseStyles(main: Markup): readonly Asset[] {
  return /class="(?:code|facts-list|steps)\b/.test(main.toString()) ? ["style", "developerStyle"] : ["style"];
}

/**
 * Returns the scripts that a page needs. Pages of data need only that of every page. A form with JSON may lead to a
 * confirmation by passkey, which the script shows in place of the page.
 */
function chooseScripts(site: Site, main: Markup): readonly Asset[] {
  const text = main.toString();
  const hasForms = /\sdata-method="/.test(text);
  const hasPasskeys = (hasForms || text.includes("data-passkey")) && isServed(site, PASSKEY_PATH, "POST");
  const tries = text.includes("data-try");
  return [
    "script",
    ...(hasForms || hasPasskeys ? (["forms"] as const) : []),
    ...(tries ? (["developer"] as const) : []),
    ...(hasPasskeys ? (["passkeys"] as const) : []),
  ];
}

function isAccountPage({ pages }: Site, { place }: View): boolean {
  return Object.values(pages).some((path) => path === place?.path);
}

function drawHead({ assets }: Site, styles: readonly Asset[], scripts: readonly Asset[]): readonly PageContent[] {
  return [
    styles.map((name) => html`<link rel="stylesheet" href="${assets[name]}">`),
    scripts.map((name) => html`<script src="${assets[name]}" defer></script>`),
  ];
}

/** The maximum number of lists in the bar. The start page has all of them. */
const MOST_LISTS = 5;

/** Returns the first lists that the caller may open. An error of the service is shown without them. */
async function collectLists(site: Site, view: View): Promise<readonly PageLink[]> {
  if (view.status >= 500) return [];
  const here = askedPath(view);
  const links: PageLink[] = [];
  for (const { resource, permissions, older } of site.facts().mounts) {
    const { path, within } = resource;
    if (within !== null || older !== null || permissions.list === undefined) continue;
    // Those that only administrators see have cards on the start page.
    if (isForAdministrators(permissions.list)) continue;
    if (!(await view.offers(path)).some(({ action }) => action === "list")) continue;
    if (links.length === MOST_LISTS) return [...links, { text: "More", path: "/" }];
    links.push({ text: nameMany(resource), path, isCurrent: here === path || here.startsWith(`${path}/`) });
  }
  return links;
}

/**
 * Returns the pages above this one that the caller can open, each by its name. The record of a form is above the form,
 * also when the form is shown again.
 */
async function collectCrumbs(site: Site, view: View, isNarrow: boolean): Promise<readonly PageLink[]> {
  if (view.status >= 500) return [];
  const { mounts } = site.facts();
  const path = askedPath(view);
  const parts = splitPath(path);
  const isForm = (view.place?.form ?? null) !== null || (isNarrow && isUnsafe(view.call.method));
  const most = isForm ? parts.length : parts.length - 1;
  const crumbs: PageLink[] = [];
  for (const at of parts.slice(0, Math.min(most, 12)).keys()) {
    const above = `/${parts.slice(0, at + 1).join("/")}`;
    // The explanation page needs the URL that it explains, so the path gets no link.
    if (!isReadable(site, above) || above === WHY_PATH) continue;
    const offers = await view.offers(above);
    if (!offers.some(({ method }) => method === "GET")) continue;
    const listed = mounts.find(({ resource }) => resource.path === above)?.resource;
    const last = decoded(parts[at]!);
    const text = listed === undefined ? await nameCrumb(site, view, above, last) : nameMany(listed);
    crumbs.push({ text, path: above });
  }
  return crumbs;
}

/** Returns the name of a record or of a list below it. Returns a part of a path without a name unchanged. */
async function nameCrumb(site: Site, view: View, path: string, last: string): Promise<string> {
  const { mounts } = site.facts();
  const parts = splitPath(path);
  const record = mounts.find(({ resource }) => fits(splitPath(`${resource.path}/{id}`), parts))?.resource;
  if (record !== undefined) {
    const id = record.id === "integer" ? Number(last) : last;
    const names = record.within === null ? await labelsOf(site, view, record, [id]) : null;
    return excerptText(names?.get(id) ?? nameOne(record, last), inCell.characters);
  }
  const list = mounts.find(({ resource }) => fits(splitPath(resource.path), parts))?.resource;
  return list === undefined ? formatTitle(last) : nameMany(list);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Returns the menu of the user, or the link to the login. */
async function drawWho(site: Site, view: View): Promise<PageContent> {
  const session = resolveAddress(view, SESSION_PATH);
  const { identity } = view;
  const hasSessions = isServed(site, SESSION_PATH);
  if (identity === null) return hasSessions ? drawLoginLink(site, view, session) : "";
  const { id, username, scheme } = identity;
  const name = await findName(view, id);
  const account = resolveAddress(view, ACCOUNT_PATH.replace("{id}", String(id)));
  const known =
    name === null
      ? html`<p><b><bdi>${username}</bdi></b>`
      : html`<p><b><bdi>${name}</bdi></b><br><span class="dim small"><bdi>${username}</bdi></span>`;
  const out = html`<form method="post" action="${session}end/"><input type="hidden" name="next" value="${resolveAddress(view, "/")}"><button class="btn low wide">Log out</button></form>`;
  const [first = ""] = Array.from(name ?? username);
  return html`<details class="menu end who">
    <summary><span class="face" aria-hidden="true">${first.toUpperCase()}</span><bdi>${name ?? username}</bdi></summary>
    <div>
      ${known}</p>
      ${isServed(site, ACCOUNT_PATH) ? html`<a href="${account}">Your account</a>` : ""}
      ${hasSessions && scheme === "session" ? out : ""}
    </div>
  </details>`;
}

/** Returns the name of the user. Returns null if the caller may not read it, or if the service reports an error. */
async function findName(view: View, id: number): Promise<string | null> {
  if (view.status >= 500) return null;
  const name = (await view.values(USERS_PATH, [id], "name"))?.get(id);
  return typeof name === "string" && name !== "" ? name : null;
}

/**
 * Returns the link to the login. If the endpoint checks no credentials, the page does not know the caller. The script
 * of the page then requests the root to find out.
 */
function drawLoginLink(site: Site, view: View, session: string): Markup {
  if (view.wasIdentified || view.status === 401)
    return html`<a class="btn low" href="${loginLink(site, view, session)}">Log in</a>`;
  const asks = isServed(site, "/") ? html` data-login="${resolveAddress(view, "/")}"` : "";
  return html`<a class="btn low" href="${session}"${asks}>Who you are</a>`;
}

/** Returns the address of the login page, which leads back to this page. */
function loginLink(site: Site, view: View, session: string): string {
  if (!hasLoginMethods(site.facts())) return session;
  const login = resolveAddress(view, site.pages.login);
  if (isUnsafe(view.call.method) || view.place?.hidesQuery === true) return login;
  return `${login}?${new URLSearchParams({ next: readTarget(view) }).toString()}`;
}
