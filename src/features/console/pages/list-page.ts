import { isUnsafe } from "../../../core/call/cross-site.ts";
import { html, type PageContent, type Markup } from "../../../core/html/markup.ts";
import type { View } from "../../../http/request/view.ts";
import { inTurns } from "../../../http/scheduling/slices.ts";
import { formatDefaultSort } from "../../../resource/default-sort.ts";
import { shownFields, type Resource } from "../../../resource/resource.ts";
import { readLinks, findParameter, readParameters, withParameters } from "../addresses.ts";
import { excerptText, inCell } from "../excerpt.ts";
import { actionButtons, actionForms } from "../forms/actions.ts";
import { writeForm } from "../forms/form.ts";
import { writeImport } from "../forms/import-form.ts";
import { writeRaw } from "../forms/raw-form.ts";
import { column, goingNote, table } from "../parts.ts";
import { resolveAddress, nameInSentence, nameMany, recordAddress, type Drawing, type Drawn } from "../site.ts";
import { isNumeric, showValue } from "../values.ts";
import { drawChips, drawFilters, retainedInputs } from "./filters.ts";

type ListedRow = Readonly<Record<string, unknown>>;

/** Draws a collection: filters, order, columns, one page of records, and a form to create one. */
export async function drawList(drawing: Drawing, resource: Resource, rows: readonly ListedRow[]): Promise<Drawn> {
  const { offers } = drawing;
  const title = nameMany(resource);
  const one = nameInSentence(resource);
  const create = offers.find(({ action }) => action === "create");
  const isEmpty = rows.length === 0;
  const shown = isEmpty ? drawEmpty(drawing, resource, create !== undefined) : await drawTable(drawing, resource, rows);
  const main = html`<div class="head">
      <div>
        <h1>${title}</h1>
        ${resource.description === null ? "" : html`<p>${resource.description}</p>`}
      </div>
      <div class="row">
        ${actionButtons(drawing)}${create === undefined ? "" : html`<a class="btn main" href="#new" data-key="n">New ${one}</a>`}
      </div>
    </div>
    ${goingNote(drawing.view)}
    <section aria-label="${title}" class="stack">
      <div class="row">${drawSearch(drawing, resource)}${drawFilters(drawing, resource)}${drawViewMenu(drawing, resource)}${drawChips(drawing, resource)}</div>
      <div>${shown} ${drawPager(drawing)}</div>
    </section>
    ${
      create === undefined
        ? ""
        : html`<section aria-labelledby="new" class="stack">
            <h2 id="new" tabindex="-1">New ${one}</h2>
            ${writeForm({ view: drawing.view, choices: drawing.choices, offer: create, does: `Add ${one}` })}
            ${writeRaw({ view: drawing.view, offers: [create] })} ${create.repeatable ? writeImport(drawing.view, create, resource.plural) : ""}
          </section>`
    }${actionForms(drawing)}`;
  return { title, main };
}

/**
 * The maximum number of characters of the drawn rows after a request with an array. The pages of a list have a separate
 * limit.
 */
const MOST_DRAWN = 2 * 1024 * 1024;

/**
 * Draws the rows, and lets other requests run in between. Draws only the first records of an array that was sent,
 * because the array may have 8 MiB.
 */
async function drawTable(drawing: Drawing, resource: Resource, rows: readonly ListedRow[]): Promise<Markup> {
  const names = Object.keys(rows[0]!);
  const order = findOrder(drawing, resource);
  const columns = names.map((name) => drawColumnHead(drawing, resource, name, order));
  const lines: Markup[] = [];
  let left = isUnsafe(drawing.view.call.method) ? MOST_DRAWN : Infinity;
  await inTurns(rows, (row) => {
    if (left <= 0) return;
    const cells = names.map((name) => drawCell(drawing, resource, row, name));
    const line = html`<tr>
      ${cells}
    </tr> `;
    lines.push(line);
    left -= line.toString().length;
  });
  const count = lines.length === 1 ? "One on this page" : `${lines.length} on this page`;
  const rest = lines.length === rows.length ? "" : `, the first of ${rows.length}`;
  const counting = html`<button
    class="btn low"
    type="button"
    data-js
    hidden
    data-count="${withParameters(drawing.view, { limit: "1" })}"
  >
    Count all
  </button>`;
  return table(
    html`${count}${rest}${order === null ? "" : `, by ${order.name}${order.descending ? ", highest first" : ""}`} ${counting}`,
    columns,
    lines,
  );
}

function drawCell(drawing: Drawing, { fields }: Resource, row: ListedRow, name: string): Markup {
  const value = row[name];
  if (name === "id") {
    const at = recordAddress(drawing.view, drawing.path, value);
    const id = excerptText(String(value), inCell.characters);
    return html`<th scope="row">${at === null ? html`<span class="mono">${id}</span>` : html`<a class="mono" href="${at}">${id}</a>`}</th>`;
  }
  const field = Object.hasOwn(fields, name) ? fields[name]! : null;
  const classes = field !== null && isNumeric(field) ? "num" : "clip";
  return html`<td class="${classes}"><span>${showValue(drawing, field, value, inCell)}</span></td>`;
}

interface Order {
  readonly name: string;
  readonly descending: boolean;
}

/** Returns the first field of the order. Returns null if the list is in the order of its ids by default. */
function findOrder({ view }: Drawing, { defaultSort }: Resource): Order | null {
  const [first = ""] = (findParameter(view, "sort") ?? formatDefaultSort(defaultSort) ?? "").split(",");
  if (first === "") return null;
  return { name: first.replace(/^-/, ""), descending: first.startsWith("-") };
}

function drawColumnHead({ view }: Drawing, { fields, sorts }: Resource, name: string, order: Order | null): Markup {
  const classes = Object.hasOwn(fields, name) && isNumeric(fields[name]!) ? "num" : "";
  if (!sorts.includes(name)) return column(name, classes);
  const isThis = order?.name === name;
  const next = withParameters(view, { sort: isThis && !order.descending ? `-${name}` : name });
  const sorted = html` aria-sort="${order?.descending === true ? "descending" : "ascending"}"`;
  return html`<th scope="col" class="${classes}" ${isThis ? sorted : ""}>
    <a href="${next}">${name}</a>
  </th>`;
}

/** Returns links that choose the columns and the page size. Links work without the script and give each view a URL. */
function drawViewMenu({ view }: Drawing, resource: Resource): Markup {
  const all = shownFields(resource);
  const shown = findParameter(view, "fields")?.split(",") ?? all;
  const columns = all.map((name) => {
    const isShown = shown.includes(name);
    const others = all.filter((each) => (each === name ? !isShown : shown.includes(each)));
    if (others.length === 0) return html`<li><code>${name}</code> is shown</li>`;
    const fields = others.length === all.length ? null : others.join(",");
    return html`<li>
      <a href="${withParameters(view, { fields })}">${isShown ? "Hide" : "Show"} <code>${name}</code></a>
    </li>`;
  });
  const sizes = ["10", "50", "100", "1000"].map(
    (limit) => html`<li><a href="${withParameters(view, { limit })}">${limit} rows</a></li>`,
  );
  const expansions = drawExpansions(view);
  return html`<details class="menu">
    <summary class="btn">View</summary>
    <div class="stack">
      ${expansions.length === 0 ? "" : html`<section><h2 class="small">Related records</h2><ul class="stack near">${expansions}</ul></section>`}
      <section>
        <h2 class="small">Columns</h2>
        <ul class="stack near">
          ${columns}
        </ul>
      </section>
      <section>
        <h2 class="small">On a page</h2>
        <ul class="stack near">
          ${sizes}
        </ul>
      </section>
    </div>
  </details>`;
}

/** Returns links that add the related records, or remove them. */
export function drawExpansions(view: View): readonly Markup[] {
  const expandedNames = findParameter(view, "expand")?.split(",") ?? [];
  return (view.place?.expandable ?? []).map((name) => {
    const isShown = expandedNames.includes(name);
    const names = isShown ? expandedNames.filter((each) => each !== name) : [...expandedNames, name];
    const expand = names.length === 0 ? null : names.join(",");
    return html`<li><a href="${withParameters(view, { expand })}">${isShown ? "Without" : "With"} <code>${name}</code></a></li>`;
  });
}

/** Returns the search form, if the declaration allows a search. */
function drawSearch({ view }: Drawing, resource: Resource): PageContent {
  if (resource.search.length === 0) return "";
  const searchText = findParameter(view, "search") ?? "";
  return html`<form class="find" role="search" action="${view.call.path}">${retainedInputs(view, "search")}<label class="vh" for="search">Search ${resource.plural}</label>
<input id="search" type="search" name="search" value="${searchText}" placeholder="Search" required autocomplete="off" data-key="/"></form>`;
}

function drawEmpty({ view, path }: Drawing, { plural, name }: Resource, mayCreate: boolean): Markup {
  const words = plural.replaceAll(/[_-]/g, " ");
  const isWhole = readParameters(view).every(([each]) => ["limit", "sort", "fields", "expand"].includes(each));
  if (!isWhole)
    return html`<div class="empty">
      <h2>No ${words} match</h2>
      <p><a class="btn" href="${view.call.path}">Show all ${words}</a></p>
    </div>`;
  if (!mayCreate)
    return html`<div class="empty">
      <h2>No ${words} yet</h2>
      <p>This list shows only the ones that you may see.</p>
    </div>`;
  return html`<div class="empty">
    <h2>No ${words} yet</h2>
    <p>The first one shows up here. Programs send it with <code>POST ${resolveAddress(view, path)}</code>.</p>
    <p class="row"><a class="btn main" href="#new">New ${name.replaceAll("_", " ")}</a></p>
  </div>`;
}

function drawPager({ view }: Drawing): Markup {
  const links = readLinks(view);
  const to = (rel: string, words: string, key: PageContent): PageContent =>
    links[rel] === undefined ? "" : html`<a class="btn" href="${links[rel]}" rel="${rel}" ${key}>${words}</a>`;
  const around = [to("prev", "Previous", html` data-key="["`), to("next", "Next", html` data-key="]"`)];
  if (around.every((each) => each === "")) return html``;
  return html`<nav class="pager row" aria-label="Pages">${links["prev"] === undefined ? "" : to("first", "First", "")}${around}</nav>`;
}
