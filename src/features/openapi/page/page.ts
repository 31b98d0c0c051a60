import { pageAsset, pageStyle, type Look } from "../../../core/html/look.ts";
import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import { writePage, type Page, type PageLink } from "../../../core/html/page.ts";
import type { JSONObject } from "../json.ts";
import { drawEntry, type Contents } from "./contents.ts";
import { collectMediaTypes, objectAt, collectParameters, resolved, textAt, type Operation } from "./description.ts";
import { docsNav } from "./docs-nav.ts";
import { prose, drawShape, typeWords, type DocumentContext } from "./prose.ts";
import { tryIt } from "./try-it.ts";

/** The parts of an API's pages. */
export interface DocsParts {
  readonly document: JSONObject;
  /** The base path of the service. Empty for the root. */
  readonly basePath: string;
  /** True if the root can be read. Default: true. */
  readonly root?: boolean;
  /** The look of the pages, with the name of the service. Default: as in the document. */
  readonly look?: Look;
  /** The login page. Null if there is none. */
  readonly session: string | null;
  /** The endpoint that names the caller. Null if there is none. */
  readonly who: string | null;
}

// The script never parses data as HTML. With trusted types, the browser also refuses to do so.
const policy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Returns the page that lists all operations of an API. */
export function docsPage(parts: DocsParts, { groups }: Contents): Page {
  const { document, basePath } = parts;
  const { title, version, description } = objectAt(document["info"]);
  const writing = { document, basePath };
  const sections = groups.map(
    ({ tag, description, entries }) => html`<section data-group aria-labelledby="${formatTagId(tag)}">
      <h2 id="${formatTagId(tag)}">${tag}</h2>
      ${description === "" ? "" : html`<p class="dim">${prose(writing, description)}</p>`}
      <ul class="ops wide">${entries}</ul>
    </section> `,
  );
  const main = html`<div class="head">
      <div>
        <h1>${textAt(title)} <small>${textAt(version)}</small></h1>
        ${description === undefined ? "" : html`<p>${prose(writing, description)}</p>`}
      </div>
      <a class="btn" href="${basePath}/openapi.json">OpenAPI document</a>
    </div>
    ${search}${sections}${drawSchemes(writing)}`;
  return written(parts, "API", [], main);
}

/** Returns the page of one operation, with a form to try it. Returns null for an unknown id. */
export function operationPage(parts: DocsParts, contents: Contents, id: string): Page | null {
  const { document, basePath } = parts;
  const operation = contents.byId.get(id);
  if (operation === undefined) return null;
  const { method, path, summary, source } = operation;
  const writing = { document, basePath };
  const main = html`<div class="docs">
      <div class="duo">
        <div class="stack far">
          <p class="only-s small"><a href="#operations">All operations</a></p>
          <div class="head">
            <div>
              <h1>${summary}</h1>
              <p><b class="m ${method.toLowerCase()}">${method}</b> <code>${path}</code></p>
              ${source["description"] === undefined ? "" : html`<p>${prose(writing, source["description"])}</p>`}
            </div>
          </div>
          ${parametersSection(writing, operation)}${bodySection(writing, operation)}${answersSection(writing, operation)}
        </div>
        ${tryIt(writing, operation, parts.who)}
      </div>
    ${drawNavigation(parts, contents, operation)}
  </div>`;
  return written(parts, summary, [{ text: "Operations", path: "/docs" }], main);
}

function written(
  { document, basePath, look, session, who, root = true }: DocsParts,
  title: string,
  crumbs: readonly PageLink[],
  main: Markup,
): Page {
  const named = textAt(objectAt(document["info"])["title"]);
  const shown: Look = look ?? { title: named, style: pageStyle() };
  const page = writePage({
    title,
    look: shown,
    basePath,
    root,
    crumbs,
    main,
    nav: docsNav("/docs"),
    head: [
      [shown.style, pageAsset("developerStyle")].map(
        ({ name }) => html`<link rel="stylesheet" href="${basePath}/docs/${name}">`,
      ),
      (["script", "developer"] as const).map(
        (each) => html`<script src="${basePath}/docs/${pageAsset(each).name}" defer></script>`,
      ),
    ],
    who:
      session === null
        ? ""
        : html`<a class="btn low" href="${basePath}${session}"${who === null ? "" : html` data-login="${basePath}${who}"`}>Who you are</a>`,
    foot: "",
  });
  return { html: page, policy };
}

function formatTagId(tag: string): string {
  return `tag-${tag.replaceAll(/[^a-z0-9]/gi, "-")}`;
}

function drawNavigation({ basePath }: DocsParts, { groups }: Contents, current: Operation): Markup {
  const shown = groups.map(({ tag, operations, entries }) =>
    tag === current.tag
      ? navigationGroup(
          tag,
          html` open`,
          operations.map((each) => drawEntry(basePath, each, current.id)),
        )
      : navigationGroup(tag, "", entries),
  );
  return html`<nav class="ops" id="operations" aria-label="Operations">${search}${shown}</nav>`;
}

/** The search of the operations. It needs the script. */
const search = html`<p data-js hidden><label class="vh" for="find">Search the operations</label><input id="find" type="search" placeholder="Search: users, login, delete" autocomplete="off" data-narrow data-key="/"></p>`;

function navigationGroup(tag: string, open: PageContent, entries: PageContent): Markup {
  return html`<details data-group ${open}><summary>${tag}</summary>
      <ul>${entries}</ul></details>`;
}

function drawSchemes(writing: DocumentContext): PageContent {
  const schemes = objectAt(objectAt(writing.document["components"])["securitySchemes"]);
  const rows = Object.entries(schemes).map(([name, each]) => {
    const { type, scheme, in: place, description } = objectAt(each);
    const kind = [type, scheme ?? place].map(textAt).filter((word) => word !== "");
    return html`<div><dt>${name}</dt><dd>${kind.join(", ")}</dd><dd class="rule">${prose(writing, description)}</dd></div>`;
  });
  if (rows.length === 0) return "";
  return html`<section aria-labelledby="schemes"><h2 id="schemes">Ways to say who you are</h2><dl class="facts-list">${rows}</dl></section>`;
}

function parametersSection(writing: DocumentContext, operation: Operation): PageContent {
  const rows = collectParameters(writing.document, operation).map(
    ({ name, in: place, required, schema, description }) => {
      const resolvedSchema = resolved(writing.document, schema);
      const items = resolvedSchema["items"];
      const words = typeWords(items === undefined ? resolvedSchema : resolved(writing.document, items));
      return html`<div><dt>${textAt(name)} <span class="rule">${textAt(place)}${required === true ? ", required" : ""}</span></dt>
<dd>${words}</dd>${description === undefined ? "" : html`<dd class="rule">${prose(writing, description)}</dd>`}</div>`;
    },
  );
  if (rows.length === 0) return "";
  return html`<section aria-labelledby="parameters"><h2 id="parameters">Parameters</h2><dl class="facts-list">${rows}</dl></section>`;
}

function bodySection(writing: DocumentContext, { source }: Operation): PageContent {
  const content = collectMediaTypes(objectAt(source["requestBody"])["content"]);
  if (content.length === 0) return "";
  const [first, ...others] = drawShapes(writing, content);
  return html`<section class="stack" aria-labelledby="body-told"><h2 id="body-told">Body</h2>${first}${others.length === 0 ? "" : html`<details class="more"><summary>In other media types</summary>${others}</details>`}</section>`;
}

/** Returns each shape once, with its media types. */
function drawShapes(writing: DocumentContext, content: ReturnType<typeof collectMediaTypes>): readonly Markup[] {
  const types = new Map<string, string[]>();
  for (const [type, { schema }] of content) {
    const key = JSON.stringify(schema ?? {});
    types.set(key, [...(types.get(key) ?? []), type]);
  }
  return [...types].map(
    ([schema, names]) =>
      html`<div class="stack near"><p>${names.map((name, at) => html`${at === 0 ? "" : ", "}<code>${name}</code>`)}</p>${drawShape(writing, JSON.parse(schema))}</div>`,
  );
}

function answersSection(writing: DocumentContext, { source }: Operation): Markup {
  const answers = Object.entries(objectAt(source["responses"]));
  const rows = answers.map(([status, each]) => [status, drawAnswer(writing, status, each)] as const);
  const list = (isMistake: boolean): Markup =>
    html`<dl class="facts-list">${rows.filter(([status]) => status >= "400" === isMistake).map(([, row]) => row)}</dl>`;
  return html`<section class="stack" aria-labelledby="answers">
    <h2 id="answers">Answers</h2>
    ${list(false)}
    <details class="more">
      <summary>What can go wrong</summary>
      ${list(true)}
    </details>
  </section>`;
}

function drawAnswer(writing: DocumentContext, status: string, unresolved: unknown): Markup {
  const { description, content } = resolved(writing.document, unresolved);
  const tone = status < "400" ? "" : status < "500" ? "c4" : "c5";
  const shapes = status < "300" ? collectMediaTypes(content).filter(([type]) => type.endsWith("json")) : [];
  const held = html`<details class="more">
    <summary>What it holds</summary>
    ${drawShapes(writing, shapes)}
  </details>`;
  return html`<div>
    <dt><span class="st ${tone}">${status}</span></dt>
    <dd>${prose(writing, description)}${shapes.length === 0 ? "" : held}</dd>
  </div> `;
}
