import { LongReadNeeded } from "../../failures.ts";
import { hasAmong, splitConditions } from "../../inner-collections.ts";
import { isFoundByIndex, isServed } from "../../served.ts";
import type { PlannedQuery } from "../../sql/list.ts";
import type { Among, Collection, Key, ListQuery, Value, Where } from "../../store.ts";

/**
 * Lists with conditions on other rows (`among`). SQLite has one plan for such a list, whatever the values are: it finds
 * the rows by their column and sorts them (271 ms for 100,000 rows), or it reads the rows in order and checks each
 * (1,288 ms if none of a million matches). So the values are read first, and the plan depends on their number.
 */

/** The numbers that choose between the plans. */
export interface SemiJoinLimits {
  /** If there are at most this many values, they become a part of the query. */
  readonly fewValues: number;
  /** If at most this many rows match, they are found by their column and sorted. */
  readonly fewRows: FewRows;
  readonly fewRowsOfLongRead: FewRows;
  /** The numbers of rows that are checked in the order of the list, before and after the rows are counted. */
  readonly firstRows: number;
  readonly moreRows: number;
}

/** `covered`: an index has all columns that are needed, and a row costs 40 ns. `read`: otherwise, 600 ns. */
interface FewRows {
  readonly covered: number;
  readonly read: number;
}

/** With these numbers, a list delays other requests by at most 10 ms on a slow core. */
export const semiJoinLimits: SemiJoinLimits = {
  fewValues: 100,
  fewRows: { covered: 30_000, read: 2000 },
  fewRowsOfLongRead: { covered: 1_000_000, read: 100_000 },
  firstRows: 1000,
  moreRows: 10_000,
};

/** The reads that choose the plan. All of them, and the read of the page, must see the same state of the database. */
export interface SemiJoinReads {
  readonly limits: SemiJoinLimits;
  /** Throws a TypeError if the condition cannot be compiled. A condition that is replaced by values must fit too. */
  requireSound(collection: Collection, where: Where): void;
  /** Reads the values of the matching rows, without missing ones. Returns null if there are more rows than `most`. */
  readValues(among: Among, most: number): readonly Key[] | null;
  /** Returns true if at most `most` rows match. */
  hasAtMost(collection: Collection, where: Where, most: number): boolean;
  /** Returns true if a list has at most so many rows. */
  isShorter(query: ListQuery, rows: number): boolean;
  /**
   * Returns the value of the first column of the order, in the row at a place. The first place is 0. Returns null if the
   * list has no such row.
   */
  readAt(query: ListQuery, place: number): Value;
}

/**
 * Reads a page of a list. `read` reads a query, `isFull` returns true if the page needs no more rows. Throws
 * `LongReadNeeded` if the query is not `long` and its rows are far apart.
 */
export function readNarrowed<Page>(
  query: ListQuery,
  reads: SemiJoinReads,
  read: (query: PlannedQuery) => Page,
  isFull: (page: Page) => boolean,
): Page {
  if (query.where === null || !hasAmong(query.where)) return read(query);
  const { collection, long = false } = query;
  reads.requireSound(collection, query.where);
  const { narrowing, rest } = splitConditions(query.where);
  const settled = narrowing.map((each) => settleFew(each, reads));
  const narrowed = (...conditions: readonly Where[]): ListQuery => ({ ...query, where: { all: conditions } });
  const whole = narrowed(...rest, ...settled);
  if (!settled.some(hasAmong) && isServed(whole)) return read(whole);

  const few = (): PlannedQuery | null => {
    const found = settled.find((each) => isFew(whole, each, reads));
    if (found === undefined) return null;
    return { ...narrowed(...rest, ...settled.filter((each) => each !== found)), found };
  };
  const unnarrowed = narrowed(...rest);
  const inOrder = (rows: number): PlannedQuery => ({ ...unnarrowed, checked: { where: { all: settled }, rows } });
  const isOrdered = isServed(unnarrowed);
  if (long) {
    const first = isOrdered ? null : findFirst(unnarrowed, reads);
    if (first !== null) {
      const page = read({ ...first, checked: { where: { all: settled }, rows: reads.limits.moreRows } });
      if (isFull(page)) return page;
    }
    return read(few() ?? (isOrdered ? narrowed(...rest, ...settled.map(withoutIndex)) : whole));
  }
  if (!isOrdered) throw new LongReadNeeded();

  const { firstRows, moreRows } = reads.limits;
  const first = read(inOrder(firstRows));
  if (isFull(first) || reads.isShorter(unnarrowed, firstRows)) return first;
  const byColumn = few();
  if (byColumn !== null) return read(byColumn);
  const page = read(inOrder(moreRows));
  if (isFull(page) || reads.isShorter(unnarrowed, moreRows)) return page;
  throw new LongReadNeeded();
}

/**
 * Returns the query for the first rows of a list that no index has in its order, but one in the order of its first
 * column (`rank DESC, id`). These rows are at least `firstRows`, if the list has so many, and at most `moreRows`, so that
 * sorting them is quick. Returns null if too many rows share a value.
 */
function findFirst(query: ListQuery, reads: SemiJoinReads): ListQuery | null {
  const { collection, after: [value] = [] } = query;
  const { after: _, ...whole } = query;
  const [first] = query.sort;
  const { column, descending = false } = first!;
  const [from, to] = descending ? (["lte", "gte"] as const) : (["gte", "lte"] as const);
  const { firstRows, moreRows } = reads.limits;
  const ahead: Where[] = value === undefined ? [] : [{ column, operator: from, value }];
  const where: Where = { all: [query.where!, ...ahead] };
  const ordered: ListQuery = { ...whole, where, sort: [first!] };
  if (!isServed(ordered)) return null;
  const last = reads.readAt(ordered, firstRows - 1);
  const within: Where = last === null ? where : { all: [where, { column, operator: to, value: last }] };
  return reads.hasAtMost(collection, within, moreRows) ? { ...query, where: within } : null;
}

/** Returns true if so few rows match that they can be sorted. */
function isFew({ collection, where, sort, long }: ListQuery, narrowing: Where, reads: SemiJoinReads): boolean {
  if (!isFoundByIndex(collection, narrowing)) return false;
  const used = [...listColumns(where!), ...sort.map(({ column }) => column)];
  const isCovered = "column" in narrowing && covers(collection, narrowing.column, used);
  const { fewRows, fewRowsOfLongRead } = reads.limits;
  const limits = long === true ? fewRowsOfLongRead : fewRows;
  return reads.hasAtMost(collection, narrowing, isCovered ? limits.covered : limits.read);
}

/** Returns true if an index begins with a column and has all other columns. */
function covers({ indexes = [], existing }: Collection, first: string, columns: readonly string[]): boolean {
  const isIn = (index: readonly string[]): boolean => columns.every((each) => each === "id" || index.includes(each));
  return existing === undefined && indexes.some((index) => index[0] === first && isIn(index));
}

/** Returns the columns of a condition. A condition on words or links needs the row, which no index has: `*`. */
function listColumns(where: Where): readonly string[] {
  if ("all" in where) return where.all.flatMap(listColumns);
  if ("any" in where) return where.any.flatMap(listColumns);
  if ("not" in where) return listColumns(where.not);
  return "column" in where ? [where.column] : ["*"];
}

/**
 * Returns the condition of related rows with the values of other rows in their place, where they are few. These
 * conditions are only checked, because the rows are found by their key.
 */
export function settleRelated(
  { collection, where }: Pick<ListQuery, "collection" | "where">,
  reads: SemiJoinReads,
): Where | null {
  if (where === null || !hasAmong(where)) return where;
  reads.requireSound(collection, where);
  const { narrowing, rest } = splitConditions(where);
  return { all: [...rest, ...narrowing.map((each) => withoutIndex(settleFew(each, reads)))] };
}

/** Returns the condition of counted rows with the values of other rows in their place, where they are few. */
export function settleCounted(collection: Collection, where: Where | null, reads: SemiJoinReads): Where | null {
  if (where === null || !hasAmong(where)) return where;
  reads.requireSound(collection, where);
  return settleFew(where, reads);
}

/** Returns a condition with the values of other rows in their place, where they are few. */
function settleFew(where: Where, reads: SemiJoinReads): Where {
  if ("all" in where) return simplify(where.all, reads, "all");
  if ("any" in where) return simplify(where.any, reads, "any");
  if ("not" in where) {
    const settled = settleFew(where.not, reads);
    return isConstant(settled, "any") ? { all: [] } : isConstant(settled, "all") ? { any: [] } : { not: settled };
  }
  if (!("among" in where)) return where;
  const among = { ...where.among, where: settleFew(where.among.where, reads) };
  if (isConstant(among.where, "any")) return { any: [] };
  const values = reads.readValues(among, reads.limits.fewValues);
  if (values === null) return { column: where.column, among };
  const [first] = values;
  if (first === undefined) return { any: [] };
  if (values.length === 1) return { column: where.column, operator: "eq", value: first };
  return { column: where.column, operator: "in", value: values };
}

/** Settles several conditions. Leaves out those that decide nothing. */
function simplify(many: readonly Where[], reads: SemiJoinReads, word: "all" | "any"): Where {
  const other = word === "all" ? "any" : "all";
  const settled: Where[] = [];
  for (const each of many) {
    const one = settleFew(each, reads);
    if (isConstant(one, other)) return one;
    if (!isConstant(one, word)) settled.push(one);
  }
  return settled.length === 1 ? settled[0]! : word === "all" ? { all: settled } : { any: settled };
}

/** True for the condition that every row matches (`all` of none), or that no row matches (`any` of none). */
function isConstant(where: Where, word: "all" | "any"): boolean {
  const many = word === "all" && "all" in where ? where.all : word === "any" && "any" in where ? where.any : null;
  return many?.length === 0;
}

/** Returns a condition that SQLite checks, and never uses to find rows by an index. */
function withoutIndex(where: Where): Where {
  return { not: { not: where } };
}
