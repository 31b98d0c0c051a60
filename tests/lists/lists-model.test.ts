import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { consolePages } from "../../src/door/features.ts";
import { csv } from "../../src/door/http.ts";
import { onBoth, type Before } from "../harness/existing.ts";
import { formats, plain } from "../harness/lists-formats.ts";
import { holds, isFound, sorted, type Condition, type Seen } from "../harness/lists-model.ts";
import {
  kinds,
  made,
  pools,
  mountWorld,
  type ModelResource,
  type Random,
  type Rule,
  type Verdict,
} from "../harness/lists-world.ts";
import { readLinks, ownService, people, type Own, type OwnAnswer } from "../harness/own-service.ts";

// To choose the number of queries and the seed: `npm run verify -- queries --queries 10000 --seed 7`. The title of the
// test contains both.
const { values: options } = parseArgs({
  options: {
    queries: { type: "string", default: "300" },
    seed: { type: "string", default: String(randomInt(2 ** 31)) },
  },
  strict: false,
});
const queries = Number(options["queries"]);
const seed = Number(options["seed"]);
/** The number of queries before new permissions are drawn. */
const ofOneWorld = 150;

const callers = ["root", "ada", "ben", undefined] as const;
type Caller = (typeof callers)[number];
const getCallerId = (caller: Caller): number => (caller === undefined ? 0 : people[caller]!.id);

/** Returns random numbers that depend only on the seed (the generator mulberry32). */
function randomFrom(state: number): Random {
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

function one<T>(random: Random, of: readonly T[]): T {
  return of[random(of.length)]!;
}

function some<T>(random: Random, of: readonly T[], most: number): T[] {
  return [...new Set(Array.from({ length: of.length === 0 ? 0 : random(most + 1) }, () => one(random, of)))];
}

/** All data, as the administrator reads it. `parts` has the parts of each thing, by the id of the thing. */
interface World {
  readonly api: Own;
  readonly places: readonly ModelResource[];
  readonly records: ReadonlyMap<string, readonly Seen[]>;
  readonly parts: ReadonlyMap<number, readonly Seen[]>;
}

// Drawing of permissions.

function drawRule(random: Random, fields: readonly string[], hasIntegers: boolean): Rule {
  const verdict = (id: number, isRead: boolean): Verdict => {
    const drawn = random(10);
    if (drawn < 3) return "allow";
    if (drawn < 4) return "deny";
    if (drawn < 5 && isRead && hasIntegers) return "odd";
    if (drawn < 7 && fields.includes("owner_id")) return { owner_id: { eq: id } };
    return drawCondition(random, new Map(fields.map((field) => [field, listOperators(field)])), 2);
  };
  const rule = (id: number): Rule[number] => ({ list: verdict(id, false), read: verdict(id, true) });
  return { 0: rule(0), 1: { list: "allow", read: "allow" }, 2: rule(2), 3: rule(3) };
}

/** Returns the operators for a permission, including operators that the resource does not declare for callers. */
function listOperators(field: string): readonly string[] {
  const kind = kinds[field];
  if (kind === "boolean") return ["eq", "ne", "in", "null"];
  if (field === "id" || field === "mail") return ["eq", "ne", "in"];
  const all = ["eq", "ne", "lt", "lte", "gt", "gte", "in", "null"];
  return kind === "text" && field !== "state" && field !== "code" && field !== "country"
    ? [...all, "starts", "contains"]
    : all;
}

function allows(
  world: World,
  { name, rule }: ModelResource,
  caller: Caller,
  action: "list" | "read",
  seen: Seen,
  id: unknown = seen["id"],
): boolean {
  const verdict = rule[getCallerId(caller)]![action];
  // A permission decides by the record in its newer shape.
  const record = name === "older" ? findRecord(world, "thing", seen["id"])! : seen;
  if (verdict === "odd") return Number(id) % 2 === 1;
  return typeof verdict === "string" ? verdict === "allow" : holds(kinds, verdict, record);
}

function findRecord({ records }: World, name: string, id: unknown): Seen | undefined {
  return records.get(name)!.find((each) => each["id"] === id);
}

// Drawing of queries.

function choosePool(world: World | null, place: string, field: string): readonly unknown[] {
  if (field === "id" || field === "albums") {
    const from = field === "albums" ? "album" : place;
    const ids = (world?.records.get(from) ?? []).map(({ id }) => id);
    return ids.length > 0 ? ids : [1, 2, 3, 5, 8, 99];
  }
  const older: Readonly<Record<string, string>> = { name: "label", cost: "price", many: "size", labels: "tags" };
  return pools[older[field] ?? field]!;
}

function drawCondition(
  random: Random,
  filters: ReadonlyMap<string, readonly string[]>,
  depth: number,
  world: World | null = null,
  place = "",
): Condition {
  const kind = depth === 0 ? 9 : random(10);
  const several = (): Condition[] =>
    Array.from({ length: random(4) }, () => drawCondition(random, filters, depth - 1, world, place));
  if (kind < 2) return { any: several() };
  if (kind < 4) return { all: several() };
  if (kind < 5) return { not: drawCondition(random, filters, depth - 1, world, place) };
  const condition: Record<string, object> = {};
  for (let count = 1 + random(2); count > 0; count--) {
    const [field, operators] = one(random, [...filters]);
    const operator = one(random, operators);
    const pool = choosePool(world, place, field);
    const value =
      operator === "null"
        ? random(2) === 0
        : operator === "in"
          ? some(random, pool, 4)
          : one(random, collectParts(pool, operator));
    condition[field] = { ...condition[field], [operator]: value };
  }
  return condition;
}

function collectParts(pool: readonly unknown[], operator: string): readonly unknown[] {
  if (!/contains|starts/.test(operator)) return pool;
  return pool.flatMap((each) => [each, [...String(each)].slice(0, 2).join(""), [...String(each)].at(-1)!, ""]);
}

/** Draws filters. Returns them as a condition for the model and as parts of a URL. */
function drawFilters(
  random: Random,
  world: World,
  { name, mount: { resource } }: ModelResource,
): [Condition, string[]] {
  const all: Condition[] = [];
  const written: string[] = [];
  for (let count = random(4); count > 0; count--) {
    const [field, operators] = one(random, [...resource.filters]);
    const operator = one(random, operators);
    const write = (value: unknown): number =>
      written.push(`${field}${operator === "eq" ? "" : `[${operator}]`}=${encodeURIComponent(String(value))}`);
    const pool = collectParts(choosePool(world, name, field), operator);
    const any: Condition[] = [];
    for (let times = random(4) === 0 ? 2 : 1; times > 0; times--) {
      let value: unknown = operator === "null" ? random(2) === 0 : one(random, pool);
      if (operator === "in")
        value = [one(random, pool), ...some(random, pool, 3)].filter((each) => !String(each).includes(","));
      write(value);
      any.push({ [field]: { [operator]: value } });
    }
    // The service joins all values for one field and operator of a URL by OR, and the model would join two such
    // conditions by AND.
    if (written.some((each, at) => at < written.length - any.length && each.startsWith(written.at(-1)!.split("=")[0]!)))
      written.splice(-any.length);
    else all.push({ any });
  }
  return [{ all }, written];
}

function drawSort(random: Random, { sorts }: { readonly sorts: readonly string[] }): string {
  return some(random, sorts, 2)
    .map((field) => (random(2) === 0 ? field : `-${field}`))
    .join(",");
}

function drawExpand(random: Random, world: World, { relations }: ModelResource): string[] {
  return some(random, Object.keys(relations), 2).flatMap((name) => {
    const inner = Object.keys(getPlace(world, relations[name]!.to).relations);
    return [name, ...some(random, inner, 1).map((each) => `${name}.${each}`)];
  });
}

function getPlace({ places }: World, name: string): ModelResource {
  return places.find((each) => each.name === name)!;
}

// The expected results.

interface Asked {
  readonly caller: Caller;
  readonly expand: readonly string[];
}

function buildShownRecord(
  world: World,
  place: ModelResource,
  { caller, expand }: Asked,
  record: Seen,
  fields: readonly string[] | null,
): Seen {
  const own = fields === null ? record : Object.fromEntries(fields.map((name) => [name, record[name]]));
  const expansions: Record<string, unknown> = {};
  for (const [name, { to, by }] of Object.entries(place.relations)) {
    if (!expand.some((each) => each === name || each.startsWith(`${name}.`))) continue;
    const inner = expand.filter((each) => each.startsWith(`${name}.`)).map((each) => each.slice(name.length + 1));
    const target = getPlace(world, to);
    const show = (each: Seen): Seen => buildShownRecord(world, target, { caller, expand: inner }, each, null);
    if (by === null) Object.assign(expansions, partsOfThing(world, place, caller, record, show));
    else {
      const found = [record[by]].flat().flatMap((id) => {
        const each = findRecord(world, to, id);
        return each !== undefined && allows(world, target, caller, "read", each) ? [show(each)] : [];
      });
      expansions[name] = by === "other_id" || by === "country" ? (found[0] ?? null) : found;
    }
  }
  return { ...own, ...expansions };
}

function partsOfThing(
  world: World,
  place: ModelResource,
  caller: Caller,
  record: Seen,
  show: (part: Seen) => Seen,
): Seen {
  if (!allows(world, place, caller, "read", record)) return { parts: [] };
  const parts = getPlace(world, "part");
  const isById = parts.rule[getCallerId(caller)]!.read === "odd";
  const mayRead = (each: Seen): boolean => allows(world, parts, caller, "read", each);
  const listed = world.parts
    .get(Number(record["id"]))!
    .filter((each) => allows(world, parts, caller, "list", each, record["id"]) && (isById || mayRead(each)));
  const first = listed.slice(0, 100).filter(mayRead).map(show);
  return { parts: first, ...(listed.length > 100 ? { parts_next: true } : {}) };
}

// The requests.

async function askOne(world: World, random: Random): Promise<void> {
  const place = one(random, world.places);
  const { mount: mounted, name } = place;
  const { resource } = mounted;
  const caller = one(random, callers);
  const isQuery = random(2) === 0;
  const thing = name === "part" ? one(random, world.records.get("thing")!) : null;
  const path = resource.path.replace("{thing_id}", String(thing?.["id"]));
  const all = thing === null ? world.records.get(name)! : world.parts.get(Number(thing["id"]))!;

  // Requests without a filter are the most common. An index serves them in most tables.
  const isPlain = random(4) === 0;
  const [where, written]: [Condition, string[]] = isPlain
    ? [{ all: [] }, []]
    : isQuery
      ? [drawCondition(random, resource.filters, 3, world, name), []]
      : drawFilters(random, world, place);
  const sort = isPlain ? one(random, ["", "-id"]) : drawSort(random, resource);
  const search =
    resource.search.length > 0 && random(5) === 0
      ? one(random, ["a", "ab", "STRASSE", "σας", "x y", "b c a", "zz"])
      : null;
  const wanted = random(3) === 0 ? some(random, mounted.shown, 4) : null;
  const shown = wanted === null || wanted.length === 0 ? null : mounted.shown.filter((each) => wanted.includes(each));
  const expand = random(2) === 0 ? drawExpand(random, world, place) : [];
  const limit = random(4) === 0 ? 1 + random(3) : 3 + random(60);
  const once = {
    ...(sort === "" ? {} : { sort }),
    ...(search === null ? {} : { search }),
    ...(shown === null ? {} : { fields: wanted!.join() }),
    ...(expand.length === 0 ? {} : { expand: expand.join() }),
  };
  const count = one(random, ["exact", "estimated", null]);
  const format = formats[one(random, ["json", "json", "xml", "html", expand.length === 0 ? "csv" : "json"] as const)];
  const headers = {
    accept: format.accept,
    ...(count === null || isQuery ? {} : { prefer: `count=${count}` }),
  };
  const body = isQuery ? { where, limit, ...once, ...(count === null ? {} : { count }) } : undefined;
  const parameters = [
    ...written,
    `limit=${limit}`,
    ...Object.entries(once).map(([key, value]) => `${key}=${encodeURIComponent(value)}`),
  ];
  const first = isQuery ? path : `${path}?${parameters.join("&")}`;
  const ask = (address: string): Promise<OwnAnswer> =>
    world.api.ask(isQuery ? "QUERY" : "GET", address, {
      headers,
      ...(caller === undefined ? {} : { as: caller }),
      ...(body === undefined ? {} : { body }),
    });
  const said = `${format.accept}: ${isQuery ? `QUERY ${path} ${JSON.stringify(body)}` : `GET ${first}`} as ${caller} by ${JSON.stringify(place.rule[getCallerId(caller)])}`;

  const start = await ask(first);
  const may = mayList(world, place, caller, thing);
  assert.equal(start.status, may, `${said}: ${start.text.slice(0, 2000)}`);
  if (may !== 200) return;
  const visible = all.filter(
    (each) => allows(world, place, caller, "list", each, thing?.["id"]) && holds(kinds, where, each),
  );
  const found = sorted(
    kinds,
    visible.filter((each) => search === null || isFound(resource.search, search, each)),
    sort,
  );
  const names = shown ?? mounted.shown;
  const expected = found.map((each) => plain(buildShownRecord(world, place, { caller, expand }, each, shown)) as Seen);
  const pages: (readonly unknown[])[] = [];
  const read = (page: OwnAnswer, before: number): readonly unknown[] => {
    assert.equal(page.status, 200, `${said}: ${page.text}`);
    return format.rows(page, expected.slice(pages.slice(0, before).flat().length), names);
  };
  let page = start;
  for (;;) {
    pages.push(read(page, pages.length));
    const { next } = readLinks(page);
    if (next === undefined) break;
    page = await ask(next);
  }
  assert.deepEqual(
    pages.flat(),
    expected.map((each) => format.row(each, names)),
    said,
  );
  const isNarrowed =
    thing !== null ||
    written.length > 0 ||
    isQuery ||
    search !== null ||
    place.rule[getCallerId(caller)]!.list !== "allow";
  if (count !== null && (count === "exact" || isNarrowed))
    assert.equal(start.headers.get("x-total-count"), String(expected.length), `${said}: the count`);
  if (random(3) !== 0) return;
  for (let at = pages.length - 1; at > 0; at--) {
    const { prev } = readLinks(page);
    assert.ok(prev !== undefined, `${said}: no way back from page ${at}`);
    page = await ask(prev);
    assert.deepEqual(read(page, at - 1), pages[at - 1], `${said}: page ${at - 1} on the way back`);
  }
}

function mayList(world: World, place: ModelResource, caller: Caller, thing: Seen | null): number {
  const { list } = place.rule[getCallerId(caller)]!;
  const isDenied = list === "deny" || (list === "odd" && Number(thing!["id"]) % 2 === 0);
  if (isDenied) return caller === undefined ? 401 : 403;
  return thing === null || allows(world, getPlace(world, "thing"), caller, "read", thing) ? 200 : 404;
}

/** Asserts that a caller gets a record by its own path only if the permission allows it. */
async function askRecord(world: World, random: Random): Promise<void> {
  const place = one(
    random,
    world.places.filter(({ name }) => name !== "part"),
  );
  const caller = one(random, callers);
  const record = one(random, world.records.get(place.name)!);
  const expand = random(2) === 0 ? drawExpand(random, world, place) : [];
  const path = `${place.mount.resource.path}/${encodeURIComponent(String(record["id"]))}${expand.length === 0 ? "" : `?expand=${expand.join()}`}`;
  const answer = await world.api.get(path, caller === undefined ? {} : { as: caller });
  const { read } = place.rule[getCallerId(caller)]!;
  const said = `GET ${path} as ${caller} by ${JSON.stringify(read)}: ${answer.text}`;
  if (read === "deny" || (read === "odd" && Number(record["id"]) % 2 === 0))
    return assert.equal(answer.status, caller === undefined ? 401 : 403, said);
  const may = allows(world, place, caller, "read", record);
  assert.equal(answer.status, may ? 200 : 404, said);
  if (may)
    assert.deepEqual(plain(answer.json), plain(buildShownRecord(world, place, { caller, expand }, record, null)), said);
}

// The data.

async function fill(api: Own, { engine, sql }: Before, random: Random): Promise<void> {
  const create = async (path: string, body: unknown): Promise<OwnAnswer> => {
    const answer = await api.ask("POST", path, { as: "root", body });
    assert.equal(answer.status, 201, `${path}: ${answer.text}`);
    return answer;
  };
  for (const id of pools["tags"]!)
    await create("/tags", { label: one(random, pools["label"]!), owner_id: id === 5 ? null : 1 + random(3) });
  const albums: unknown[] = [];
  for (const size of [1, null, 2])
    albums.push((await create("/albums", { label: one(random, pools["label"]!), size })).json.id);
  const left = [...pools["mail"]!];
  const names = ["owner_id", "note", "size", "price", "rate", "weight", "on", "at", "day", "state", "link", "code"];
  const things = Array.from({ length: 40 }, (_, at) => ({
    label: one(random, pools["label"]!),
    ...Object.fromEntries(names.filter(() => random(4) > 0).map((name) => [name, one(random, pools[name]!)])),
    ...(random(8) === 0 && left.length > 0 ? { mail: left.pop() } : {}),
    lines: some(random, pools["label"]!, 2),
    data: one(random, [null, 1, "x", [1, "b"], { a: null, "=b": [true] }]),
    tags: some(random, pools["tags"]!, 3),
    albums: random(3) === 0 ? null : some(random, albums, 2),
    ...(at > 20 && random(2) === 0 ? { other_id: 1 + random(20) } : {}),
  }));
  const made = await create("/things", things);
  for (const { id } of made.json as { id: number }[])
    for (let at = id === 3 ? 104 : random(5); at > 0; at--)
      await create(`/things/${id}/parts`, {
        label: one(random, pools["label"]!),
        count: random(4),
        tags: some(random, pools["tags"]!, 2),
      });
  for (const id of pools["country"]!) {
    const body = { label: one(random, pools["label"]!), ...(random(2) === 0 ? { size: random(3) } : {}) };
    await sql(
      `INSERT INTO their_countries VALUES (${quoted(id)}, ${quoted(body.label)}, ${quoted(body.size ?? null)})`,
    );
  }
  for (let id = 1; id <= 30; id++)
    await sql(`INSERT INTO their_members VALUES (${drawMember(random, engine, id).join(", ")})`);
}

/** Returns the values of a row of `their_members` in SQL, as another program would write them. */
function drawMember(random: Random, engine: Before["engine"], id: number): string[] {
  const maybe = (values: readonly unknown[]): string => quoted(random(4) === 0 ? null : one(random, values));
  const spaced = pools["joined_at"]!.map((each) =>
    String(each)
      .replace("T", " ")
      .replace(/(\.000)?Z$/, engine === "sqlite" ? "" : "+00"),
  );
  const micro = ["2026-01-31 09:30:00.123456", "2026-01-31 09:30:00.1"].map(
    (each) => each + (engine === "sqlite" ? "" : "+00"),
  );
  return [
    String(id),
    quoted(one(random, ["", ...pools["label"]!])),
    maybe(pools["note"]!),
    maybe(pools["size"]!),
    maybe(pools["fee"]!.map(Number)),
    maybe([...pools["weight"]!, 1e300]),
    maybe([true, false]),
    maybe([...spaced, ...micro]),
    maybe(pools["day"]!),
    maybe(pools["state"]!),
    maybe(pools["country"]!),
    maybe(['{"a": 1}', "[1,2]", "3"]),
  ];
}

function quoted(value: unknown): string {
  return value === null ? "NULL" : typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : String(value);
}

async function readAll(api: Own, places: readonly ModelResource[]): Promise<World> {
  const read = async (path: string): Promise<readonly Seen[]> => {
    const { status, json, text } = await api.get(`${path}?limit=1000`, { as: "root" });
    assert.equal(status, 200, `${path}: ${text}`);
    return json;
  };
  const records = new Map<string, readonly Seen[]>();
  for (const {
    name,
    mount: { resource },
  } of places)
    if (name !== "part") records.set(name, await read(resource.path));
  const parts = new Map<number, readonly Seen[]>();
  for (const { id } of records.get("thing")!) parts.set(Number(id), await read(`/things/${String(id)}/parts`));
  return { api, places, records, parts };
}

onBoth(
  `answers ${queries} random queries like a model in memory, for every caller (seed ${seed})`,
  made,
  async (before, t) => {
    const random = randomFrom(seed);
    let left = queries;
    for (let round = 0; left > 0; round++) {
      const places = mountWorld((fields, hasIntegers) => drawRule(random, fields, hasIntegers));
      const mounts = places.map((each) => each.mount);
      const api = await ownService(t, {
        store: before.makeStore(),
        mounts,
        formats: [csv()],
        features: [consolePages({ title: "Things" })],
      });
      if (round === 0) await fill(api, before, random);
      const world = await readAll(api, places);
      for (const end = Math.max(0, left - ofOneWorld); left > end; left--) {
        await askOne(world, random);
        await askRecord(world, random);
      }
      await api.service.close();
    }
  },
);
