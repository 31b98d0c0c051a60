import { isUnsafe } from "../../core/call/cross-site.ts";
import { html, type PageContent, type Markup } from "../../core/html/markup.ts";
import { writePage } from "../../core/html/page.ts";
import type { View } from "../../http/request/view.ts";
import { formatCurl, inFormat, readTarget, withParameters } from "./addresses.ts";
import { hasLoginMethods, PASSKEY_PATH, SESSION_PATH } from "./login-methods.ts";
import { isReadable, isServed, splitPath } from "./paths.ts";
import { resolveAddress, type Drawn, type Site } from "./site.ts";
import { statusText } from "./status-text.ts";
import { WHY_PATH } from "./why.ts";

/** The path of an account, with everything that its user or an administrator can do with it. */
export const ACCOUNT_PATH = "/users/{id}/account";

/** Writes a whole page: the bar with the path and the caller, the response in one line, the main part, and the foot. */
export function writeFramed(site: Site, view: View, { title, main, narrow }: Drawn, requestId?: string): string {
  const { style, script, passkeys } = site.assets;
  const hasPasskeys = isServed(site, PASSKEY_PATH, "POST");
  return writePage({
    title,
    service: site.title,
    basePath: view.basePath,
    // The root always has a page. Without an endpoint there, this page lists the resources.
    root: true,
    ...(site.logo === undefined ? {} : { logo: site.logo }),
    head: html`<link rel="stylesheet" href="${style}" />
      <script src="${script}" defer></script>${hasPasskeys ? html` <script src="${passkeys}" defer></script>` : ""}`,
    crumbs: collectCrumbs(site, view),
    tools: drawTools(site, view),
    strip: drawStrip(site, view),
    main,
    narrow: narrow ?? false,
    foot: drawFoot(site, view, requestId),
    rest: keys,
  });
}

function collectCrumbs(site: Site, { call, basePath }: View): readonly (readonly [string, string | null])[] {
  const path = call.path.startsWith(basePath) ? call.path.slice(basePath.length) : call.path;
  const parts = splitPath(path);
  return parts.slice(0, 12).map((part, at) => {
    const to = `/${parts.slice(0, at + 1).join("/")}`;
    const isThere = at === parts.length - 1 || isReadable(site, to);
    // The explanation page needs the URL that it explains, so the path gets no link.
    return [decoded(part), isThere && to !== WHY_PATH ? to : null];
  });
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function drawTools(site: Site, view: View): PageContent {
  const docs = isServed(site, "/docs") ? html`<a href="${resolveAddress(view, "/docs")}">Docs</a>` : "";
  const session = resolveAddress(view, SESSION_PATH);
  const { identity } = view;
  const hasSessions = isServed(site, SESSION_PATH);
  if (identity === null) return html`${docs}${hasSessions ? drawLoginLink(site, view, session) : ""}`;
  const { username, role, scheme } = identity;
  const out = html`<form method="post" action="${session}end/">
    <input type="hidden" name="next" value="${resolveAddress(view, "/")}" /><button class="btn">Log out</button>
  </form>`;
  return html`${docs}
    <details class="menu end">
      <summary>
        <span class="face" aria-hidden="true">${username.slice(0, 1).toUpperCase()}</span><bdi>${username}</bdi>
      </summary>
      <div>
        <p class="small dim">${describeRole(role)}, known by ${scheme}</p>
        ${isServed(site, ACCOUNT_PATH) ? html`<a href="${resolveAddress(view, ACCOUNT_PATH.replace("{id}", String(identity.id)))}">Your account</a>` : ""}
        ${hasSessions ? html`<a href="${session}">Who you are</a>` : ""}${hasSessions && scheme === "session" ? out : ""}
      </div>
    </details>`;
}

/**
 * Returns the link to the login. If the endpoint checks no credentials, the page does not know the caller. The script
 * of the page then requests the root to find out.
 */
function drawLoginLink(site: Site, view: View, session: string): Markup {
  if (view.wasIdentified || view.status === 401) return html`<a href="${loginLink(site, view, session)}">Log in</a>`;
  const asks = isServed(site, "/") ? html` data-login="${resolveAddress(view, "/")}"` : "";
  return html`<a href="${session}"${asks}>Who you are</a>`;
}

/** Returns the address of the login page, which leads back to this page. */
function loginLink(site: Site, view: View, session: string): string {
  if (!hasLoginMethods(site.facts())) return session;
  const login = resolveAddress(view, site.pages.login);
  if (isUnsafe(view.call.method) || view.place?.hidesQuery === true) return login;
  return `${login}?${new URLSearchParams({ next: readTarget(view) }).toString()}`;
}

function hasXML({ facts }: Site): boolean {
  const { xml, formats } = facts();
  return xml || formats.some(({ mediaType }) => mediaType === "application/xml");
}

/** Returns the response in one line: the request, the status, and buttons for the same request by a program. */
function drawStrip(site: Site, view: View): Markup {
  const { call, status, tag } = view;
  const target = shownTarget(view);
  const classes = status >= 500 ? "st c5" : status >= 400 ? "st c4" : "st";
  // The page shows the response to HEAD as if it were the response to GET, because the header fields are the same.
  const method = call.method === "HEAD" ? "GET" : call.method;
  const isRead = method === "GET";
  const formats = html`<nav class="seg" aria-label="Format">
    <a href="${withParameters(view, {})}" aria-current="true">HTML</a
    ><a href="${inFormat(view, "json")}" type="application/json">JSON</a
    >${hasXML(site) ? html`<a href="${inFormat(view, "xml")}" type="application/xml">XML</a>` : ""}
  </nav>`;
  return html`<section class="answer" aria-label="This answer">
    <p><b class="m ${method.toLowerCase()}">${method}</b> <span class="path">${target}</span></p>
    <p class="facts">
      <span class="${classes}">${statusText(status)}</span
      ><span data-timing></span>${tag === null ? "" : html`<span>ETag <code>${tag}</code></span>`}
    </p>
    <div class="row">
      ${isRead ? formats : ""}${isRead ? html`<button class="btn low" type="button" data-js hidden data-key="c" data-text="${formatCurl(view, target)}">Copy as curl</button><a href="${resolveWhyAddress(view, target)}">Why?</a>` : ""}
    </div>
  </section>`;
}

/**
 * Returns the path and query of the request. Hides the token of a link, because the token gives access to an account.
 */
function shownTarget(view: View): string {
  return readTarget(view).replace(/([?&]token=)[^&]+/g, "$1…");
}

function resolveWhyAddress(view: View, target: string): string {
  return `${resolveAddress(view, WHY_PATH)}?${new URLSearchParams({ of: target }).toString()}`;
}

function drawFoot(site: Site, view: View, requestId: string | undefined): Markup {
  const links = (
    [
      ["/docs", "Docs"],
      ["/openapi.json", "OpenAPI"],
      ["/problems", "Problems"],
      ["/readyz", "Ready?"],
    ] as const
  ).filter(([path]) => isServed(site, path));
  return html`${requestId === undefined ? "" : html`<p>Request <code>${requestId}</code></p>`}
    <nav aria-label="Service">
      ${links.map(([path, words]) => html`<a href="${resolveAddress(view, path)}">${words}</a>`)}
    </nav>
    <noscript><p>Reading and logging in work without JavaScript. Changing things needs it.</p></noscript>
    <p data-js hidden>Press <kbd>?</kbd> for keys</p>`;
}

const keys = html`<dialog aria-labelledby="keys-title">
    <h2 id="keys-title">Keys</h2>
    <dl class="kv">
<dt><kbd>/</kbd></dt><dd>Search this list</dd>
      <dt><kbd>j</kbd> <kbd>k</kbd></dt>
      <dd>Next and previous row</dd>
      <dt><kbd>[</kbd> <kbd>]</kbd></dt>
      <dd>Previous and next page</dd>
      <dt><kbd>n</kbd> <kbd>e</kbd></dt>
      <dd>New record, edit this one</dd>
      <dt><kbd>u</kbd></dt>
      <dd>Up one level of the path</dd>
      <dt><kbd>c</kbd></dt>
      <dd>Copy this request as curl</dd>
    </dl>
    <form method="dialog" class="row">
      <label><input id="keys-off" type="checkbox" /> Turn these keys off</label> <button class="btn">Close</button>
    </form>
  </dialog>
  <p class="said" role="status" data-said></p>`;

/** Returns the name of a role. The two built-in roles have names for people, others appear as declared. */
function describeRole(role: string): string {
  return role === "admin" ? "Administrator" : role === "user" ? "User" : role;
}
