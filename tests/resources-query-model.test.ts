import assert from "node:assert/strict";
import { test } from "node:test";
import {
  administrator,
  anyOf,
  boolean,
  caller,
  dateTime,
  decimal,
  defineResource,
  enumeration,
  integer,
  mount,
  owner,
  reference,
  text,
} from "../src/door/index.ts";
import { linksOf } from "./own-service.ts";
import { serve } from "./serve.ts";

/** How many queries are asked; `RANDOM_QUERIES=10000` asks for longer. */
const rounds = Number(process.env["RANDOM_QUERIES"] ?? 200);
const seed = Number(process.env["RANDOM_SEED"] ?? 1);

const things = defineResource({
  name: "thing",
  fields: {
    user_id: reference("users", { default: caller }),
    label: text({ maxLength: 20 }),
    note: text({ maxLength: 20, optional: true }),
    size: integer({ optional: true }),
    price: decimal({ scale: 2, minimum: "-100", maximum: "100", optional: true }),
    on: boolean({ optional: true }),
    at: dateTime({ optional: true }),
    state: enumeration(["open", "closed"], { optional: true }),
  },
  filters: {
    id: ["eq", "in", "gt", "lte"],
    user_id: ["eq"],
    label: ["eq", "ne", "lt", "gte", "in", "contains", "starts", "icontains", "istarts"],
    note: ["eq", "ne", "lt", "in", "contains", "starts", "icontains", "istarts", "null"],
    size: ["eq", "ne", "lt", "lte", "gt", "gte", "in", "null"],
    price: ["eq", "ne", "lt", "gte", "in", "null"],
    on: ["eq", "ne", "null"],
    at: ["eq", "lt", "gte", "null"],
    state: ["eq", "ne", "in", "null"],
  },
  sorts: ["label", "note", "size", "price", "at"],
  scans: true,
});

type Thing = Readonly<Record<string, string | number | boolean | null>>;
type Random = (below: number) => number;

const labels = ["a", "A", "ab", "Ab", "aB", "b%", "b_", "", "Ä", "ä", "ab c", "\u{10000}", "\uFFFD"];
const values: Readonly<Record<string, readonly (string | number | boolean)[]>> = {
  id: [0, 1, 2, 5, 17, 30, 99],
  user_id: [1, 2, 3],
  label: labels,
  note: labels,
  size: [-2, -1, 0, 1, 2, 10],
  price: ["-9.50", "-0.05", "0", "0.00", "9", "9.00", "10.00"],
  on: [true, false],
  at: ["2026-01-31T09:30:00.000Z", "2026-01-31T09:30:00.001Z", "2025-01-01T00:00:00.000Z"],
  state: ["open", "closed"],
};

// The model: what the words say, over an array.
const order = (one: string | number, other: string | number): number =>
  typeof one === "number" && typeof other === "number"
    ? one - other
    : Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other)));
const keyed = (field: string, value: unknown): string | number | boolean =>
  field === "price" ? Math.round(Number(value) * 100) : (value as string | number | boolean);
const folded = (value: unknown): string => String(value).normalize("NFC").toLowerCase();

function compares(field: string, operator: string, actual: unknown, wanted: unknown): boolean {
  if (operator === "null") return (actual === null) === wanted;
  if (actual === null) return false;
  const [one, other] = [keyed(field, actual), keyed(field, wanted)] as [string | number, string | number];
  switch (operator) {
    case "eq":
      return one === other;
    case "ne":
      return one !== other;
    case "in":
      return (wanted as unknown[]).some((each) => keyed(field, each) === one);
    case "lt":
      return order(one, other) < 0;
    case "lte":
      return order(one, other) <= 0;
    case "gt":
      return order(one, other) > 0;
    case "gte":
      return order(one, other) >= 0;
    case "contains":
      return String(one).includes(String(other));
    case "starts":
      return String(one).startsWith(String(other));
    case "icontains":
      return folded(one).includes(folded(other));
    case "istarts":
      return folded(one).startsWith(folded(other));
  }
  throw new Error(operator);
}

function holds(condition: object, thing: Thing): boolean {
  return Object.entries(condition).every(([name, value]) => {
    if (name === "all") return (value as object[]).every((each) => holds(each, thing));
    if (name === "any") return (value as object[]).some((each) => holds(each, thing));
    if (name === "not") return !holds(value as object, thing);
    return Object.entries(value as object).every(([operator, wanted]) =>
      compares(name, operator, thing[name]!, wanted),
    );
  });
}

function sorted(found: readonly Thing[], sort: string): readonly Thing[] {
  const parts = [...sort.split(",").filter((part) => part !== ""), "id"];
  return found.toSorted((one, other) => {
    for (const part of parts) {
      const field = part.replace("-", "");
      const [a, b] = [one[field]!, other[field]!];
      if (a === b) continue;
      // Nulls last, both ways.
      if (a === null || b === null) return a === null ? 1 : -1;
      const way = order(keyed(field, a) as string | number, keyed(field, b) as string | number);
      if (way !== 0) return part.startsWith("-") ? -way : way;
    }
    return 0;
  });
}

function randomCondition(random: Random, depth: number): object {
  const kind = depth === 0 ? 9 : random(10);
  const some = (): object[] => Array.from({ length: random(4) }, () => randomCondition(random, depth - 1));
  if (kind < 2) return { any: some() };
  if (kind < 4) return { all: some() };
  if (kind < 6) return { not: randomCondition(random, depth - 1) };
  const condition: Record<string, object> = {};
  for (let count = 1 + random(2); count > 0; count--) {
    const [field, operators] = [...things.filters][random(things.filters.size)]!;
    const own = values[field]!;
    const operator = operators[random(operators.length)]!;
    const one = (): unknown => own[random(own.length)];
    const value =
      operator === "null" ? random(2) === 0 : operator === "in" ? Array.from({ length: random(4) }, one) : one();
    condition[field] = { ...condition[field], [operator]: value };
  }
  return condition;
}

function randomSort(random: Random): string {
  const fields = new Set(Array.from({ length: random(3) }, () => things.sorts[random(things.sorts.length)]!));
  return [...fields].map((field) => (random(2) === 0 ? field : `-${field}`)).join(",");
}

/** mulberry32 */
function randomFrom(state: number): Random {
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

test(`${rounds} random queries find what a model in memory finds, in pages, for everybody (seed ${seed})`, async (t) => {
  const api = await serve(t, {
    config: { mounts: [mount(things, { permission: anyOf(administrator, owner("user_id")) })] },
  });
  const random = randomFrom(seed);
  const callers = [{ id: 1, headers: api.admin }, await api.user("Ann"), await api.user("Bea")];
  for (let at = 0; at < 40; at++) {
    const body: Record<string, unknown> = Object.fromEntries(
      Object.entries(values)
        .filter(([field]) => field !== "id" && field !== "user_id" && (field === "label" || random(3) > 0))
        .map(([field, own]) => [field, own[random(own.length)]]),
    );
    if (body["label"] === "") body["label"] = "x";
    if (body["note"] === "") body["note"] = null;
    const made = await api.post("/things", body, callers[random(3)]!.headers);
    assert.equal(made.status, 201, made.text);
  }
  const all = (await api.get("/things?limit=1000", api.admin)).json as Thing[];

  for (let round = 0; round < rounds; round++) {
    const { id, headers } = callers[random(3)]!;
    const where = randomCondition(random, 3);
    const sort = randomSort(random);
    const body = { where, limit: 1 + random(20), ...(sort === "" ? {} : { sort }) };
    const visible = id === 1 ? all : all.filter((thing) => thing["user_id"] === id);
    const expected = sorted(
      visible.filter((thing) => holds(where, thing)),
      sort,
    );

    const found: Thing[] = [];
    let path: string | undefined = "/things";
    while (path !== undefined) {
      const page: Awaited<ReturnType<typeof api.ask>> = await api.ask("QUERY", path, { headers, body });
      assert.equal(page.status, 200, `${JSON.stringify(body)}: ${page.text}`);
      found.push(...page.json);
      path = linksOf(page)["next"];
    }
    assert.deepEqual(found, expected, `${JSON.stringify(body)}, as user ${id}`);
  }
});
