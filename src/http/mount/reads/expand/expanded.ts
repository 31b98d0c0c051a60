import { valueOfJSON } from "../../../../core/exact-numbers.ts";
import { DEFAULT_LIMIT } from "../../../../resource/page-size.ts";
import { isServed } from "../../../../store/served.ts";
import type { BesideQuery, Key, RelatedQuery, RelatedText, StoredRecord, Where } from "../../../../store/store.ts";
import type { ServedMount } from "../../../declarations/mount.ts";
import { invalid, type Exchange } from "../../../request/exchange.ts";
import type { Params } from "../../../request/path.ts";
import { takeTurn } from "../../../scheduling/slices.ts";
import { areColumns } from "../../older/translating.ts";
import { askForRelated } from "../asking.ts";
import { combineAll } from "../conditions.ts";
import { addressOfNext } from "../places.ts";
import type { Plan } from "./expansion.ts";
import { decideListings, findSharedVerdict, keepReadable } from "./judging.ts";
import { Place } from "./page-records.ts";
import { combineVerdicts, intersectDecisions, verdictOn, type KeyLookup } from "./verdicts.ts";

/** The maximum number of records of a nested collection that are shown with their parent record. */
export const MAX_EXPANDED_RECORDS = 100;

/**
 * The maximum number of characters of JSON for the expanded records of one response, because writing them blocks other
 * requests.
 */
export const MAX_EXPANDED_CHARACTERS = 1024 * 1024;

/**
 * Returns the columns to read of records that are expanded: all, because permissions may use columns that are never
 * shown. If rules hide fields from the caller, columns that are not shown are read only if a permission or a computed
 * field may need them. Otherwise their length would affect where a page ends.
 */
export function listColumns(mount: ServedMount): readonly string[] {
  const { collection, permissions } = mount;
  const { columns, computed = [] } = collection;
  const all = ["id", ...[...columns, ...computed].map(({ name }) => name)];
  const seen = mount.newer ?? mount;
  const { declared } = seen;
  if (declared === undefined || mount.computed.length > 0 || needsAnyColumn(mount)) return all;
  const needed = new Set(Object.values(permissions).flatMap(({ columns: by = [] }) => by));
  const { fields } = declared.resource;
  return all.filter((name) => !Object.hasOwn(fields, name) || seen.shown.includes(name) || needed.has(name));
}

/** Returns true if a permission narrows to rows and does not declare by which columns. */
export function needsAnyColumn({ permissions }: ServedMount): boolean {
  return Object.values(permissions).some(
    ({ narrows = [], columns = [] }) => narrows.length > 0 && columns.length === 0,
  );
}

/** The state of a response that is being written. */
export interface ResponseState {
  readonly exchange: Exchange;
  /** The number of characters that may still be added. */
  left: number;
  /** The records that the store returned with the page. Null if they are too long. */
  readonly pageTexts: ReadonlyMap<Plan, readonly RelatedText[] | null>;
}

interface Level {
  readonly mount: ServedMount;
  readonly columns: readonly string[];
  readonly plans: readonly Plan[];
  readonly places: readonly Place[];
}

/**
 * Returns the JSON of each record. A referenced record follows the member with its id. Nested collections are at the
 * end.
 */
export async function writeRecords(
  writing: ResponseState,
  { mount, columns, plans, places }: Level,
): Promise<readonly string[]> {
  const textsByColumn = new Map<string, (readonly string[])[]>();
  const behind: (readonly string[])[] = [];
  const written = plans.map(async (plan) =>
    plan.relation.kind === "many" ? writeMany(writing, mount, plan, places) : writeOne(writing, plan, places),
  );
  for (const [at, texts] of (await Promise.all(written)).entries()) {
    const { kind, column } = plans[at]!.relation;
    if (kind !== "many" && columns.includes(column))
      textsByColumn.set(column, [...(textsByColumn.get(column) ?? []), texts]);
    else behind.push(texts);
  }
  const writeOwn = (place: Place, at: number): string => {
    if (place.members !== null) return `{"${place.members}`;
    const { record } = place;
    const shape = areColumns(mount, null) ? record : mount.show(record);
    const own = columns.map((name) =>
      [
        `"${name}":${JSON.stringify(shape[name])}`,
        ...(textsByColumn.get(name) ?? []).map((texts) => texts[at]!),
      ].join(),
    );
    return `{${own.join()}`;
  };
  return places.map((place, at) => {
    let text = writeOwn(place, at);
    for (const texts of behind) text += `${text === "{" ? "" : ","}${texts[at]!}`;
    return `${text}}`;
  });
}

/**
 * Returns, for each record in `level`, the member with the record or the list of records that it refers to. The member
 * is null if there is no such record, or if the caller may not see it. Lists omit such records.
 */
async function writeOne(writing: ResponseState, plan: Plan, level: readonly Place[]): Promise<readonly string[]> {
  const {
    relation: { name, kind, column, to },
    read,
    inner,
  } = plan;
  const collectIds = ({ record }: Place): readonly Key[] => [(record[column] ?? []) as Key | readonly Key[]].flat();
  const ids = new Set(level.flatMap(collectIds));
  const verdicts = new Map(
    [...ids].map((id) => [id, read ?? verdictOn(to, writing.exchange, "read", { id })] as const),
  );
  const found = await ask(writing, plan, combineVerdicts("id", verdicts));
  const texts = new Map<Key, string>();
  if (isWhole(plan)) for (const { key, json } of found) texts.set(key, json.slice(1, -1));
  else {
    const places = found.flatMap(({ json }) =>
      (valueOfJSON(json) as StoredRecord[]).map((record) => new Place(record, {})),
    );
    const written = await writeRecords(writing, { mount: to, columns: to.shown, plans: inner, places });
    for (const [at, { key }] of found.entries()) texts.set(key, written[at]!);
  }
  return level.map((place) => {
    const shown = collectIds(place).flatMap((id) => texts.get(id) ?? []);
    return countLength(writing, `"${name}":${kind === "one" ? (shown[0] ?? "null") : `[${shown.join()}]`}`);
  });
}

/**
 * Returns, for each record in `level`, the member with its first nested records that the caller may list and read, and
 * the link to more.
 */
async function writeMany(
  writing: ResponseState,
  mount: ServedMount,
  plan: Plan,
  level: readonly Place[],
): Promise<readonly string[]> {
  const { exchange } = writing;
  const {
    relation: { name, column, to },
    inner,
  } = plan;
  const buildParams = ({ id, outer }: Place): Params => ({ ...outer, [column]: id });
  const ids = level.map(({ id }) => id);
  const places = new Map(level.map((place, at) => [ids[at]!, place]));
  const lists = await decideListings(writing.exchange, mount, plan, { places, buildParams });
  const found = await ask(writing, plan, combineVerdicts(column, lists));
  const resolveOuter = (key: Key): Params => buildParams(places.get(key)!);
  const arrays = isWhole(plan) ? found.map(({ json }) => json) : await writeArrays(writing, plan, found, resolveOuter);
  const texts = new Map<Key, string>();
  for (const [at, { key, json, more }] of found.entries()) {
    const array = `"${name}":${arrays[at]!}`;
    texts.set(key, array);
    if (!more) continue;
    const lastId = (valueOfJSON(json) as StoredRecord[]).at(-1)!["id"] as Key;
    const caller = lists.get(key)!.isPersonal ? (exchange.observedIdentity?.id ?? null) : null;
    const expand = inner.map(({ relation }) => relation.name).join();
    const next = addressOfNext(exchange, to, { params: resolveOuter(key), lastId, caller, expand });
    texts.set(key, `${array},"${name}_next":${JSON.stringify(next)}`);
  }
  return ids.map((id) => countLength(writing, texts.get(id) ?? `"${name}":[]`));
}

/**
 * Returns true if the expanded records are written after the members of a record. Then the JSON of the record need not
 * be parsed.
 */
export function isAppended(plan: Plan): boolean {
  return plan.relation.kind === "many" && findSharedVerdict(plan) !== null;
}

/**
 * Writes each found list of nested records as a JSON array. Omits the records that the caller may not read, and expands
 * the rest.
 */
async function writeArrays(
  writing: ResponseState,
  { relation: { to }, read, inner }: Plan,
  found: readonly RelatedText[],
  resolveOuter: (key: Key) => Params,
): Promise<readonly string[]> {
  await takeTurn();
  const all = found.map(({ key, json }) => {
    const outer = resolveOuter(key);
    return (valueOfJSON(json) as readonly StoredRecord[]).map((record) => new Place(record, outer));
  });
  const lists = read === null ? await keepReadable(writing.exchange, to, all) : all;
  const written = await writeRecords(writing, { mount: to, columns: to.shown, plans: inner, places: lists.flat() });
  let at = 0;
  return lists.map(({ length }) => `[${written.slice(at, (at += length)).join()}]`);
}

/** True if the found records are shown unchanged. */
function isWhole({ relation: { kind, to }, read, inner }: Plan): boolean {
  return inner.length === 0 && (kind !== "many" || read !== null) && areColumns(to, null);
}

/**
 * Reads the related records of all records of a level with one query, unless the store has returned them with the page.
 */
async function ask(writing: ResponseState, plan: Plan, { keys, where }: KeyLookup): Promise<readonly RelatedText[]> {
  if (keys.length === 0) return [];
  const pageTexts = writing.pageTexts.get(plan);
  if (pageTexts === null) throw tooMuch(writing);
  if (pageTexts !== undefined) {
    const requestedKeys = new Set(keys);
    return pageTexts.filter(({ key }) => requestedKeys.has(key));
  }
  const question = buildQuestion(plan, where, writing.left);
  const long = question.long || keys.length > DEFAULT_LIMIT;
  const found = await askForRelated(writing.exchange, { ...question, keys, long });
  if (found === null) throw tooMuch(writing);
  return found;
}

function buildQuestion(
  plan: Plan,
  where: Where | null,
  maxLength: number,
): Omit<RelatedQuery, "keys"> & { readonly long: boolean } {
  const { kind, column: by, to } = plan.relation;
  const { collection } = to;
  const column = kind === "many" ? by : "id";
  const ofOne = combineAll([{ column, operator: "eq", value: 1 }, where]);
  return {
    collection,
    column,
    where,
    limit: kind === "many" ? MAX_EXPANDED_RECORDS : 1,
    columns: isWhole(plan) ? to.sources : listColumns(to),
    maxLength,
    long: !isServed({ collection, where: ofOne, sort: [{ column: "id" }] }),
  };
}

/**
 * Returns the query for the related records that a store may answer together with the page. Returns null if a
 * permission must be decided for each record, if nothing is allowed, or if the query is a long read.
 */
export function askedWithPage(plan: Plan): BesideQuery | null {
  const { relation, reach, list, read } = plan;
  if (relation.kind === "several" || reach === null || list === null || read === null) return null;
  const decision = intersectDecisions(
    intersectDecisions(reach.decision === "deny" ? "deny" : "allow", list.decision),
    read.decision,
  );
  if (decision === "deny") return null;
  const question = buildQuestion(plan, decision === "allow" ? null : decision.only, MAX_EXPANDED_CHARACTERS);
  return question.long ? null : { ...question, from: relation.kind === "many" ? "id" : relation.column };
}

function countLength(writing: ResponseState, text: string): string {
  writing.left -= text.length;
  if (writing.left < 0) throw tooMuch(writing);
  return text;
}

function tooMuch({ exchange: { call } }: ResponseState): Error {
  const detail = `The expanded records are longer than ${MAX_EXPANDED_CHARACTERS / 1024 / 1024} MiB. Read fewer records with limit, or expand less.`;
  return invalid([{ pointer: call.method === "QUERY" ? "/expand" : "?expand", code: "too_many", detail }]);
}
