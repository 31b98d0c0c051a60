import { pageAsset, type Look } from "../../core/html/look.ts";
import { html, type PageContent } from "../../core/html/markup.ts";
import { writePage, type Page, type PageParts } from "../../core/html/page.ts";
import type { CatalogueEntry, Catalogue } from "../../core/problem/catalogue.ts";
import type { ExtensionMembers } from "../../core/problem/extensions.ts";
import { docsNav } from "./page/docs-nav.ts";
import { typeWords } from "./page/prose.ts";

/** The service of a page. */
export interface PageOf extends Look {
  /** The base path of the service. Empty for the root. */
  readonly basePath: string;
  /** True if the root can be read. */
  readonly root: boolean;
}

/** Returns the page for the `type` of a problem: what happened, why, and what to do. */
export function problemPage(code: string, problem: CatalogueEntry, of: PageOf): Page {
  const { basePath } = of;
  const { status, title, detail, why, cure, extensions = {} } = problem;
  const main = html`<div class="head">
      <div>
        <h1>${title}</h1>
        <p>Status <b>${status}</b>, code <code>${code}</code></p>
      </div>
    </div>
    <section>
      <h2>What happened</h2>
      <p>${detail}</p>
    </section>
    <section>
      <h2>Why</h2>
      <p>${why}</p>
    </section>
    <section>
      <h2>What to do</h2>
      <p>${cure}</p>
    </section>
    ${drawExtensions(extensions)}
    <p><a href="${basePath}/problems">All problems</a></p>`;
  return still(of, { title, crumbs: [{ text: "Problems", path: "/problems" }], main });
}

/** Lists the extension members with their types. */
function drawExtensions(extensions: ExtensionMembers): PageContent {
  const rows = Object.entries(extensions).map(([name, { kind, options }]) => {
    const words = [typeWords(kind.schema), options.optional === true ? "may be missing" : ""];
    return html`<div>
      <dt>${name}</dt>
      <dd>${words.filter((each) => each !== "").join(", ")}</dd>
      ${options.description === undefined ? "" : html`<dd class="rule">${options.description}</dd>`}
    </div> `;
  });
  if (rows.length === 0) return "";
  return html`<section>
    <h2>Members of this problem</h2>
    <dl class="facts-list">${rows}</dl>
  </section>`;
}

/** Returns the page that lists all problems by status. */
export function problemIndexPage(catalogue: Catalogue, of: PageOf): Page {
  const { basePath } = of;
  const rows = Object.entries(catalogue).map(
    ([code, { status, title }]) =>
      html`<tr>
        <td>${status}</td>
        <th scope="row"><a href="${basePath}/problems/${code}">${title}</a></th>
        <td><code>${code}</code></td>
      </tr> `,
  );
  const main = html`<div class="head">
      <div>
        <h1>Problems</h1>
        <p>Every error that the service answers with, as <code>application/problem+json</code> (RFC 9457).</p>
      </div>
    </div>
    <div class="scroll" tabindex="0" role="group" aria-label="Problems">
      <table>
        <caption>
          <div>Each with its status, its name and its code</div>
        </caption>
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col">Title</th>
            <th scope="col">Code</th>
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>`;
  return still(of, { title: "Problems", crumbs: [], main });
}

/** Returns a page without scripts. */
function still({ basePath, root, ...look }: PageOf, parts: Pick<PageParts, "title" | "crumbs" | "main">): Page {
  const head = [look.style, pageAsset("developerStyle")].map(
    ({ name }) => html`<link rel="stylesheet" href="${basePath}/docs/${name}">`,
  );
  const of = { look, basePath, root };
  const nav = docsNav("/problems");
  return { html: writePage({ ...parts, ...of, looks: "narrow", head, nav, foot: "", hasKeys: false }), policy };
}

const policy =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
