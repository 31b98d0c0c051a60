import { isUnsafe } from "../../../core/call/cross-site.ts";
import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import { inTurns } from "../../../http/scheduling/slices.ts";
import { isShown, type Field } from "../../../resource/declaration/field.ts";
import { formatDefaultSort } from "../../../resource/default-sort.ts";
import { findLabelField, nameField, nameOne } from "../../../resource/record-labels.ts";
import type { Resource } from "../../../resource/resource.ts";
import { findParameter, withParameters } from "../addresses.ts";
import { excerptText, inCell } from "../excerpt.ts";
import { isReadable } from "../paths.ts";
import { recordAddress, referredBy, type Drawing } from "../site.ts";
import { isNumeric, showValue } from "../values.ts";

export type ListedRow = Readonly<Record<string, unknown>>;

/** A table of records of one resource. */
export interface RecordTable {
  readonly caption: PageContent;
  readonly resource: Resource;
  readonly rows: readonly ListedRow[];
  /** The path of the list, without the base path. */
  readonly path: string;
  /** The words for the frame that scrolls. */
  readonly label: PageContent;
  /** True for the list of this page: the heads of its columns sort it, and its caption is shown. */
  readonly isSorted: boolean;
  /** The field that has the same value in every row. It gets no column. */
  readonly without?: string;
}

/**
 * The maximum number of characters of the drawn rows after a request with an array. The pages of a list have a separate
 * limit.
 */
const MOST_DRAWN = 2 * 1024 * 1024;

/**
 * Draws records as a table, which is a list of cards on a phone. The name of the record comes first. Lets other
 * requests run in between. Draws only the first records of an array that was sent, because the array may have 8 MiB.
 */
export async function drawRecordTable(drawing: Drawing, parts: RecordTable): Promise<Markup> {
  const { resource, rows, path } = parts;
  const named = findLabelField(resource);
  const columns = parts.isSorted ? findParameter(drawing.view, "fields")?.split(",") : undefined;
  const names = chooseColumns(resource, columns).filter((name) => name !== named && name !== parts.without);
  const lines: Markup[] = [];
  const linked = await findLinked(drawing, parts);
  let left = isUnsafe(drawing.view.call.method) ? MOST_DRAWN : Infinity;
  await inTurns(rows, (row) => {
    if (left <= 0) return;
    const head = drawRowHead(drawing, resource, row, { named, path, isLinked: linked(row["id"]) });
    const line = html`<tr>${head}${names.map((name) => drawCell(drawing, resource, row, name))}</tr>
`;
    lines.push(line);
    left -= line.toString().length;
  });
  const order = parts.isSorted ? findOrder(drawing, resource) : null;
  const heads = [named ?? "id", ...names].map((name) => drawColumnHead(drawing, resource, name, order, parts.isSorted));
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${parts.label}"><table class="cards">
<caption${parts.isSorted ? "" : html` class="vh"`}>${parts.caption}</caption>
<thead><tr>${heads}</tr></thead>
<tbody>
${lines}</tbody></table></div>`;
}

/** Returns the fields that get a column: those that were asked for, or all of them without the long ones. */
function chooseColumns({ fields }: Resource, asked: readonly string[] | undefined): readonly string[] {
  const shown = Object.keys(fields).filter((name) => isShown(fields[name]!));
  return shown.filter((name) => (asked === undefined ? !isLong(fields[name]!) : asked.includes(name)));
}

function isLong({ options }: Field): boolean {
  return "multiline" in options && options.multiline === true;
}

/**
 * Returns a function that returns true if a record has a page for the caller. Asks the service only if reading a record
 * has another permission than listing it.
 */
async function findLinked(
  { site, view }: Drawing,
  { resource, rows, path }: RecordTable,
): Promise<(id: unknown) => boolean> {
  if (!isReadable(site, `${path}/1`) && !isReadable(site, `${path}/${String(rows[0]?.["id"])}`)) return () => false;
  const mount = site.facts().mounts.find((each) => each.resource.path === resource.path);
  if (mount === undefined || mount.permissions.read === mount.permissions.list || resource.within !== null)
    return () => true;
  const ids = rows.map(({ id }) => id).filter((id) => typeof id === "number" || typeof id === "string");
  const found = await view.values(resource.path, ids, "id");
  return found === null ? () => true : (id) => found.has(id as number);
}

interface RowHead {
  readonly named: string | null;
  readonly path: string;
  readonly isLinked: boolean;
}

function drawRowHead(drawing: Drawing, resource: Resource, row: ListedRow, { named, path, isLinked }: RowHead): Markup {
  const id = row["id"];
  const name = excerptText(nameRow(drawing, resource, row, named), inCell.characters);
  const at = isLinked && id !== undefined ? recordAddress(drawing.view, path, id) : null;
  return html`<th scope="row">${at === null ? html`<span class="clip" dir="auto">${name}</span>` : html`<a class="clip" dir="auto" href="${at}">${name}</a>`}</th>`;
}

function nameRow({ site, labels }: Drawing, resource: Resource, row: ListedRow, named: string | null): string {
  const plain = nameOne(resource, row["id"]);
  const value = named === null ? null : row[named];
  if (value === null || value === undefined || value === "") return plain;
  const field = resource.fields[named!]!;
  const to = referredBy(site, field);
  if (to !== null) return labels.get(to.path)?.get(value as number) ?? nameOne(to, value);
  if (field.kind.references !== undefined || typeof value === "object") return plain;
  return field.kind.label?.(value) ?? String(value);
}

function drawCell(drawing: Drawing, { fields }: Resource, row: ListedRow, name: string): Markup {
  const field = fields[name]!;
  const number = isNumeric(field) ? html` class="num"` : "";
  return html`<td data-label="${nameField(name, field)}"${number}>${showValue(drawing, field, row[name], inCell)}</td>`;
}

interface Order {
  readonly name: string;
  readonly descending: boolean;
}

/** Returns the first field of the order. Returns null if the list is in the order of its ids by default. */
export function findOrder({ view }: Drawing, { defaultSort }: Resource): Order | null {
  const [first = ""] = (findParameter(view, "sort") ?? formatDefaultSort(defaultSort) ?? "").split(",");
  if (first === "") return null;
  return { name: first.replace(/^-/, ""), descending: first.startsWith("-") };
}

function drawColumnHead(
  { view }: Drawing,
  { fields, sorts, name: resourceName, label }: Resource,
  name: string,
  order: Order | null,
  isSorted: boolean,
): Markup {
  const field = Object.hasOwn(fields, name) ? fields[name]! : null;
  const words = field === null ? nameOne({ name: resourceName, label }) : nameField(name, field);
  const number = field !== null && isNumeric(field) ? html` class="num"` : "";
  if (!isSorted || !sorts.includes(name)) return html`<th scope="col"${number}>${words}</th>`;
  const isThis = order?.name === name;
  const next = withParameters(view, { sort: isThis && !order.descending ? `-${name}` : name });
  const sorted = isThis ? html` aria-sort="${order.descending ? "descending" : "ascending"}"` : "";
  return html`<th scope="col"${number}${sorted}><a href="${next}">${words}</a></th>`;
}
