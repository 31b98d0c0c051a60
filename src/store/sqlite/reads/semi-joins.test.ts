import assert from "node:assert/strict";
import { test } from "node:test";
import { LongReadNeeded } from "../../failures.ts";
import type { PlannedQuery } from "../../sql/list.ts";
import type { Collection, Key, ListQuery, Value, Where } from "../../store.ts";
import { readNarrowed, settleCounted, settleRelated, type SemiJoinReads } from "./semi-joins.ts";

// The rows of a list do not show which plan found them, so these tests look at the plan.

const memberships: Collection = {
  name: "memberships",
  key: "integer",
  columns: [
    { name: "user_id", type: "integer" },
    { name: "project_id", type: "integer" },
  ],
  uniques: [["user_id", "project_id"]],
};

const tasks: Collection = {
  name: "tasks",
  key: "integer",
  columns: [
    { name: "project_id", type: "integer" },
    { name: "title", type: "text" },
    { name: "rank", type: "integer" },
  ],
  indexes: [
    ["project_id", "title", "id"],
    ["title", "id"],
  ],
};

const ofUser: Where = { column: "user_id", operator: "eq", value: 7 };
const ofMember = { collection: memberships, select: "project_id", where: ofUser } as const;
const isMember: Where = { column: "project_id", among: ofMember };
const isFirst: Where = { column: "title", operator: "eq", value: "first" };
const nothing: Where = { any: [] };
const everything: Where = { all: [] };
const not = (where: Where): Where => ({ not: where });

/** The content of the database: the values of memberships, and the numbers of matching and of all rows. */
interface Rows {
  readonly values?: readonly Key[];
  readonly matching?: number;
  readonly all?: number;
  /** The largest number of rows that a page checks in order, and is still not full. */
  readonly notFullBelow?: number;
  /** The value of the row at each asked place. */
  readonly at?: Value;
  /** The number of rows with this value and those before them. */
  readonly within?: number;
}

/** Returns the plans that were read, and the numbers that were asked for. Throws what the read throws. */
function plan(
  query: Partial<ListQuery>,
  { values = [], matching = 0, all = Infinity, notFullBelow = 0, at = null, within = Infinity }: Rows = {},
) {
  const asked: number[] = [];
  const sound: Where[] = [];
  const looked: Where[] = [];
  const places: unknown[] = [];
  const reads: SemiJoinReads = {
    limits: {
      fewValues: 2,
      fewRows: { covered: 30, read: 20 },
      fewRowsOfLongRead: { covered: 300, read: 200 },
      firstRows: 10,
      moreRows: 100,
    },
    requireSound: (_, where) => void sound.push(where),
    readValues({ where }, most) {
      looked.push(where);
      return values.length > most ? null : values;
    },
    hasAtMost(_collection, where, most) {
      if ("all" in where) return within <= most;
      asked.push(most);
      return matching <= most;
    },
    isShorter: (_, rows) => all <= rows,
    readAt(asked, place) {
      places.push({ where: asked.where, sort: asked.sort, after: asked.after, place });
      return at;
    },
  };
  const read: PlannedQuery[] = [];
  const whole: ListQuery = { collection: tasks, where: isMember, sort: [{ column: "id" }], limit: 5, ...query };
  readNarrowed(
    whole,
    reads,
    (each) => read.push(each),
    () => (read.at(-1)!.checked?.rows ?? Infinity) > notFullBelow,
  );
  return { read, asked, sound, looked, places, reads };
}

const wheres = ({ read }: ReturnType<typeof plan>): readonly unknown[] => read.map(({ where }) => where);
const many = { values: [1, 2, 3] };

test("reads a list without a condition on other rows as it is", () => {
  for (const where of [null, isFirst]) {
    const { read, sound } = plan({ where });

    assert.deepEqual(
      read.map((each) => each.where),
      [where],
    );
    assert.equal(read[0]!.checked ?? read[0]!.found, undefined);
    assert.deepEqual(sound, []);
  }
});

test("puts few values in the place of the condition, if an index finds their rows in order", () => {
  const sort = [{ column: "title" }, { column: "id" }];

  assert.deepEqual(wheres(plan({ sort }, { values: [3] })), [
    { all: [{ column: "project_id", operator: "eq", value: 3 }] },
  ]);
  assert.deepEqual(plan({ sort }, { values: [3] }).sound, [isMember]);
  assert.deepEqual(wheres(plan({ sort, where: { all: [isFirst, isMember] } }, { values: [3] })), [
    { all: [isFirst, { column: "project_id", operator: "eq", value: 3 }] },
  ]);
});

test("checks the rows in order if few values do not give their order", () => {
  const { read } = plan({ sort: [{ column: "title" }, { column: "id" }] }, { values: [3, 4] });

  assert.deepEqual(
    read.map(({ where, checked }) => ({ where, checked })),
    [
      {
        where: { all: [] },
        checked: { where: { all: [{ column: "project_id", operator: "in", value: [3, 4] }] }, rows: 10 },
      },
    ],
  );
});

test("reads the first rows in order and checks them, until the page is full or the list ends", () => {
  for (const rows of [{ ...many }, { ...many, notFullBelow: 10, all: 10 }]) {
    const { read, asked } = plan({}, rows);

    assert.deepEqual(
      read.map(({ where, checked, found }) => ({ where, checked, found })),
      [{ where: { all: [] }, checked: { where: { all: [isMember] }, rows: 10 }, found: undefined }],
    );
    assert.deepEqual(asked, []);
  }
});

test("finds few rows by their column if the first rows do not fill the page", () => {
  const { read, asked } = plan({ where: { all: [isFirst, isMember] } }, { ...many, notFullBelow: 10, matching: 30 });

  assert.deepEqual(asked, [30]);
  assert.equal(read.length, 2);
  assert.deepEqual(read[1]!.found, isMember);
  assert.deepEqual(read[1]!.where, { all: [isFirst] });
});

test("checks the other conditions on other rows of the rows that one of them finds", () => {
  const isAlso: Where = { column: "id", among: ofMember };
  const { read } = plan({ where: { all: [isMember, isAlso] } }, { ...many, notFullBelow: 10, matching: 30 });

  assert.deepEqual(read[1]!.found, isMember);
  assert.deepEqual(read[1]!.where, { all: [isAlso] });
});

test("checks more rows in order if many rows match, and then asks for a long read", () => {
  for (const rows of [
    { ...many, notFullBelow: 10, matching: 31 },
    { ...many, notFullBelow: 100, matching: 31, all: 100 },
  ])
    assert.deepEqual(
      plan({ where: { all: [isFirst, isMember] } }, rows).read.map(({ checked }) => checked?.rows),
      [10, 100],
    );
  assert.throws(() => plan({}, { ...many, notFullBelow: 100, matching: 31 }), LongReadNeeded);
});

test("counts fewer rows as few if no index has all columns that the list uses", () => {
  const counted = (query: Partial<ListQuery>): readonly number[] => {
    const asked: number[] = [];
    const rows = { ...many, notFullBelow: 10, matching: 0 };
    asked.push(...plan(query, rows).asked);
    return asked;
  };
  const ranked: Where = { column: "rank", operator: "gt", value: 1 };
  const word: Where = { word: "one" };

  assert.deepEqual(counted({}), [30]);
  assert.deepEqual(counted({ sort: [{ column: "title" }, { column: "id" }] }), [30]);
  const byRank = { ...tasks, indexes: [...tasks.indexes!, ["rank", "id"]] };
  assert.deepEqual(counted({ collection: byRank, sort: [{ column: "rank" }, { column: "id" }] }), [20]);
  assert.deepEqual(
    counted({ collection: byRank, where: { all: [ranked, isMember] }, sort: [{ column: "rank" }] }),
    [20],
  );
  const byMember = { ...tasks, indexes: [["title", "project_id"], ["project_id"], ["title", "id"]] };
  assert.deepEqual(counted({ collection: byMember, sort: [{ column: "title" }, { column: "id" }] }), [20]);
  const byProject = { ...tasks, indexes: [["project_id"], ["title", "id"]] };
  assert.deepEqual(counted({ collection: byProject }), [30]);
  const existing = { table: "their_tasks", names: {}, writes: [], revision: "digest" } as const;
  assert.deepEqual(counted({ collection: { ...tasks, existing } }), [20]);
  assert.deepEqual(plan({ where: { all: [{ any: [isFirst, isFirst] }, isMember] }, long: true }, many).asked, [300]);
  assert.deepEqual(plan({ where: { all: [word, isMember] }, long: true }, { ...many, matching: 0 }).asked, [200]);
  assert.deepEqual(plan({ where: { all: [not(isFirst), isMember] }, long: true }, { ...many }).asked, [300]);
  assert.deepEqual(
    plan({ where: { all: [{ any: [isFirst, ranked] }, isMember] }, long: true }, { ...many }).asked,
    [200],
  );
});

test("asks for a long read at once if no index has the order of the list", () => {
  const sort = [{ column: "rank" }];

  assert.throws(() => plan({ sort }, many), LongReadNeeded);
  assert.deepEqual(wheres(plan({ sort, long: true }, { ...many, matching: 201, within: 0 })), [{ all: [isMember] }]);
});

test("checks the first rows in a long read, if an index has the first column of the order and few rows share a value", () => {
  const collection = { ...tasks, indexes: [...tasks.indexes!, ["rank", "id"]] };
  const sort = [{ column: "rank", descending: true }, { column: "id" }];
  const from = (value: Value): Where => ({ column: "rank", operator: "lte", value });
  const to = (value: Value): Where => ({ column: "rank", operator: "gte", value });
  const list = { collection, sort, long: true } as const;
  const everything: Where = { all: [] };
  const ahead: Where = { all: [everything] };
  const checked = { where: { all: [isMember] }, rows: 100 };

  const first = plan(list, { ...many, at: 7, within: 100 });
  assert.deepEqual(first.places, [{ where: ahead, sort: [sort[0]], after: undefined, place: 9 }]);
  assert.deepEqual(
    first.read.map((each) => ({ where: each.where, checked: each.checked })),
    [{ where: { all: [ahead, to(7)] }, checked }],
  );
  const next = plan({ ...list, after: [8, 3] }, { ...many, at: 7, within: 100 });
  const behind: Where = { all: [everything, from(8)] };
  assert.deepEqual(next.places, [{ where: behind, sort: [sort[0]], after: undefined, place: 9 }]);
  assert.deepEqual(
    next.read.map((each) => ({ where: each.where, after: each.after })),
    [{ where: { all: [behind, to(7)] }, after: [8, 3] }],
  );
  const ascending = [{ column: "rank" }, { column: "id", descending: true }];
  const above = plan({ ...list, sort: ascending, after: [6, 3] }, { ...many, at: 7, within: 100 });
  assert.deepEqual(wheres(above), [{ all: [{ all: [everything, to(6)] }, from(7)] }]);
  // The list has fewer rows than were asked for.
  assert.deepEqual(wheres(plan(list, { ...many, within: 9 })), [ahead]);
  // Many rows share a value, or the page is not full.
  assert.deepEqual(wheres(plan(list, { ...many, at: 7, within: 101, matching: 201 })), [{ all: [isMember] }]);
  const notFull = plan(list, { ...many, at: 7, within: 100, notFullBelow: 100, matching: 200 });
  assert.deepEqual(
    notFull.read.map(({ found }) => found),
    [undefined, isMember],
  );
});

test("finds up to more rows by their column in a long read, and checks all rows in order otherwise", () => {
  const few = plan({ long: true }, { ...many, matching: 300 });
  assert.deepEqual(few.asked, [300]);
  // An index has the order of the list, so the end of the first rows is not looked for.
  assert.deepEqual(few.places, []);
  assert.deepEqual(
    few.read.map(({ found }) => found),
    [isMember],
  );

  const all = plan({ long: true }, { ...many, matching: 301 });
  assert.deepEqual(wheres(all), [{ all: [not(not(isMember))] }]);
});

test("does not find rows by a condition that no index finds", () => {
  const bare = { ...tasks, indexes: [["title", "id"]] };
  const rows = { ...many, notFullBelow: 10, matching: 0 };

  const { read, asked } = plan({ collection: bare }, rows);

  assert.deepEqual(asked, []);
  assert.deepEqual(
    read.map(({ checked }) => checked?.rows),
    [10, 100],
  );
});

test("leaves out conditions that decide nothing after the values are known", () => {
  const settled = (where: Where, values: readonly Key[]): Where | null =>
    settleCounted(tasks, where, plan({}, { ...many, values }).reads);
  const is = (...given: readonly Key[]): Where =>
    given.length === 1
      ? { column: "project_id", operator: "eq", value: given[0]! }
      : { column: "project_id", operator: "in", value: given };
  const nested: Where = {
    column: "project_id",
    among: { ...ofMember, where: { column: "project_id", among: ofMember } },
  };

  assert.deepEqual(settled(isMember, []), nothing);
  assert.deepEqual(settled(isMember, [4]), is(4));
  assert.deepEqual(settled(isMember, [4, 5]), is(4, 5));
  assert.deepEqual(settled(isMember, [4, 5, 6]), isMember);
  assert.deepEqual(settled(nested, []), nothing);
  assert.deepEqual(settled({ all: [isMember, isFirst] }, []), nothing);
  assert.deepEqual(settled({ any: [isMember, isFirst] }, []), isFirst);
  assert.deepEqual(settled({ any: [isMember, isFirst] }, [4]), { any: [is(4), isFirst] });
  assert.deepEqual(settled({ all: [isMember, isFirst] }, [4]), { all: [is(4), isFirst] });
  assert.deepEqual(settled(not(isMember), []), everything);
  assert.deepEqual(settled(not(isMember), [4]), not(is(4)));
  assert.deepEqual(settled(not(not(isMember)), []), nothing);
  assert.deepEqual(settled({ all: [not(isMember), isFirst] }, []), isFirst);
  assert.deepEqual(settled({ any: [not(isMember), isFirst] }, []), everything);
  assert.equal(settled(isFirst, []), isFirst);
  assert.equal(settleCounted(tasks, null, plan({}).reads), null);
  // Without a value, the conditions around it are not looked up.
  const { reads, looked } = plan({ where: null });
  settleCounted(tasks, nested, reads);
  assert.deepEqual(looked, [ofUser]);
});

test("refuses a condition that cannot be compiled, although its values take its place", () => {
  const { reads, sound } = plan({ where: null });
  const all: Where = { all: [isFirst] };

  settleCounted(tasks, isMember, reads);
  settleRelated({ collection: tasks, where: not(isMember) }, reads);
  assert.equal(settleCounted(tasks, all, reads), all);

  assert.deepEqual(sound, [isMember, not(isMember)]);
});

test("checks related rows, which are found by their key, and never finds them by the condition", () => {
  const { reads } = plan({}, { values: [4] });
  const is: Where = { column: "project_id", operator: "eq", value: 4 };

  assert.deepEqual(settleRelated({ collection: tasks, where: { all: [isFirst, isMember] } }, reads), {
    all: [isFirst, not(not(is))],
  });
  assert.equal(settleRelated({ collection: tasks, where: isFirst }, reads), isFirst);
  assert.equal(settleRelated({ collection: tasks, where: null }, reads), null);
});
