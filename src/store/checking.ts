import {
  aBoolean,
  aFunction,
  anObject,
  anything,
  aWholeNumber,
  isObject,
  isStrange,
  isText,
  membersMistakes,
  buildObjectCheck,
  buildChoiceCheck,
  optional,
  formatMistakes,
  shown,
  shownTo,
  describeType,
  text,
  joinMistakes,
  unseen,
  wholeFrom,
  type ValueCheck,
  type Checks,
  type Members,
  objectWith,
} from "../core/checking/members.ts";
import { shownName, suggestion } from "../core/checking/nearest.ts";
import type { ChecksOf } from "../core/checking/options.ts";
import { anIssueList } from "../core/problem/problem.ts";
import type {
  Change,
  Collection,
  Column,
  ExistingTable,
  StoredLinks,
  Origin,
  Requirement,
  Transaction,
} from "./store.ts";

/** Checks that a value is a store, by the methods that all parts of a service use. */
export const aStore: ValueCheck = objectWith(
  "a store, like sqliteStore({ path })",
  "open",
  "find",
  "list",
  "listJSON",
  "write",
  "close",
);

/** Returns the mistakes in a declared table. Each names its place in the table. */
export function collectionMistakes(collection: Readonly<Record<string, unknown>>): readonly string[] {
  const mistakes = membersMistakes(collection, collectionMembers);
  const { columns, indexes = [], uniques = [] } = collection;
  if (mistakes.length > 0 || !Array.isArray(columns)) return mistakes;
  const columnNames = ["id", ...columns.map((column: Column) => column.name)];
  return [
    ...columnNames
      .filter((name) => !/^[a-z][a-z0-9_]*$/i.test(name))
      .map((name) => `the column ${shownName(name)} needs a name of letters, digits and underscores`),
    ...columnNames
      .filter((name, at) => columnNames.indexOf(name) < at)
      .map((name) => `the column ${name} is declared twice; keep one`),
    ...(indexes as readonly (readonly string[])[])
      .flat()
      .filter((name) => !columnNames.includes(name))
      .map(
        (name) => `an index names the column ${shownName(name)}, which does not exist${suggestion(name, columnNames)}`,
      ),
    ...(uniques as readonly (readonly string[])[])
      .flat()
      .filter((name) => !columnNames.includes(name))
      .map(
        (name) => `uniques names the column ${shownName(name)}, which does not exist${suggestion(name, columnNames)}`,
      ),
  ];
}

const aFlag: ValueCheck = (value) => (value === true ? null : "it has to be true, or left out");

const originMembers: ChecksOf<Origin> = {
  renamedFrom: optional(text),
  convert: optional((value) =>
    typeof value === "function" || isObject(value) ? null : "it has to be a function, or { sqlite: …, postgres: … }",
  ),
  backfill: anything,
};

const columnMembers: ChecksOf<Column> = {
  name: text,
  type: buildChoiceCheck("integer", "text", "boolean", "decimal", "double", "date", "date-time", "json"),
  nullable: optional((value) => (typeof value === "boolean" ? null : "it has to be true or false")),
  unique: optional((value) =>
    typeof value === "boolean" || value === "folded" ? null : 'it has to be true, false or "folded"',
  ),
  folded: optional(aFlag),
  searched: optional(aFlag),
  few: optional(aFlag),
  served: optional(buildChoiceCheck("equality", "nothing")),
  mayRepeat: optional(aFlag),
  scale: optional(wholeFrom(0, 15)),
  number: optional(aFlag),
  default: anything,
  rule: anything,
  fits: optional(aFunction),
  origin: optional(buildObjectCheck(originMembers, 'it has to be an object, like { renamedFrom: "title" }')),
  references: optional(
    buildObjectCheck(
      { collection: text, onDelete: buildChoiceCheck("cascade", "restrict") },
      'it has to be { collection: "books", onDelete: "restrict" }',
    ),
  ),
};

const existingMembers: ChecksOf<ExistingTable> = {
  table: text,
  names: (value) =>
    isObject(value) && Object.values(value).every(isText)
      ? null
      : "it has to be an object with the real name of each column",
  writes: (value) => (Array.isArray(value) && value.every(isText) ? null : 'it has to be a list, like ["update"]'),
  revision: (value) =>
    value === "database" || value === "digest" || (isObject(value) && isText(value["column"]))
      ? null
      : 'it has to be "database", "digest" or { column: "version" }',
  written: optional((value) => (Array.isArray(value) && value.every(isText) ? null : "it has to be a list of columns")),
  found: anything,
  served: anything,
  constraints: anything,
  sets: anything,
};

const collectionMembers: ChecksOf<Omit<Collection, "typed">> = {
  name: text,
  key: buildChoiceCheck("integer", "text"),
  columns: (value) => {
    if (!Array.isArray(value)) return 'it has to be a list, like [{ name: "at", type: "integer" }]';
    return joinMistakes(Array.from(value, columnMistake).filter((mistake) => mistake !== null));
  },
  computed: optional((value) => {
    if (!Array.isArray(value))
      return 'it has to be a list, like [{ name: "sum", type: "integer", sql: { sqlite: … } }]';
    return joinMistakes(Array.from(value, computedMistake).filter((mistake) => mistake !== null));
  }),
  existing: optional(buildObjectCheck(existingMembers, 'it has to be an object, like { table: "auth_user", … }')),
  removed: optional((value) =>
    isObject(value) && Object.values(value).every((month) => isText(month) && /^\d{4}-\d\d$/.test(month))
      ? null
      : 'it has to name a month for each column, like { nickname: "2027-01" }',
  ),
  links: optional(
    buildObjectCheck(
      { collection: text, column: text, was: optional(text) } satisfies ChecksOf<StoredLinks>,
      'it has to be { collection: "posts", column: "tags" }',
    ),
  ),
  indexes: optional((value) =>
    Array.isArray(value) && value.every((each) => Array.isArray(each) && each.every(isText))
      ? null
      : 'it has to be a list of lists of columns, like [["user_id"]]',
  ),
  uniques: optional((value) =>
    Array.isArray(value) && value.every((each) => Array.isArray(each) && each.length > 1 && each.every(isText))
      ? null
      : 'it has to be a list of lists of at least two columns, like [["user_id", "project_id"]]',
  ),
};

const expressions = buildObjectCheck(
  { sqlite: optional(text), postgres: optional(text) },
  "it has to be an expression for each database",
);

function computedMistake(column: unknown, at: number): string | null {
  if (!isObject(column)) return columnMistake(column, at);
  const { sql, ...rest } = column;
  return columnMistake(rest, at) ?? expressions(sql);
}

function columnMistake(column: unknown, at: number): string | null {
  if (!isObject(column)) return `columns[${at}] is ${shown(column)}, not an object`;
  const found = membersMistakes(column, columnMembers);
  const place = isText(column["name"]) ? column["name"] : `columns[${at}]`;
  return joinMistakes(found.map((mistake) => `${place}: ${mistake}`));
}

/**
 * Returns the mistakes in the shape of the tables that a store is opened with. Each names its place. The database
 * checks the rest.
 */
export function storeMistakes(collections: unknown): readonly string[] {
  if (!Array.isArray(collections)) return [`the collections are ${shown(collections)}; a store is opened with a list`];
  return Array.from(collections, (each: unknown, at) => {
    if (!isObject(each)) return [`collections[${at}] is ${shown(each)}, not an object`];
    const place = isText(each["name"]) ? `collection ${each["name"]}` : `collections[${at}]`;
    return membersMistakes(each, collectionMembers).map((mistake) => `${place}: ${mistake}`);
  }).flat();
}

const aCollection: ValueCheck = (value) =>
  isObject(value) && isText(value["name"]) ? null : "it has to be a collection of the service";
const aWhere: ValueCheck = (value) =>
  isObject(value) ? null : 'it has to be a condition, like { column: "at", operator: "lt", value: 7 }';
/** The value of a key is checked later, by its table, which knows the type. */
const common = { kind: anything, collection: aCollection, key: anything };
/**
 * Refuses an instance of a class that has no own properties, like a Map, because the store writes only own properties.
 */
const values: ValueCheck = (value) =>
  anObject(value) ??
  (isStrange(value as Members, Object.keys(value as Members))
    ? "it has to be an object with the columns by their names"
    : null);
const revision = optional(unseen(aWholeNumber));
const atMost = optional(wholeFrom(1));

/** The members that each kind of change has. */
const changeMembers: { readonly [K in Change["kind"]]: ChecksOf<Required<Extract<Change, { readonly kind: K }>>> } = {
  insert: { ...common, values },
  link: {
    kind: anything,
    collection: aCollection,
    record: anything,
    ids: (value) => (Array.isArray(value) ? null : "it has to be a list of ids"),
  },
  update: {
    ...common,
    values,
    revision,
    shown: optional((value) => (Array.isArray(value) && value.every(isText) ? null : "it has to be a list of columns")),
  },
  delete: { ...common, revision },
  updateAll: { kind: anything, collection: aCollection, where: aWhere, values, atMost },
  deleteAll: { kind: anything, collection: aCollection, where: aWhere, atMost },
  add: { ...common, column: text, by: aWholeNumber, values },
  forget: { ...common, caller: (value) => (isText(value) ? null : "it has to be a text") },
  require: {
    kind: anything,
    collection: aCollection,
    where: aWhere,
    atLeast: optional(wholeFrom(0)),
    atMost: optional(wholeFrom(0)),
    isGuarded: optional(aBoolean),
    name: text,
    issues: optional(anIssueList),
  },
};

const kinds = Object.keys(changeMembers);
const knownMembers: ReadonlyMap<unknown, Checks> = new Map(Object.entries(changeMembers));

const requirementMembers: ChecksOf<Requirement> = { collection: aCollection, where: aWhere };

/** Throws a TypeError if a requirement has a wrong member, because a requirement must not be ignored. */
export function requireRequirements({ requires }: Transaction): void {
  if (requires === undefined) return;
  const list: unknown = requires;
  if (!Array.isArray(list)) throw new TypeError(`The requires of a transaction are ${describeType(list)}, not a list.`);
  for (const [at, each] of (list as readonly unknown[]).entries()) {
    const mistakes = isObject(each) ? membersMistakes(each, requirementMembers) : [`it is ${describeType(each)}`];
    if (mistakes.length > 0)
      throw new TypeError(`Requirement ${at} of a transaction cannot be checked: ${formatMistakes(mistakes)}`);
  }
}

/** Throws a TypeError if a change has an unknown kind or an unknown member. The store would ignore it silently. */
export function requireChanges({ changes }: Transaction): void {
  const changeList: unknown = changes;
  if (!Array.isArray(changeList))
    throw new TypeError(`The changes of a transaction are ${describeType(changeList)}, not a list.`);
  for (let at = 0; at < changeList.length; at++) {
    const change: unknown = changeList[at];
    const mistake = isObject(change) ? changeMistake(change) : `it is ${describeType(change)}, not an object`;
    if (mistake !== null)
      throw new TypeError(`Change ${at} of a transaction cannot be made: ${formatMistakes([mistake])}`);
  }
}

function changeMistake(change: Members): string | null {
  const { kind } = change;
  const memberChecks = knownMembers.get(kind);
  if (memberChecks === undefined) return `its kind is ${shown(kind)}; ${buildChoiceCheck(...kinds)(kind)}`;
  for (const name in change)
    if (!Object.hasOwn(memberChecks, name))
      return `there is no member ${shownName(name)} of ${String(kind)}${suggestion(name, Object.keys(memberChecks))}`;
  for (const name in memberChecks) {
    const wrong = memberChecks[name]!(change[name]);
    if (wrong !== null) return `its ${name} is ${shownTo(memberChecks[name]!, change[name])}; ${wrong}`;
  }
  return null;
}
