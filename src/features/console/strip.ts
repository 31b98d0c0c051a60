import { html, type Markup } from "../../core/html/markup.ts";
import type { View } from "../../http/request/view.ts";
import { formatCurl, inFormat, readTarget } from "./addresses.ts";
import { isServed } from "./paths.ts";
import { resolveAddress, type Site } from "./site.ts";
import { statusText } from "./status-text.ts";
import { WHY_PATH } from "./why.ts";

/**
 * Returns what only developers need, in one fold: the request, the status, and links to the same response for a
 * program. The script remembers whether it was open.
 */
export function drawStrip(site: Site, view: View, requestId: string | undefined): Markup {
  const { call, status, tag, identity } = view;
  const target = shownTarget(view);
  const tone = status >= 500 ? "st c5" : status >= 400 ? "st c4" : "st";
  // The page shows the response to HEAD as if it were the response to GET, because the header fields are the same.
  const method = call.method === "HEAD" ? "GET" : call.method;
  const isOpen = site.opensAPI && identity?.role === "admin";
  const facts = [
    html`<span class="${tone}">${statusText(status)}</span> <span data-timing></span>`,
    tag === null ? "" : html` <span>ETag <code>${tag}</code></span>`,
    requestId === undefined ? "" : html` <span>Request <code>${requestId}</code></span>`,
  ];
  return html`<details class="api" data-keep="api"${isOpen ? html` open` : ""}>
    <summary class="btn low">API</summary>
    <div class="strip">
      <p><b class="m">${method}</b> <code class="path">${target}</code></p>
      <p class="facts">${facts}</p>
      <p class="facts">${method === "GET" ? drawReads(site, view, target) : ""}${drawDocs(site, view)}</p>
    </div>
  </details>`;
}

/** Returns the links that repeat a read: in other formats, with the reasons, and as a command. */
function drawReads(site: Site, view: View, target: string): Markup {
  const xml = html` <a href="${inFormat(view, "xml")}" type="application/xml">XML</a>`;
  const why = `${resolveAddress(view, WHY_PATH)}?${new URLSearchParams({ of: target }).toString()}`;
  return html`<a href="${inFormat(view, "json")}" type="application/json">JSON</a>${hasXML(site) ? xml : ""} <a href="${why}">Why?</a>
<button class="btn low" type="button" data-js hidden data-key="c" data-copy data-text="${formatCurl(view, target)}">Copy as curl</button> `;
}

function drawDocs(site: Site, view: View): readonly Markup[] {
  const links = [
    ["/docs", "Docs"],
    ["/openapi.json", "OpenAPI"],
    ["/problems", "Problems"],
    ["/readyz", "Ready?"],
  ] as const;
  return links
    .filter(([path]) => isServed(site, path))
    .map(([path, words]) => html`<a href="${resolveAddress(view, path)}">${words}</a> `);
}

function hasXML({ facts }: Site): boolean {
  const { xml, formats } = facts();
  return xml || formats.some(({ mediaType }) => mediaType === "application/xml");
}

/**
 * Returns the path and query of the request. Hides the token of a link, because the token gives access to an account.
 */
function shownTarget(view: View): string {
  return readTarget(view).replace(/([?&]token=)[^&]+/g, "$1…");
}
