import type { Carrier } from "../../../access/scheme/scheme.ts";
import { isObject } from "../../../core/checking/members.ts";
import { html, type PageContent, type Markup } from "../../../core/html/markup.ts";
import type { View } from "../../../http/request/view.ts";
import { formatTitle } from "../../../resource/record-labels.ts";
import { formatCurl } from "../addresses.ts";
import { writeLoginForm } from "../forms/login-form.ts";
import { code, column, methodTag, table } from "../parts.ts";
import { resolveAddress, type Drawing, type Drawn, type Site } from "../site.ts";

/**
 * Draws the start page: the resources, the caller's actions, and the login methods. Returns null if the response of
 * the root is of another kind.
 */
export async function drawRoot(drawing: Drawing): Promise<Drawn | null> {
  const { value } = drawing.body;
  if (!isObject(value) || !isObject(value["links"]) || !isObject(value["links"]["resources"])) return null;
  const { caller, problem, links } = value;
  const main = html`<div class="head"><div><h1>This is an API that you can read</h1>
<p>Programs get JSON or XML from these addresses. Your browser gets pages. It is the same service, with the same rules.</p></div></div>
<div class="split">
<div class="stack far">
${isObject(problem) ? drawRefusal(problem) : ""}
<section aria-labelledby="resources"><h2 id="resources">Resources</h2>
${await drawResources(drawing)}</section>
<section aria-labelledby="first"><h2 id="first">A request from a program</h2>
${code("curl", "For a shell", "the command", formatCommand(drawing))}</section>
<section aria-labelledby="ways"><h2 id="ways">Ways to say who you are</h2>
${drawSchemes(drawing)}</section>
</div>
<aside class="side" aria-label="You and this service">
<section><h2>${isObject(caller) ? "You" : "Log in"}</h2>${isObject(caller) ? drawCaller(caller) : writeLoginForm(drawing.site, drawing.view)}</section>
<section><h2>Read more</h2><ul class="stack near">${Object.entries(links).flatMap(([name, path]) => (typeof path === "string" ? [html`<li><a href="${path}">${name === "openapi" ? "OpenAPI" : formatTitle(name)}</a></li>`] : []))}</ul></section>
</aside>
</div>`;
  return { title: "Root", main };
}

/** Draws the resources of a service without an endpoint at its root: a link to each list. */
export function drawWithoutRoot(site: Site, view: View): Markup {
  const listed = site
    .facts()
    .mounts.filter(
      ({ resource, permissions, older }) =>
        resource.within === null && older === null && permissions.list !== undefined,
    );
  const items = listed.map(
    ({ resource: { path, description } }) =>
      html`<li><a class="mono" href="${resolveAddress(view, path)}">${path}</a> <span class="rule">${description}</span></li> `,
  );
  return html`<section aria-labelledby="resources"><h2 id="resources">Resources</h2>
<ul class="stack near">${items}</ul></section>`;
}

function drawRefusal({ detail }: Readonly<Record<string, unknown>>): Markup {
  return html`<div class="note bad" role="alert"><h2>Your credentials were rejected</h2><p>${String(detail)}</p></div>`;
}

/** Returns each resource, with the caller's actions on the collection. */
async function drawResources({ site, view }: Drawing): Promise<Markup> {
  const rows = await Promise.all(
    site.facts().mounts.map(async ({ resource: { path, within, description } }): Promise<PageContent> => {
      const offers = within === null ? await view.offers(path) : [];
      const may = offers.filter(({ name }) => name === null).map(({ method }) => html`${methodTag(method)} `);
      const isReadable = offers.some(({ action }) => action === "list");
      const words =
        within === null ? (may.length === 0 ? "nothing" : may) : html`<span class="dim">by ${within.name}</span>`;
      const name = isReadable
        ? html`<a class="mono" href="${resolveAddress(view, path)}">${path}</a>`
        : html`<span class="mono">${path}</span>`;
      return html`<tr><th scope="row">${name}</th><td>${description}</td><td>${words}</td></tr>
`;
    }),
  );
  return table(
    "The resources, and what you may do with them",
    ["Path", "Description", "You may"].map((name) => column(name)),
    rows,
  );
}

function formatCommand({ view, site }: Drawing): string {
  const path = site.facts().mounts.find(({ resource }) => resource.within === null)?.resource.path ?? "/";
  return `${formatCurl(view, resolveAddress(view, path))} -H 'Authorization: Bearer ACCESS_TOKEN'`;
}

function drawSchemes({ site }: Drawing): Markup {
  const places = site
    .facts()
    .schemes.flatMap(({ name, carriers }) => carriers.map((each) => `${name}\n${describePlace(each)}`));
  const rows = [...new Set(places)].map((each) => {
    const [name, place] = each.split("\n");
    return html`<tr><th scope="row">${name}</th><td>${place}</td></tr>
`;
  });
  return table(
    "Their order never changes an answer",
    ["Scheme", "Sent in"].map((name) => column(name)),
    rows,
  );
}

function describePlace(carrier: Carrier): string {
  if (carrier.in === "authorization") return `Authorization: ${formatTitle(carrier.scheme)} …`;
  if (carrier.in === "cookie") return `the cookie ${carrier.name}`;
  return carrier.in === "proxy" ? `${carrier.name}, from a trusted proxy` : carrier.name;
}

function drawCaller(caller: Readonly<Record<string, unknown>>): Markup {
  const { user, username, role, scheme } = caller;
  const name = isObject(user) ? user["name"] : username;
  return html`<dl class="kv"><div><dt>Name</dt><dd><bdi>${String(name)}</bdi></dd></div><div><dt>Role</dt><dd>${String(role)}</dd></div><div><dt>Scheme</dt><dd>${String(scheme)}</dd></div></dl>`;
}
