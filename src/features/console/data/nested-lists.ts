import { isObject } from "../../../core/checking/members.ts";
import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { Resource } from "../../../resource/resource.ts";
import { inCell } from "../excerpt.ts";
import { parseKey } from "../forms/form-records.ts";
import { labelsFor } from "../labels.ts";
import { readBodyValue } from "../replies.ts";
import { nameInSentence, nameMany, nestedIn, referredBy, resolveAddress, type Drawing, type Site } from "../site.ts";
import { inviteLink } from "./invitations-page.ts";
import { drawRecordTable } from "./list-table.ts";

/** The number of rows of a list within a record. */
const MOST_ROWS = 10;
/** The maximum number of lists within a record. */
const MOST_LISTS = 6;

/** A list of records that belong to one record. */
export interface InnerList {
  readonly resource: Resource;
  /** Its path, and the query that selects the records of this one. */
  readonly path: string;
  readonly query: string;
  /** The field that refers to this record. Undefined for a nested list. */
  readonly field?: string;
}

/**
 * Draws the lists within a record as tables with their first rows: those that are nested in it, and those that refer to
 * it and can be filtered by it. A list that the caller may not open is left out.
 */
export async function drawNested(
  drawing: Drawing,
  resource: Resource,
  record: Readonly<Record<string, unknown>>,
  name: string,
): Promise<readonly PageContent[]> {
  const lists = [...listsWithin(drawing, resource), ...listsOf(drawing.site, resource, record["id"])];
  const drawn: PageContent[] = [];
  for (const list of lists.slice(0, MOST_LISTS)) drawn.push(await drawInner(drawing, list, name));
  return drawn;
}

function listsWithin({ site, path }: Drawing, resource: Resource): readonly InnerList[] {
  return nestedIn(site, resource).map((inner) => ({ resource: inner, path: `${path}/${inner.plural}`, query: "" }));
}

/** Returns the lists whose records refer to a record, and which can be filtered by it. */
export function listsOf(site: Site, resource: Resource, id: unknown): readonly InnerList[] {
  if (resource.within !== null || (typeof id !== "number" && typeof id !== "string")) return [];
  return site.facts().mounts.flatMap(({ resource: other, permissions, older }) => {
    if (older !== null || other.within !== null || permissions.list === undefined) return [];
    const field = Object.keys(other.fields).find(
      (name) =>
        other.filters.get(name)?.includes("eq") === true &&
        referredBy(site, other.fields[name]!)?.path === resource.path,
    );
    if (field === undefined) return [];
    const query = new URLSearchParams([[field, String(id)]]).toString();
    return [{ resource: other, path: other.path, query, field }];
  });
}

async function drawInner(drawing: Drawing, { path, query, field }: InnerList, of: string): Promise<PageContent> {
  const { site, view } = drawing;
  const offers = await view.offers(path);
  const listed = offers.find(({ action }) => action === "list")?.resource ?? null;
  if (listed === null) return "";
  const address = query === "" ? path : `${path}?${query}`;
  const reply = await view.ask(`${address}${query === "" ? "?" : "&"}limit=${MOST_ROWS + 1}`);
  if (reply === null) return "";
  const value = readBodyValue(reply.body);
  const all = Array.isArray(value) ? value.filter(isObject) : [];
  const buttons = await drawButtons(drawing, {
    path,
    query,
    resource: listed,
    ...(field === undefined ? {} : { field }),
  });
  if (all.length === 0 && buttons === "") return "";
  const id = `in-${listed.plural}`;
  const rows = all.slice(0, MOST_ROWS);
  const labels = await labelsFor(site, view, listed, rows, inCell);
  const title = nameMany(listed);
  const shown: Markup =
    rows.length === 0
      ? html`<p class="dim">None yet.</p>`
      : await drawRecordTable(
          { ...drawing, labels },
          {
            caption: html`${title} of <bdi>${of}</bdi>`,
            resource: listed,
            rows,
            path,
            label: `${title}, table`,
            isSorted: false,
            ...(field === undefined ? {} : { without: field }),
          },
        );
  const at = resolveAddress(view, address);
  return html`<section class="stack" aria-labelledby="${id}">
<div class="sec"><h2 id="${id}">${title}</h2>${buttons}</div>
${shown}
${rows.length === 0 ? "" : html`<p class="small"><a href="${at}">All ${title.toLowerCase()} of <bdi>${of}</bdi></a></p>`}
</section>
`;
}

/** Returns the links to the form of a new record of a list, and to the invitations to memberships. */
async function drawButtons({ site, view }: Drawing, { resource, path, query, field }: InnerList): Promise<PageContent> {
  const offers = await view.offers(path);
  const creation = offers.find(({ action, name }) => action === "create" && name === null);
  if (creation === undefined) return "";
  const narrowed = new URLSearchParams(query);
  const declared = field === undefined ? undefined : creation.resource?.fields[field];
  if (field !== undefined) {
    const key = declared === undefined ? null : parseKey(declared, narrowed.get(field));
    if (key === null || (await creation.mayHold(field, [key])).length === 0) return "";
  }
  const form = new URLSearchParams([["form", "new"], ...narrowed]).toString();
  const at = `${resolveAddress(view, path)}?${form}`;
  const add = html` <a class="btn low" href="${at}">New ${nameInSentence(resource)}</a>`;
  const invite = await inviteLink(site, view, path, narrowed);
  return invite === "" ? add : html` <div class="row">${invite}${add}</div>`;
}
