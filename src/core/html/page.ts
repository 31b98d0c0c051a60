import { linkTo } from "./link.ts";
import { html, type Markup, type PageContent } from "./markup.ts";

/** A page and the Content-Security-Policy that it needs. */
export interface Page {
  readonly html: string;
  readonly policy: string;
}

/** The parts of a page. */
export interface PageParts {
  /** The title of this page. */
  readonly title: string;
  /** The name of the service. */
  readonly service: string;
  /** The base path of the service. Empty for the root. */
  readonly basePath: string;
  /** True if the caller can open the root, so that the page links to it. */
  readonly root: boolean;
  /** The content of the head after the title: style and script. */
  readonly head: PageContent;
  /**
   * The steps to this page after the root, outermost first. Each has its text, and its address if the caller can open
   * it.
   */
  readonly crumbs: readonly (readonly [text: string, path: string | null])[];
  /** The content at the end of the bar. */
  readonly tools?: PageContent;
  /** The content between the bar and the main part. */
  readonly strip?: PageContent;
  readonly main: PageContent;
  /** True for a narrow column, in which forms and texts are easier to read. */
  readonly narrow?: boolean;
  readonly foot?: PageContent;
  /** The content after everything else. */
  readonly rest?: PageContent;
  /** The logo, instead of the key next to the service's name. */
  readonly logo?: string;
}

/** Writes a page: the bar with the path to it, the main part, and the footer. */
export function writePage(parts: PageParts): string {
  const { title, service, head, tools, strip, main, foot, rest } = parts;
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="same-origin" />
        <title>${title} · ${service}</title>
        <link rel="icon" href="${icon}" />
        ${head}
      </head>
      <body>
        <a class="skip" href="#main">Skip to content</a>
        <header class="bar">
          ${toRoot(parts, html` class="brand"`, html`${renderLogo(parts)} ${service}`)}
          ${renderCrumbs(parts)}
          <nav class="tools" aria-label="Console">${tools}</nav>
        </header>
        ${strip}
        <main id="main" tabindex="-1" ${parts.narrow === true ? html` class="narrow"` : ""}>${main}</main>
        <footer class="foot">${foot}</footer>
        ${rest}
      </body>
    </html> `;
  return page.toString();
}

const key = html`<circle cx="6.6" cy="10" r="4.1" /><path d="M10.7 10h7.3M15 10v3M18 10v2.2" />`;
const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 20 20' fill='none' stroke='%236474e8' stroke-width='2' stroke-linecap='round'%3E%3Ccircle cx='6.6' cy='10' r='4.1'/%3E%3Cpath d='M10.7 10h7.3M15 10v3M18 10v2.2'/%3E%3C/svg%3E";

function renderLogo({ logo }: PageParts): Markup {
  if (logo !== undefined) return html`<img src="${logo}" alt="" height="20" />`;
  return html`<svg
    viewBox="0 0 20 20"
    width="20"
    height="20"
    fill="none"
    stroke="currentColor"
    stroke-width="1.9"
    stroke-linecap="round"
    aria-hidden="true"
  >
    ${key}
  </svg>`;
}

function toRoot({ basePath, root }: PageParts, attributes: Markup, words: Markup): Markup {
  return root ? html`<a${attributes} href="${basePath}/">${words}</a>` : html`<span${attributes}>${words}</span>`;
}

function renderCrumbs(parts: PageParts): Markup {
  const { crumbs, basePath } = parts;
  const current = html` aria-current="page"`;
  const steps = crumbs.map(([text, path], at) => {
    const isLast = at === crumbs.length - 1 ? current : "";
    return path === null
      ? html`<li><span${isLast}>${text}</span></li>`
      : html`<li><a href="${linkTo(basePath + path)}"${isLast}>${text}</a></li>`;
  });
  return html`<nav class="crumbs" aria-label="Path">
    <ol>
      <li>
        ${toRoot(parts, crumbs.length === 0 ? current : html``, html`/<span class="vh"> root</span>`)}
      </li>
      ${steps}
    </ol>
  </nav>`;
}
