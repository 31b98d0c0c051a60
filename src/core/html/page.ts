import { linkTo } from "./link.ts";
import type { Look } from "./look.ts";
import { html, type Markup, type PageContent } from "./markup.ts";

/** A page and the Content-Security-Policy that it needs. */
export interface Page {
  readonly html: string;
  readonly policy: string;
}

/** The common parts of all pages. */
interface CommonParts {
  /** The title of this page. */
  readonly title: string;
  /** The name of the service, its mark, and the links of the foot. */
  readonly look: Pick<Look, "title" | "mark" | "logo" | "color" | "links">;
  /** The base path of the service. Empty for the root. */
  readonly basePath: string;
  /** True if the caller can open the root, so that the page links to it. */
  readonly root: boolean;
  /** The content of the head after the title: style and script. */
  readonly head: PageContent;
  readonly main: PageContent;
}

/** A link to a path of the service, without its base path. */
export interface PageLink {
  readonly text: string;
  readonly path: string;
  /** True if the page is this one, or below it. */
  readonly isCurrent?: boolean;
}

/** The parts of a page. */
export interface PageParts extends CommonParts {
  /** The main lists of the service, in the bar. */
  readonly nav: { readonly label: string; readonly links: readonly PageLink[] };
  /** The content at the end of the bar: the user, or the link to the login. */
  readonly who?: PageContent;
  /** The pages above this one, outermost first. */
  readonly crumbs: readonly PageLink[];
  /** The class of the main part: a narrow column is better for forms and texts. */
  readonly looks?: "narrow" | "narrow problem" | "settings";
  /** The content of the foot, after the name of the service. */
  readonly foot?: PageContent;
  /** False for a page without keys. Default: true. */
  readonly hasKeys?: boolean;
}

/** Writes a page: the bar, the main part, and the foot. */
export function writePage(parts: PageParts): string {
  const { main, foot, who, looks, nav, hasKeys = true } = parts;
  return writeDocument(
    parts,
    "",
    html`<header class="bar">
  ${drawBrand(parts)}
  ${nav.links.length === 0 ? "" : html`<nav aria-label="${nav.label}"><ul>${drawLinks(parts, nav.links)}</ul></nav>`}
  ${who}
</header>
<main id="main"${looks === undefined ? "" : html` class="${looks}"`} tabindex="-1">
${parts.crumbs.length === 0 ? "" : html`<nav class="crumbs" aria-label="You are in"><ol>${drawLinks(parts, parts.crumbs)}</ol></nav>`}${main}
</main>
${
  foot === undefined
    ? ""
    : html`<footer class="foot">
  <p>${parts.look.title}${drawFootLinks(parts)}${hasKeys ? html` <span data-js hidden>· <button class="btn link small" type="button" popovertarget="keys">Keyboard</button></span>` : ""}</p>
  ${foot}
</footer>`
}
${hasKeys ? keys : ""}`,
  );
}

/** The parts of a card: a page with one form or one sentence, without a bar. */
export interface CardParts extends CommonParts {
  /** The content below the card. */
  readonly foot?: PageContent;
}

/** Writes a page with one card, for people who log in or manage their login. */
export function writeCard(parts: CardParts): string {
  const links = drawFootLinks(parts, "");
  return writeDocument(
    parts,
    html` class="quiet"`,
    html`<header>${drawBrand(parts)}</header>
<main id="main" class="card" tabindex="-1">
${parts.main}
</main>
${parts.foot === undefined && links === "" ? "" : html`<footer>${parts.foot}${links === "" ? "" : html`<p class="small">${links}</p>`}</footer>`}`,
  );
}

function writeDocument(parts: CommonParts, looks: PageContent, body: Markup): string {
  const { title, look, head } = parts;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="referrer" content="same-origin" />
<title>${title} · ${look.title}</title>
<link rel="icon" href="${drawIcon(look)}" />
${head}
</head>
<body${looks}>
<a class="skip" href="#main">Skip to content</a>
${body}
<p class="said" role="status" data-said></p>
</body>
</html>
`.toString();
}

/** Returns the first letter of the service's name, which is its mark. */
function readLetter(service: string): string {
  const [first] = segmenter.segment(service.trim());
  return first?.segment.toUpperCase() ?? "";
}

const segmenter = new Intl.Segmenter();

function drawIcon({ title, mark = readLetter(title), color = "#3a4bbd" }: CommonParts["look"]): string {
  const letters = encodeURIComponent(html`${mark}`.toString());
  return `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 28 28'%3E%3Crect width='28' height='28' rx='7' fill='${encodeURIComponent(color)}'/%3E%3Ctext x='14' y='20' text-anchor='middle' font-family='system-ui,sans-serif' font-size='17' font-weight='700' fill='%23fff'%3E${letters}%3C/text%3E%3C/svg%3E`;
}

function drawBrand({ basePath, root, look }: CommonParts): Markup {
  const { title, logo, mark = readLetter(title) } = look;
  const image =
    logo === undefined ? html`<span class="mark" aria-hidden="true">${mark}</span>` : html`<img src="${logo}" alt="">`;
  const words = html`${image}<span>${title}</span>`;
  return root ? html`<a class="brand" href="${basePath}/">${words}</a>` : html`<span class="brand">${words}</span>`;
}

/** Writes the links that the service has on every page. Returns nothing if there are none. */
function drawFootLinks({ look: { links = [] }, basePath }: CommonParts, before = " · "): PageContent {
  if (links.length === 0) return "";
  return links.map(
    ({ text, href }, at) =>
      html`${at === 0 ? before : " · "}<a href="${href.startsWith("/") ? basePath + href : href}">${text}</a>`,
  );
}

function drawLinks({ basePath }: CommonParts, links: readonly PageLink[]): readonly Markup[] {
  return links.map(
    ({ text, path, isCurrent }) =>
      html`<li><a href="${linkTo(basePath + path)}"${isCurrent === true ? html` aria-current="page"` : ""}>${text}</a></li>`,
  );
}

const keys = html`<div class="pop" id="keys" popover role="dialog" aria-labelledby="keys-title">
  <h2 id="keys-title">Keyboard</h2>
  <dl class="kv">
    <div><dt><kbd>/</kbd></dt><dd>Search</dd></div>
    <div><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>Next and previous row</dd></div>
    <div><dt><kbd>[</kbd> <kbd>]</kbd></dt><dd>Previous and next page</dd></div>
    <div><dt><kbd>n</kbd> <kbd>e</kbd></dt><dd>New, edit</dd></div>
    <div><dt><kbd>u</kbd></dt><dd>Up</dd></div>
    <div><dt><kbd>c</kbd></dt><dd>Copy this request as curl</dd></div>
  </dl>
  <label class="pick"><input id="keys-on" type="checkbox"> <span>Use these keys</span></label>
  <p><button class="btn" type="button" popovertarget="keys" popovertargetaction="hide">Close</button></p>
</div>`;
