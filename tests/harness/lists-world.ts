import { everyAction } from "../../src/access/permission/contract.ts";
import type { AllowedRows, Permission } from "../../src/door/auth.ts";
// The resources and records for the model and the service: every kind of field, relations, existing tables.
import {
  administrator,
  boolean,
  dateTime,
  decimal,
  defineResource,
  email,
  enumeration,
  integer,
  json,
  mount,
  reference,
  text,
} from "../../src/door/index.ts";
import {
  array,
  date,
  number,
  olderShape,
  references,
  url,
  uuid,
  type Mount,
  type Resource,
} from "../../src/door/resources.ts";
import type { Condition, Kinds } from "./lists-model.ts";

/**
 * The permission of a caller on the records of a resource: all, none, those of a condition, or those with an odd id in
 * their path.
 */
export type Verdict = "allow" | "deny" | "odd" | Condition;
/** The permissions by the id of the caller. 0 is an unknown caller. */
export type Rule = Readonly<Record<number, { readonly list: Verdict; readonly read: Verdict }>>;
export type Random = (below: number) => number;
export type Pool = readonly (string | number | boolean)[];

const words = [
  "a",
  "A",
  "ab",
  "Ab",
  "aB c",
  "b%",
  "b_",
  "Ä",
  "ä",
  "ab  straße",
  "\u{10000}",
  "\uFFFD",
  "=1+1",
  "ΣΑΣ",
  "ασ",
  "ſµs",
  "SΜ",
  "ẛϐ",
  "Ṡ",
  "x'y",
  'q"r',
];
const uuids = [
  "0198c5d8-7a4c-7b1f-9d0e-3f2a61c4b7e5",
  "0198c5d8-7a4c-7b1f-9d0e-3f2a61c4b7e6",
  "ffffffff-ffff-4fff-8fff-ffffffffffff",
];
const times = [
  "2026-01-31T09:30:00.000Z",
  "2026-01-31T09:30:00.001Z",
  "2025-01-01T00:00:00.000Z",
  "0099-12-31T23:59:59.999Z",
];

/** The values for writes and queries. */
export const pools: Readonly<Record<string, Pool>> = {
  owner_id: [1, 2, 3],
  label: words,
  note: words,
  size: [-2, -1, 0, 1, 2, 10, 9007199254740991, -9007199254740991],
  price: ["-9.50", "-0.05", "0.00", "9.00", "10.00", "99.99"],
  rate: [-1.5, -0.0001, 0, 0.1, 1.005, 99.9999],
  weight: [-9007199254740991, -0.1, 0, 0.1, 0.30000000000000004, 1, 1.5e-7, 5e-324],
  on: [true, false],
  at: times,
  day: ["2026-01-31", "2024-02-29", "0001-01-01", "9999-12-31"],
  state: ["open", "closed"],
  mail: ["a@example.com", "B@example.com", "c@Example.com", "D@EXAMPLE.com"],
  link: ["https://example.org/", "https://example.org/a?b=c", "http://x.example/"],
  code: uuids,
  tags: [1, 2, 3, 4, 5],
  other_id: [1, 2, 3, 7],
  country: ["ch", "de", "ß/ä", "Z%"],
  member_id: [1, 2, 3, 9],
  count: [0, 1, 2, 3],
  fee: ["-1.50", "0.00", "0.07", "12.50"],
  joined_at: [
    "2026-01-31T09:30:00.123Z",
    "2026-01-31T09:30:00.000Z",
    "2026-02-01T00:00:00.500Z",
    "1999-01-01T00:00:00.000Z",
  ],
  thing_id: [1, 2, 3, 4],
};

export const kinds: Kinds = {
  id: "number",
  owner_id: "number",
  label: "text",
  note: "text",
  size: "number",
  price: "decimal",
  rate: "decimal",
  weight: "number",
  on: "boolean",
  at: "date-time",
  day: "date",
  state: "text",
  mail: "folded",
  link: "text",
  code: "text",
  tags: "ids",
  albums: "ids",
  other_id: "number",
  country: "text",
  member_id: "number",
  count: "number",
  fee: "decimal",
  joined_at: "date-time",
  thing_id: "number",
  // A field of the older shape.
  name: "text",
  cost: "decimal",
  many: "number",
  closed: "boolean",
  labels: "ids",
};

const every = ["eq", "ne", "lt", "lte", "gt", "gte", "in", "null"] as const;
const textual = ["eq", "ne", "lt", "lte", "gt", "gte", "in", "contains", "starts"] as const;

const tag = defineResource({
  name: "tag",
  fields: { label: text({ maxLength: 20 }), owner_id: integer({ optional: true }) },
  filters: { label: ["eq", "istarts"], owner_id: ["eq", "null"] },
  sorts: ["label"],
  scans: true,
});
const album = defineResource({
  name: "album",
  id: "uuid",
  fields: { label: text({ maxLength: 20 }), size: integer({ optional: true }) },
  filters: { id: ["eq", "in", "gt"], label: [...textual], size: [...every] },
  sorts: ["size", "label"],
  scans: true,
});
const thing = defineResource({
  name: "thing",
  fields: {
    owner_id: integer({ optional: true }),
    label: text({ maxLength: 20 }),
    note: text({ maxLength: 20, optional: true }),
    size: integer({ optional: true }),
    price: decimal({ scale: 2, minimum: "-100", maximum: "100", optional: true }),
    rate: decimal({ scale: 4, minimum: "-100", maximum: "100", json: "number", optional: true }),
    weight: number({ optional: true }),
    on: boolean({ optional: true }),
    at: dateTime({ optional: true }),
    day: date({ optional: true }),
    state: enumeration(["open", "closed"], { optional: true }),
    mail: email({ unique: "case-insensitive", optional: true }),
    link: url({ optional: true }),
    code: uuid({ optional: true }),
    lines: array(text({ maxLength: 20 }), { default: [] }),
    data: json({ optional: true }),
    tags: references(tag, { default: [] }),
    albums: references(album, { optional: true }),
    other_id: reference("things", { optional: true }),
    secret: text({ writeOnly: true, optional: true }),
  },
  computed: {
    worth: { as: number({ optional: true }), sql: '"size" * 1.5e0' },
    large: { as: boolean({ optional: true }), sql: '"size" > 1' },
    loud: { as: text(), sql: { sqlite: `"label" || '!'`, postgres: `"label" || '!'` } },
    twice: { as: text(), from: ({ label }) => String(label) + String(label) },
  },
  filters: {
    id: ["eq", "ne", "in", "gt", "gte", "lt", "lte"],
    owner_id: [...every],
    label: [...textual, "icontains", "istarts"],
    note: [...textual, "icontains", "istarts", "null"],
    size: [...every],
    price: [...every],
    rate: [...every],
    weight: [...every],
    on: ["eq", "ne", "in", "null"],
    at: [...every],
    day: [...every],
    state: ["eq", "ne", "in", "null"],
    mail: ["eq", "ne", "in", "null"],
    link: ["eq", "starts", "null"],
    code: ["eq", "ne", "in", "null"],
    tags: ["eq", "in"],
    albums: ["eq", "in"],
    other_id: [...every],
  },
  sorts: ["label", "note", "size", "price", "rate", "weight", "at", "day", "on", "state", "code", "other_id"],
  search: ["label", "note"],
  scans: true,
});
const part = defineResource({
  name: "part",
  within: thing,
  fields: { label: text({ maxLength: 20 }), count: integer(), tags: references(tag, { default: [] }) },
  filters: { count: ["eq", "gte", "in"], label: ["eq", "ne"], tags: ["eq"] },
  sorts: ["count", "label"],
  scans: true,
});
/** A resource on a table with an integer key. */
const member = defineResource({
  name: "member",
  table: "their_members",
  columns: { id: "member no", label: "first name", country: "country_code" },
  fields: {
    label: text({ maxLength: 20, minLength: 0, trim: false }),
    note: text({ maxLength: 200, optional: true }),
    size: integer({ optional: true }),
    fee: decimal({ scale: 2, minimum: "-999", maximum: "999", optional: true }),
    weight: number({ optional: true }),
    on: boolean({ optional: true }),
    joined_at: dateTime({ optional: true }),
    day: date({ optional: true }),
    state: enumeration(["open", "closed"], { optional: true }),
    country: reference("countries", { id: "text", optional: true }),
    data: json({ optional: true }),
  },
  computed: { large: { as: boolean({ optional: true }), sql: '"size" > 1' } },
  filters: {
    id: ["eq", "in", "gt", "lte"],
    label: [...textual],
    note: [...textual, "null"],
    size: [...every],
    fee: [...every],
    weight: [...every],
    on: ["eq", "ne", "null"],
    joined_at: [...every],
    day: [...every],
    state: ["eq", "ne", "in", "null"],
    country: [...every],
  },
  sorts: ["label", "note", "size", "fee", "weight", "joined_at", "day", "country", "state"],
  scans: true,
});
/** A resource on a table with a text key. */
const country = defineResource({
  name: "country",
  plural: "countries",
  table: "their_countries",
  columns: { id: "code" },
  id: "text",
  fields: { label: text({ maxLength: 50 }), size: integer({ optional: true }) },
  filters: { id: ["eq", "in", "gt"], label: [...textual], size: [...every] },
  sorts: ["label", "size"],
  scans: true,
});

/** The existing tables. */
export const made = {
  sqlite: `
    CREATE TABLE their_countries (code varchar(10) PRIMARY KEY, label text NOT NULL, size integer);
    CREATE TABLE their_members ("member no" integer PRIMARY KEY, "first name" varchar(20) NOT NULL, note text, size bigint, fee decimal(9,2),
      weight real, "on" bool, joined_at datetime, day date, state varchar(10), country_code varchar(10) REFERENCES their_countries (code), data text);
    CREATE INDEX m1 ON their_members (joined_at); CREATE INDEX m2 ON their_members (country_code, size); CREATE INDEX m3 ON their_members ("first name");`,
  postgres: `
    CREATE TYPE their_state AS ENUM ('open', 'closed');
    CREATE TABLE their_countries (code varchar(10) PRIMARY KEY, label text NOT NULL, size integer);
    CREATE TABLE their_members ("member no" integer PRIMARY KEY, "first name" varchar(20) NOT NULL, note text, size bigint, fee numeric(9,2),
      weight double precision, "on" boolean, joined_at timestamptz, day date, state their_state, country_code varchar(10) REFERENCES their_countries (code), data jsonb);
    CREATE INDEX m1 ON their_members (joined_at); CREATE INDEX m2 ON their_members (country_code, size); CREATE INDEX m3 ON their_members ("first name");`,
};

/** A resource for the model. */
export interface ModelResource {
  readonly name: string;
  readonly mount: Mount;
  readonly rule: Rule;
  readonly relations: Readonly<Record<string, Leads>>;
}

/** The fields that permissions narrow by, for each resource. */
const narrowing = {
  tag: ["owner_id", "label"],
  album: ["size", "label"],
  thing: [
    "owner_id",
    "label",
    "size",
    "price",
    "rate",
    "weight",
    "on",
    "at",
    "day",
    "state",
    "mail",
    "code",
    "other_id",
    "id",
    "note",
  ],
  part: ["count", "label"],
  member: ["label", "size", "fee", "weight", "on", "joined_at", "day", "state", "country", "id", "note"],
  country: ["size", "label"],
} as const;

/** Mounts everything with random permissions. */
export function mountWorld(draw: (fields: readonly string[], hasIntegers: boolean) => Rule): readonly ModelResource[] {
  const rules: Record<string, Rule> = {};
  const place = (name: keyof typeof narrowing, resource: Resource, more: object = {}): Mount => {
    const rule = draw(narrowing[name], resource.id === "integer");
    rules[name] = rule;
    const drawn = createPermission(rule, resource);
    const writes = resource.table === null ? { create: administrator } : {};
    const permission = { list: drawn, read: drawn, ...writes };
    return mount(resource, { permission, ...more });
  };
  const mounts = {
    tag: place("tag", tag),
    album: place("album", album),
    country: place("country", country),
    member: place("member", member, { expand: { land: "country" } }),
    part: place("part", part, { expand: { labels: "tags" } }),
  };
  const expand = { parts: mounts.part, named: "tags", collected: "albums", other: "other_id" };
  const things = place("thing", thing, { arrays: true, expand });
  const renamed = { name: "label", cost: "price", many: "size", labels: "tags", other_id: "other_id" };
  const older = olderShape(things, { prefix: "/v1", fields: renamed });
  const all = { ...mounts, thing: things, older };
  return Object.entries(all).map(([name, each]) => ({
    name,
    mount: each,
    rule: rules[name === "older" ? "thing" : name]!,
    relations: relations[name] ?? {},
  }));
}

/**
 * The target of a relation: the records whose ids the field `by` contains. If `by` is null, the records that belong to
 * this record.
 */
export interface Leads {
  readonly to: string;
  readonly by: string | null;
}

const toTags = { to: "tag", by: "tags" };
const ofThings = { parts: { to: "part", by: null }, named: toTags, other: { to: "thing", by: "other_id" } };
const relations: Readonly<Record<string, Readonly<Record<string, Leads>>>> = {
  part: { labels: toTags },
  member: { land: { to: "country", by: "country" } },
  thing: { ...ofThings, collected: { to: "album", by: "albums" } },
  older: { ...ofThings, named: { to: "tag", by: "labels" }, other: { to: "older", by: "other_id" } },
};

function createPermission(rule: Rule, { parentColumn }: Resource): Permission<string> {
  return {
    name: "drawn",
    narrows: everyAction,
    columns: [],
    decide({ identity, action, params }) {
      const verdict = rule[identity?.id ?? 0]![action === "list" ? "list" : "read"];
      if (verdict === "odd")
        return Number(params[action === "list" ? parentColumn! : "id"]) % 2 === 1 ? "allow" : "deny";
      return typeof verdict === "string" ? verdict : { only: toAllowedRows(verdict) };
    },
  };
}

/** Converts a condition of a query to the form of permissions and stores. */
function toAllowedRows(condition: Condition): AllowedRows {
  const all = Object.entries(condition).flatMap(([name, value]): AllowedRows[] => {
    if (name === "all" || name === "any")
      return [{ [name]: (value as Condition[]).map(toAllowedRows) } as unknown as AllowedRows];
    if (name === "not") return [{ not: toAllowedRows(value as Condition) }];
    return Object.entries(value as object).map(
      ([operator, wanted]) => ({ column: name, operator, value: wanted }) as AllowedRows,
    );
  });
  return { all };
}
