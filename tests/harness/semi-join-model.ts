import type { Change, Collection, ListQuery, Sort, StoredRecord, Value, Where } from "../../src/store/store.ts";
import type { Draw } from "./draw.ts";

/** The projects, whose keys are numbers. */
const projects: Collection = {
  name: "projects",
  key: "integer",
  columns: [{ name: "team", type: "text", nullable: true }],
};

/** The memberships of users in projects and in teams, whose keys are texts. */
const memberships: Collection = {
  name: "memberships",
  key: "integer",
  columns: [
    { name: "user_id", type: "integer" },
    { name: "project_id", type: "integer", nullable: true },
    { name: "team", type: "text", nullable: true },
    { name: "role", type: "text" },
  ],
  uniques: [["user_id", "project_id"]],
  indexes: [["project_id", "id"], ["team"], ["user_id", "id"]],
};

/** The narrowed rows. Only some of the orders have an index. */
const tasks: Collection = {
  name: "tasks",
  key: "integer",
  columns: [
    { name: "project_id", type: "integer", nullable: true },
    { name: "team", type: "text" },
    { name: "rank", type: "integer" },
    { name: "done", type: "boolean" },
    { name: "cost", type: "integer", nullable: true },
  ],
  indexes: [
    ["rank", "id"],
    ["done", "rank", "id"],
    ["project_id", "rank", "id"],
    ["project_id", "id"],
    ["team", "id"],
    ["cost", "id"],
  ],
};

export const modelTables: readonly Collection[] = [projects, memberships, tasks];

const TEAMS = ["a", "b", "ä", "' OR 1=1", "z"];
const ROLES = ["owner", "editor", "viewer"];
const USERS = 6;
const PROJECTS = 12;

/** The rows of the tables, by the name of the table. */
export type ModelRows = Readonly<Record<string, readonly StoredRecord[]>>;

/** Draws the rows of all tables. User 0 has no membership, and the last user has all. */
export function drawRows(draw: Draw, count: number): ModelRows {
  const some = <T extends Value>(value: T): T | null => (draw.below(8) === 0 ? null : value);
  const numbered = (rows: readonly Omit<StoredRecord, "id">[]): StoredRecord[] =>
    rows.map((row, at) => ({ id: at + 1, ...row }));
  const pairs: { user_id: number; project_id: number | null; team: string | null; role: string }[] = [];
  for (let user = 1; user < USERS; user++)
    for (let project = 1; project <= PROJECTS; project++)
      if (user === USERS - 1 || draw.below(USERS) < user)
        pairs.push({
          user_id: user,
          project_id: some(project),
          team: some(draw.pick(TEAMS)),
          role: draw.pick(ROLES),
        });
  return {
    projects: numbered(Array.from({ length: PROJECTS }, () => ({ team: some(draw.pick(TEAMS)) }))),
    memberships: numbered(pairs),
    tasks: numbered(
      Array.from({ length: count }, () => ({
        project_id: some(1 + draw.below(PROJECTS + 2)),
        team: draw.pick(TEAMS),
        rank: draw.below(9),
        done: draw.below(2) === 0,
        cost: some(draw.below(5)),
      })),
    ),
  };
}

/** Returns the changes that write the rows. */
export function insertRows(rows: ModelRows): Change[] {
  return modelTables.flatMap((collection) =>
    rows[collection.name]!.map(({ id, ...values }) => ({
      kind: "insert" as const,
      collection,
      key: id as number,
      values,
    })),
  );
}

/** Draws a query of tasks or of memberships. About half of them can be served by an index. */
export function drawQuery(draw: Draw, rows: ModelRows): ListQuery {
  const collection = draw.below(5) === 0 ? memberships : tasks;
  const where = drawWhere(draw, collection, 3);
  const descending = draw.below(2) === 0;
  const first = draw.pick(collection === tasks ? ["id", "id", "rank", "rank", "done", "cost"] : ["id", "role"]);
  const sort: Sort[] = first === "id" ? [] : [{ column: first, descending }];
  if (draw.below(6) === 0 && first === "done") sort.push({ column: "rank", descending });
  sort.push({ column: "id", descending: draw.below(8) === 0 ? !descending : descending });
  const query = { collection, where, sort, limit: 1 + draw.below(8) };
  if (draw.below(3) !== 0) return query;
  const { record } = { record: draw.pick(rows[collection.name]!) };
  return { ...query, after: sort.map(({ column }) => record[column]!) };
}

function drawWhere(draw: Draw, collection: Collection, depth: number): Where {
  const kind = draw.below(depth > 0 ? 10 : 6);
  if (kind < 4) return drawAmong(draw, collection, depth);
  if (kind < 6) return drawComparison(draw, collection);
  const parts = Array.from({ length: draw.below(3) + (draw.below(9) === 0 ? 0 : 1) }, () =>
    drawWhere(draw, collection, depth - 1),
  );
  if (kind < 8) return { all: parts };
  return kind === 8 ? { any: parts } : { not: drawWhere(draw, collection, depth - 1) };
}

function drawAmong(draw: Draw, collection: Collection, depth: number): Where {
  const inner = draw.pick(modelTables);
  const isText = (name: string, table: Collection): boolean =>
    table.columns.find((column) => column.name === name)?.type === "text";
  const columns = {
    projects: ["id", "team"],
    memberships: ["project_id", "team", "id"],
    tasks: ["project_id", "team", "id"],
  };
  const column = draw.pick(columns[collection.name as keyof typeof columns]);
  const select = columns[inner.name as keyof typeof columns].find(
    (name) => isText(name, inner) === isText(column, collection),
  )!;
  const user: Where = { column: "user_id", operator: "eq", value: draw.below(USERS) };
  const simple: Where = inner === memberships ? user : drawComparison(draw, inner);
  const where: Where = depth > 0 && draw.below(4) === 0 ? { all: [simple, drawWhere(draw, inner, depth - 1)] } : simple;
  return { column, among: { collection: inner, select, where } };
}

function drawComparison(draw: Draw, collection: Collection): Where {
  const [column, value] = draw.pick<readonly [string, Value]>(
    collection === tasks
      ? [
          ["rank", draw.below(9)],
          ["done", draw.below(2) === 0],
          ["cost", draw.below(5)],
          ["project_id", 1 + draw.below(PROJECTS)],
          ["team", draw.pick(TEAMS)],
        ]
      : collection === memberships
        ? [
            ["user_id", draw.below(USERS)],
            ["role", draw.pick(ROLES)],
            ["project_id", draw.below(PROJECTS)],
          ]
        : [
            ["id", 1 + draw.below(PROJECTS)],
            ["team", draw.pick(TEAMS)],
          ],
  );
  const operator = draw.pick(["eq", "eq", "eq", "ne", "in", "null"] as const);
  if (operator === "null") return { column, operator, value: draw.below(2) === 0 };
  return operator === "in" ? { column, operator, value: [value] } : { column, operator, value };
}

/** Returns true if a record matches, by plain JavaScript. */
export function matchesModel(rows: ModelRows, record: StoredRecord, where: Where): boolean {
  if ("all" in where) return where.all.every((each) => matchesModel(rows, record, each));
  if ("any" in where) return where.any.some((each) => matchesModel(rows, record, each));
  if ("not" in where) return !matchesModel(rows, record, where.not);
  if ("word" in where || "link" in where) throw new TypeError("The model has no such condition");
  const actual = record[where.column]!;
  if ("among" in where) {
    const { collection, select, where: inner } = where.among;
    if (actual === null) return false;
    return rows[collection.name]!.some((each) => each[select] === actual && matchesModel(rows, each, inner));
  }
  const { operator, value } = where;
  if (operator === "null") return (actual === null) === value;
  if (actual === null) return false;
  if (operator === "in") return (value as readonly Value[]).includes(actual);
  return operator === "eq" ? actual === value : actual !== value;
}

/** Returns the keys of the page, whether more rows follow, and the number of all matching rows. */
export function answerModel(
  rows: ModelRows,
  { collection, where, sort, after, limit }: ListQuery,
): { readonly ids: readonly Value[]; readonly more: boolean; readonly count: number } {
  const all = rows[collection.name]!.filter((record) => matchesModel(rows, record, where!));
  const start = after === undefined ? null : Object.fromEntries(sort.map(({ column }, at) => [column, after[at]!]));
  const left = all
    .filter((record) => start === null || compare(record, start, sort) > 0)
    .toSorted((one, other) => compare(one, other, sort));
  return { ids: left.slice(0, limit).map(({ id }) => id!), more: left.length > limit, count: all.length };
}

/** Compares two records in the order of a list. A missing value is last. */
function compare(one: StoredRecord, other: StoredRecord, sort: readonly Sort[]): number {
  for (const { column, descending } of sort) {
    const [left, right] = [one[column]!, other[column]!];
    if (left === right) continue;
    if (left === null || right === null) return left === null ? 1 : -1;
    const order =
      typeof left === "string" && typeof right === "string"
        ? Buffer.compare(Buffer.from(left), Buffer.from(right))
        : Number(left) - Number(right);
    if (order !== 0) return descending === true ? -order : order;
  }
  return 0;
}
