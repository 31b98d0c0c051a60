import { valueOfJSON } from "../../../../core/exact-numbers.ts";
import { DEFAULT_LIMIT } from "../../../../resource/page-size.ts";
import { isServed } from "../../../../store/served.ts";
import type {
  BesideQuery,
  Collection,
  Key,
  RelatedQuery,
  RelatedText,
  StoredRecord,
  Where,
} from "../../../../store/store.ts";
import { takeTurn } from "../../../body/turns.ts";
import type { Params } from "../../../endpoint/path.ts";
import { invalid, type Exchange } from "../../../exchange.ts";
import type { MountInPlace } from "../../mount.ts";
import { areColumns } from "../../older/translating.ts";
import { askForRelated } from "../asking.ts";
import { allOf } from "../conditions.ts";
import { matches } from "../matches.ts";
import { addressOfNext } from "../places.ts";
import type { Plan } from "./expansion.ts";
import { Place } from "./page-records.ts";
import { askedOf, both, verdictOn, type Asked, type Verdict } from "./verdicts.ts";

/** How many of a nested collection stand beside a record. */
export const MOST_BESIDE = 100;

/** The most characters of JSON that stand beside the records of one answer: what is written at once keeps others waiting. */
export const MAX_BESIDE = 1024 * 1024;

/** All columns of a collection: permissions may look at those that nobody is shown. */
export function columnsOf({ columns, computed = [] }: Collection): readonly string[] {
  return ["id", ...[...columns, ...computed].map(({ name }) => name)];
}

/** One answer on its way. */
export interface Writing {
  readonly exchange: Exchange;
  /** How many characters may still be added. */
  left: number;
  /** What was told with the page; null where it is too long. */
  readonly told: ReadonlyMap<Plan, readonly RelatedText[] | null>;
}

interface Level {
  readonly placed: MountInPlace;
  readonly columns: readonly string[];
  readonly plans: readonly Plan[];
  readonly places: readonly Place[];
}

/** The text of each record: its own members, a referred one beside its id, and collections behind. */
export async function writeRecords(
  writing: Writing,
  { placed, columns, plans, places }: Level,
): Promise<readonly string[]> {
  const beside = new Map<string, (readonly string[])[]>();
  const behind: (readonly string[])[] = [];
  const written = plans.map(async (plan) =>
    plan.relation.kind === "many" ? writeMany(writing, placed, plan, places) : writeOne(writing, plan, places),
  );
  for (const [at, texts] of (await Promise.all(written)).entries()) {
    const { kind, column } = plans[at]!.relation;
    if (kind !== "many" && columns.includes(column)) beside.set(column, [...(beside.get(column) ?? []), texts]);
    else behind.push(texts);
  }
  const ownOf = (place: Place, at: number): string => {
    if (place.members !== null) return `{"${place.members}`;
    const { record } = place;
    const shape = areColumns(placed, null) ? record : placed.show(record);
    const own = columns.map((name) =>
      [`"${name}":${JSON.stringify(shape[name])}`, ...(beside.get(name) ?? []).map((texts) => texts[at]!)].join(),
    );
    return `{${own.join()}`;
  };
  return places.map((place, at) => {
    let text = ownOf(place, at);
    for (const texts of behind) text += `${text === "{" ? "" : ","}${texts[at]!}`;
    return `${text}}`;
  });
}

/** The record that each refers to, or the records: null where there is none, or none that the caller may know of, and of several those alone. */
async function writeOne(writing: Writing, plan: Plan, level: readonly Place[]): Promise<readonly string[]> {
  const {
    relation: { name, kind, column, to },
    read,
    inner,
  } = plan;
  const idsOf = ({ record }: Place): readonly Key[] => [(record[column] ?? []) as Key | readonly Key[]].flat();
  const ids = new Set(level.flatMap(idsOf));
  const verdicts = new Map(
    [...ids].map((id) => [id, read ?? verdictOn(to, writing.exchange, "read", { id })] as const),
  );
  const found = await ask(writing, plan, askedOf("id", verdicts));
  const texts = new Map<Key, string>();
  if (isWhole(plan)) for (const { key, json } of found) texts.set(key, json.slice(1, -1));
  else {
    const places = found.flatMap(({ json }) =>
      (valueOfJSON(json) as StoredRecord[]).map((record) => new Place(record, {})),
    );
    const written = await writeRecords(writing, { placed: to, columns: to.shown, plans: inner, places });
    for (const [at, { key }] of found.entries()) texts.set(key, written[at]!);
  }
  return level.map((place) => {
    const shown = idsOf(place).flatMap((id) => texts.get(id) ?? []);
    return take(writing, `"${name}":${kind === "one" ? (shown[0] ?? "null") : `[${shown.join()}]`}`);
  });
}

/** The first of what stands within each, as far as the caller may list and read it. */
async function writeMany(
  writing: Writing,
  placed: MountInPlace,
  plan: Plan,
  level: readonly Place[],
): Promise<readonly string[]> {
  const { exchange } = writing;
  const {
    relation: { name, column, to },
    inner,
  } = plan;
  const wayOf = ({ id, outer }: Place): Params => ({ ...outer, [column]: id });
  const ids = level.map(({ id }) => id);
  const places = new Map(level.map((place, at) => [ids[at]!, place]));
  const alike = alikeFor(plan);
  const lists = new Map<Key, Verdict>();
  for (const [id, place] of places) lists.set(id, alike ?? listOf(writing, placed, plan, place, wayOf(place)));
  const found = await ask(writing, plan, askedOf(column, lists));
  const outerOf = (key: Key): Params => wayOf(places.get(key)!);
  const arrays = isWhole(plan) ? found.map(({ json }) => json) : await writeArrays(writing, plan, found, outerOf);
  const texts = new Map<Key, string>();
  for (const [at, { key, json, more }] of found.entries()) {
    const array = `"${name}":${arrays[at]!}`;
    texts.set(key, array);
    if (!more) continue;
    const lastId = (valueOfJSON(json) as StoredRecord[]).at(-1)!["id"] as Key;
    const caller = lists.get(key)!.isPersonal ? (exchange.observedIdentity?.id ?? null) : null;
    const expand = inner.map(({ relation }) => relation.name).join();
    const next = addressOfNext(exchange, to, { params: outerOf(key), lastId, caller, expand });
    texts.set(key, `${array},"${name}_next":${JSON.stringify(next)}`);
  }
  return ids.map((id) => take(writing, texts.get(id) ?? `"${name}":[]`));
}

/** What the caller may list within a record: nothing where they may not read that. */
function listOf(
  { exchange }: Writing,
  placed: MountInPlace,
  { relation: { to }, reach, list, read }: Plan,
  place: Place,
  params: Params,
): Verdict {
  const reached = reach ?? verdictOn(placed, exchange, "read", { ...params, id: place.id });
  const may =
    reached.decision === "allow" ||
    (reached.decision !== "deny" && matches(placed.collection, place.record, reached.decision.only));
  if (!may) return { decision: "deny", isPersonal: reached.isPersonal };
  return readable(list ?? verdictOn(to, exchange, "list", params), read);
}

/** Whether what was asked for stands behind the members of a record, and nobody has to look at those. */
export function isBehind(plan: Plan): boolean {
  return plan.relation.kind === "many" && alikeFor(plan) !== null;
}

/** What the caller may list within every record that they were shown; null where each has to be asked about. */
function alikeFor({ reach, list, read }: Plan): Verdict | null {
  return reach?.decision === "allow" && list !== null ? readable(list, read) : null;
}

function readable(listed: Verdict, read: Verdict | null): Verdict {
  return read === null ? listed : { ...listed, decision: both(listed.decision, read.decision) };
}

/** What was found within each record, one by one: what may not be read is left out, and what was asked for stands beside it. */
async function writeArrays(
  writing: Writing,
  { relation: { to }, read, inner }: Plan,
  found: readonly RelatedText[],
  outerOf: (key: Key) => Params,
): Promise<readonly string[]> {
  await takeTurn();
  const lists = found.map(({ key, json }) => {
    const outer = outerOf(key);
    const records = valueOfJSON(json) as readonly StoredRecord[];
    return records
      .filter((record) => read !== null || mayRead(writing, to, record, outer))
      .map((record) => new Place(record, outer));
  });
  const written = await writeRecords(writing, { placed: to, columns: to.shown, plans: inner, places: lists.flat() });
  let at = 0;
  return lists.map(({ length }) => `[${written.slice(at, (at += length)).join()}]`);
}

function mayRead({ exchange }: Writing, to: MountInPlace, record: StoredRecord, outer: Params): boolean {
  const { decision } = verdictOn(to, exchange, "read", { ...outer, id: record["id"] as Key });
  return decision === "allow" || (decision !== "deny" && matches(to.collection, record, decision.only));
}

/** Whether what is found is shown as it is. */
function isWhole({ relation: { kind, to }, read, inner }: Plan): boolean {
  return inner.length === 0 && (kind !== "many" || read !== null) && areColumns(to, null);
}

/** One question for all records of a level, where the page has not told it already. */
async function ask(writing: Writing, plan: Plan, { keys, where }: Asked): Promise<readonly RelatedText[]> {
  if (keys.length === 0) return [];
  const told = writing.told.get(plan);
  if (told === null) throw tooMuch(writing);
  if (told !== undefined) {
    const asked = new Set(keys);
    return told.filter(({ key }) => asked.has(key));
  }
  const question = questionOf(plan, where, writing.left);
  const long = question.long || keys.length > DEFAULT_LIMIT;
  const found = await askForRelated(writing.exchange, { ...question, keys, long });
  if (found === null) throw tooMuch(writing);
  return found;
}

function questionOf(
  plan: Plan,
  where: Where | null,
  maxLength: number,
): Omit<RelatedQuery, "keys"> & { readonly long: boolean } {
  const { kind, column: by, to } = plan.relation;
  const { collection } = to;
  const column = kind === "many" ? by : "id";
  const ofOne = allOf([{ column, operator: "eq", value: 1 }, where]);
  return {
    collection,
    column,
    where,
    limit: kind === "many" ? MOST_BESIDE : 1,
    columns: isWhole(plan) ? to.sources : columnsOf(collection),
    maxLength,
    long: !isServed({ collection, where: ofOne, sort: [{ column: "id" }] }),
  };
}

/** What a store may tell with the page: the permissions say the same for all its records, whichever they are. */
export function askedWithPage(plan: Plan): BesideQuery | null {
  const { relation, reach, list, read } = plan;
  if (relation.kind === "several" || reach === null || list === null || read === null) return null;
  const decision = both(both(reach.decision === "deny" ? "deny" : "allow", list.decision), read.decision);
  if (decision === "deny") return null;
  const question = questionOf(plan, decision === "allow" ? null : decision.only, MAX_BESIDE);
  return question.long ? null : { ...question, from: relation.kind === "many" ? "id" : relation.column };
}

function take(writing: Writing, text: string): string {
  writing.left -= text.length;
  if (writing.left < 0) throw tooMuch(writing);
  return text;
}

function tooMuch({ exchange: { call } }: Writing): Error {
  const detail = `What is to stand beside these records is longer than ${MAX_BESIDE / 1024 / 1024} MiB. Ask for fewer records with limit, or for less beside them.`;
  return invalid([{ pointer: call.method === "QUERY" ? "/expand" : "?expand", code: "too_many", detail }]);
}
