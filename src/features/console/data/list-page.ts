import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { Field } from "../../../resource/declaration/field.ts";
import { nameField } from "../../../resource/record-labels.ts";
import type { Resource } from "../../../resource/resource.ts";
import { findParameter, readLinks, readParameters, withParameters } from "../addresses.ts";
import { actionButtons, actionForms } from "../forms/actions.ts";
import { goingNote } from "../parts.ts";
import { nameInSentence, nameMany, type Drawing, type Drawn } from "../site.ts";
import { inviteLink } from "./invitations-page.ts";
import { drawChips, drawFilters, retainedInputs } from "./list-filters.ts";
import { drawRecordTable, findOrder, type ListedRow } from "./list-table.ts";

/** Draws a list: search, filters and order, one page of records, and a link to the form of a new one. */
export async function drawList(drawing: Drawing, resource: Resource, rows: readonly ListedRow[]): Promise<Drawn> {
  const { offers, view } = drawing;
  const title = nameMany(resource);
  const create = offers.some(({ action, name }) => action === "create" && name === null);
  const lead = resource.description === null ? "" : html`<p class="lead">${resource.description}</p>`;
  const isWhole = isEverything(drawing, resource);
  const isEmpty = rows.length === 0 && isWhole;
  const added = create && !isEmpty ? newLink(drawing, resource) : "";
  const narrowed = new URLSearchParams(readParameters(view).map(([name, value]) => [name, value]));
  const invite = await inviteLink(drawing.site, view, drawing.path, narrowed);
  const actions = actionButtons(drawing);
  // A single button stays beside the title on a phone.
  const isSingle = actions.length === 0 && invite === "";
  const buttons = isSingle ? added : html`<div class="row">${actions}${invite}${added}</div>`;
  const shown =
    rows.length === 0
      ? drawEmpty(drawing, resource, { create, isWhole })
      : html`${await drawRecordTable(drawing, {
          caption: countRows(rows, resource),
          resource,
          rows,
          path: drawing.path,
          label: `${title}, table`,
          isSorted: true,
        })}${drawPager(drawing)}`;
  const tools = isEmpty
    ? ""
    : html`<div class="row">${drawSearch(drawing, resource)}${await drawFilters(drawing, resource)}${drawSort(drawing, resource)}</div>`;
  const main = html`<div class="head">
  <div><h1>${title}</h1>${lead}</div>
  ${buttons}
</div>
${goingNote(view)}
<div class="stack">
${tools}${await drawChips(drawing, resource)}${shown}
</div>
${await actionForms(drawing)}`;
  return { title, main };
}

function newLink({ view }: Drawing, resource: Resource): Markup {
  return html`<a class="btn main" href="${view.call.path}?form=new" data-key="n">New ${nameInSentence(resource)}</a>`;
}

function countRows(rows: readonly ListedRow[], resource: Resource): string {
  const words = rows.length === 1 ? nameInSentence(resource) : nameMany(resource).toLowerCase();
  return `${rows.length} ${words} on this page`;
}

/** True if no filter and no search leave records out. */
function isEverything({ view }: Drawing, { search }: Resource): boolean {
  const ofOrder = ["limit", "sort", "fields", "expand", ...(search.length === 0 ? ["search"] : [])];
  return readParameters(view).every(([name]) => ofOrder.includes(name));
}

/** Returns the search form, if the declaration allows a search. */
function drawSearch({ view }: Drawing, resource: Resource): PageContent {
  if (resource.search.length === 0) return "";
  const words = `Search ${nameMany(resource).toLowerCase()}`;
  return html`<form class="find" role="search" action="${view.call.path}">${retainedInputs(view, (name) => name === "search")}
<label class="vh" for="search">${words}</label>
<input id="search" name="search" type="search" placeholder="${words}" value="${findParameter(view, "search") ?? ""}" autocomplete="off" data-key="/">
<button class="btn">Search</button></form>`;
}

/** Returns the orders of the list as links, in words. */
function drawSort(drawing: Drawing, resource: Resource): PageContent {
  const order = findOrder(drawing, resource);
  const links = resource.sorts.flatMap((name) => {
    const field = Object.hasOwn(resource.fields, name) ? resource.fields[name]! : null;
    // The order of ids and of words says nothing to a person.
    if (field?.kind.references !== undefined || field?.kind.tone !== undefined) return [];
    const words = wordsOfOrder(name, field, resource);
    return words.map((each, at) => {
      const isThis = order !== null && order.name === name && order.descending === (at === 1);
      const sort = at === 1 ? `-${name}` : name;
      return html`<li><a href="${withParameters(drawing.view, { sort })}"${isThis ? html` aria-current="true"` : ""}>${each}</a></li>`;
    });
  });
  if (links.length <= 2) return "";
  return html`<details class="menu"><summary class="btn">Sort</summary><div><ul>${links}</ul></div></details>`;
}

/** Returns the words for an order and for its reverse. */
function wordsOfOrder(name: string, field: Field | null, { id }: Resource): readonly string[] {
  if (field === null) return id === "integer" ? ["Oldest first", "Newest first"] : [];
  const label = nameField(name, field);
  const both = (one: string, other: string): readonly string[] => [`${label}, ${one}`, `${label}, ${other}`];
  switch (field.kind.column.type) {
    case "date":
    case "date-time":
      return both("first to last", "last to first");
    case "integer":
    case "decimal":
    case "double":
      return both("lowest first", "highest first");
    case "boolean":
      return both("no first", "yes first");
    case "text":
    case "json":
      return both("A to Z", "Z to A");
  }
}

interface EmptyList {
  readonly create: boolean;
  readonly isWhole: boolean;
}

function drawEmpty(drawing: Drawing, resource: Resource, { create, isWhole }: EmptyList): Markup {
  const { view, offers } = drawing;
  const many = nameMany(resource).toLowerCase();
  if (!isWhole)
    return html`<div class="empty">
  <h2>No ${nameInSentence(resource)} fits</h2>
  <p class="dim">Remove a filter above, or see all of them.</p>
  <p class="row"><a class="btn" href="${view.call.path}">All ${many}</a></p>
</div>`;
  if (!create)
    return html`<div class="empty">
  <h2>No ${many} yet</h2>
  <p class="dim">This list has only those that you may see.</p>
</div>`;
  const isFiled = offers.some(({ action, name, repeatable }) => action === "create" && name === null && repeatable);
  const file = isFiled ? html` <a class="btn" href="${view.call.path}?form=new#import">Bring from a file</a>` : "";
  return html`<div class="empty">
  <h2>No ${many} yet</h2>
  <p class="dim">Start with the first one${isFiled ? ", or bring a list of them from a file" : ""}.</p>
  <p class="row">${newLink(drawing, resource)}${file}</p>
</div>`;
}

/** Returns the links to the pages around this one, and the button that counts all records. */
function drawPager({ view }: Drawing): PageContent {
  const links = readLinks(view);
  const { prev, next, first } = links;
  if (prev === undefined && next === undefined) return "";
  const to = (at: string | undefined, rel: string, words: string, key: string): PageContent =>
    at === undefined ? "" : html`<a class="btn low" href="${at}" rel="${rel}" data-key="${key}">${words}</a>`;
  const start = prev === undefined || first === undefined ? "First page" : html`<a href="${first}">First page</a>`;
  const count = html`<span data-js hidden> · <button class="btn link" type="button" data-count="${withParameters(view, { limit: "1" })}">Count all</button></span>`;
  return html`<nav class="pager" aria-label="Pages"><span class="dim">${start}${count}</span>
<span class="row">${to(prev, "prev", "Previous page", "[")}${to(next, "next", "Next page", "]")}</span></nav>`;
}
