import assert from "node:assert/strict";
import { test } from "node:test";
import type { Collection, Column, Store, Value } from "../../src/door/stores.ts";
import { bothDatabases, type TestDatabase } from "../harness/both-databases.ts";

const databases = bothDatabases();

/** The columns for the kinds of fields. An enumeration (`word`) and an email are text columns. */
const kinds: Readonly<Record<string, Omit<Column, "name">>> = {
  text: { type: "text" },
  integer: { type: "integer" },
  decimal: { type: "decimal", scale: 2 },
  fine: { type: "decimal", scale: 4 },
  double: { type: "double" },
  boolean: { type: "boolean" },
  instant: { type: "date-time" },
  date: { type: "date" },
  word: { type: "text", few: true },
  email: { type: "text" },
  reference: { type: "integer", references: { collection: "people", onDelete: "restrict" } },
  json: { type: "json" },
};

const instant = "2026-01-31T00:00:00.000Z";
/**
 * Pairs of kinds with a conversion. Each of `values` is a value of the first kind and its converted value. `misfit` is
 * a value that cannot be converted. A pair that is not in this list has no conversion.
 */
const pairs: readonly (readonly [
  from: string,
  to: string,
  values: readonly (readonly [Value, Value])[],
  misfit?: Value,
])[] = [
  [
    "text",
    "integer",
    [
      ["12", 12],
      ["-7", -7],
      ["0", 0],
    ],
    "012",
  ],
  [
    "text",
    "decimal",
    [
      ["12.50", "12.50"],
      ["-0.05", "-0.05"],
      ["7", "7.00"],
    ],
    "1.234",
  ],
  [
    "text",
    "boolean",
    [
      ["true", true],
      ["false", false],
    ],
    "yes",
  ],
  [
    "text",
    "instant",
    [
      [instant, instant],
      ["2024-02-29T23:59:59.999Z", "2024-02-29T23:59:59.999Z"],
    ],
    "2026-02-29T00:00:00.000Z",
  ],
  [
    "text",
    "date",
    [
      ["2024-02-29", "2024-02-29"],
      ["1999-12-31", "1999-12-31"],
    ],
    "2023-02-29",
  ],
  [
    "text",
    "word",
    [
      ["new", "new"],
      ["paid", "paid"],
    ],
  ],
  ["text", "email", [["a@example.com", "a@example.com"]]],
  [
    "text",
    "reference",
    [
      ["1", 1],
      ["2", 2],
    ],
    "one",
  ],
  [
    "text",
    "json",
    [
      ["12", "12"],
      ['say "hi"\\', 'say "hi"\\'],
      ["ü", "ü"],
    ],
  ],
  [
    "integer",
    "text",
    [
      [12, "12"],
      [-7, "-7"],
      [0, "0"],
    ],
  ],
  [
    "integer",
    "decimal",
    [
      [12, "12.00"],
      [-7, "-7.00"],
    ],
  ],
  [
    "integer",
    "boolean",
    [
      [1, true],
      [0, false],
    ],
    2,
  ],
  [
    "integer",
    "reference",
    [
      [1, 1],
      [2, 2],
    ],
  ],
  [
    "integer",
    "json",
    [
      [12, 12],
      [-7, -7],
    ],
  ],
  [
    "decimal",
    "text",
    [
      ["12.50", "12.50"],
      ["-0.05", "-0.05"],
      ["1000000.00", "1000000.00"],
    ],
  ],
  [
    "decimal",
    "integer",
    [
      ["12.00", 12],
      ["-7.00", -7],
    ],
    "12.50",
  ],
  [
    "integer",
    "double",
    [
      [12, 12],
      [-9007199254740991, -9007199254740991],
    ],
  ],
  [
    "double",
    "integer",
    [
      [12, 12],
      [-9007199254740991, -9007199254740991],
    ],
    0.5,
  ],
  [
    "decimal",
    "double",
    [
      ["12.50", 12.5],
      ["-0.05", -0.05],
    ],
  ],
  [
    "double",
    "decimal",
    [
      [0.1, "0.10"],
      [-1234567890.12, "-1234567890.12"],
    ],
    0.125,
  ],
  [
    "decimal",
    "fine",
    [
      ["12.50", "12.5000"],
      ["-0.05", "-0.0500"],
    ],
  ],
  [
    "fine",
    "decimal",
    [
      ["12.5000", "12.50"],
      ["-0.0500", "-0.05"],
    ],
    "0.0001",
  ],
  [
    "decimal",
    "json",
    [
      ["12.50", "12.50"],
      ["-0.05", "-0.05"],
    ],
  ],
  [
    "boolean",
    "text",
    [
      [true, "true"],
      [false, "false"],
    ],
  ],
  [
    "boolean",
    "integer",
    [
      [true, 1],
      [false, 0],
    ],
  ],
  [
    "boolean",
    "json",
    [
      [true, true],
      [false, false],
    ],
  ],
  ["instant", "text", [[instant, instant]]],
  ["instant", "date", [[instant, "2026-01-31"]], "2026-01-31T09:30:00.000Z"],
  ["instant", "json", [[instant, instant]]],
  ["date", "text", [["2026-01-31", "2026-01-31"]]],
  ["date", "instant", [["2026-01-31", instant]]],
  ["date", "json", [["2026-01-31", "2026-01-31"]]],
  [
    "reference",
    "text",
    [
      [1, "1"],
      [2, "2"],
    ],
  ],
  [
    "reference",
    "integer",
    [
      [1, 1],
      [2, 2],
    ],
  ],
  [
    "reference",
    "decimal",
    [
      [1, "1.00"],
      [2, "2.00"],
    ],
  ],
  [
    "reference",
    "json",
    [
      [1, 1],
      [2, 2],
    ],
  ],
  [
    "json",
    "text",
    [
      [{ a: [1, "ü"] }, '{"a":[1,"ü"]}'],
      ["x", '"x"'],
      [12, "12"],
    ],
  ],
  [
    "json",
    "integer",
    [
      [12, 12],
      [-7, -7],
    ],
    "12",
  ],
  [
    "json",
    "decimal",
    [
      ["12.50", "12.50"],
      [7, "7.00"],
    ],
    [1],
  ],
  [
    "json",
    "boolean",
    [
      [true, true],
      [false, false],
    ],
    1,
  ],
  ["json", "instant", [[instant, instant]], "2026-01-31"],
  ["json", "date", [["2026-01-31", "2026-01-31"]], instant],
  ["json", "reference", [[1, 1]], "one"],
];
/** The kinds `word` and `email` are converted like `text`. */
const all = pairs.flatMap((pair) => {
  const [from, to, values, misfit] = pair;
  const froms = from === "text" && to !== "word" && to !== "email" ? ["text", "word", "email"] : [from];
  const tos = to === "text" ? ["text", "word", "email"] : [to];
  return froms.flatMap((one) => tos.map((other) => [one, other, values, misfit] as const));
});

type Form = "plain" | "indexed" | "unique";
const forms: readonly Form[] = ["plain", "indexed", "unique"];
const people: Collection = { name: "people", key: "integer", columns: [{ name: "name", type: "text" }] };

/**
 * Returns a table with a column for each pair. A unique text ignores case, so that the derived folded columns are
 * tested too.
 */
function buildTable(form: Form, which: "from" | "to", chosen: readonly (typeof all)[number][] = all): Collection {
  const columns = chosen.map(([from, to]): Column => {
    const kind = kinds[which === "from" ? from : to]!;
    const unique =
      form === "unique" && kind.type !== "json" ? { unique: kind.type === "text" ? ("folded" as const) : true } : {};
    return { name: `${from}_${to}`, ...kind, nullable: true, ...unique };
  });
  return {
    name: "things",
    key: "integer",
    columns: [...columns, { name: "untouched", type: "text" }],
    ...(form === "indexed"
      ? { indexes: columns.filter(({ type }) => type !== "json").map(({ name }) => [name, "id"]) }
      : {}),
  };
}

/** Returns rows with the values of all pairs. A pair with fewer values has null in the other rows. */
function buildRows(at: 0 | 1, chosen: readonly (typeof all)[number][] = all): Record<string, Value>[] {
  return [0, 1, 2].map((row) => ({
    ...Object.fromEntries(chosen.map(([from, to, values]) => [`${from}_${to}`, values[row]?.[at] ?? null])),
    untouched: `row ${row}`,
  }));
}

async function opened(database: TestDatabase, collections: readonly Collection[]): Promise<Store> {
  const store = database.open();
  await store.open(collections);
  return store;
}

async function filled(
  database: TestDatabase,
  collection: Collection,
  rows: readonly Record<string, Value>[],
): Promise<void> {
  const store = await opened(database, [people, collection]);
  const persons = ["Ann", "Bob"].map((name) => ({ kind: "insert", collection: people, values: { name } }) as const);
  await store.write({ changes: persons });
  for (const values of rows) {
    const written = await store.write({ changes: [{ kind: "insert", collection, values }] });
    assert.equal(written.kind, "written", JSON.stringify(written));
  }
  await store.close();
}

async function readAll(database: TestDatabase, collection: Collection): Promise<unknown[]> {
  const store = await opened(database, [people, collection]);
  const rows = await store.list({ collection, where: null, sort: [{ column: "id" }], limit: 100 });
  await store.close();
  return rows.map(({ record }) => record);
}

for (const form of forms)
  for (const way of ["migrated", "by hand"] as const)
    test(`converts every pair of kinds correctly: ${form} columns, ${way}`, async (t) => {
      for (const database of await databases(t)) {
        const [before, now] = [buildTable(form, "from"), buildTable(form, "to")];
        await filled(database, before, buildRows(0));

        await assert.rejects(opened(database, [people, now]), /latchkey db migrate/, database.engine);
        const plan = await database.plan([people, now]);
        assert.deepEqual(plan.obstacles, [], database.engine);
        if (way === "migrated") await database.migrate([people, now]);
        else for (const { sql } of plan.tables) if (sql !== null) await database.run(sql);

        const expected = buildRows(1).map((row, at) => ({ id: at + 1, ...row }));
        assert.deepEqual(await readAll(database, now), expected, database.engine);
        assert.deepEqual((await database.plan([people, now])).tables, [], database.engine);
      }
    });

test("reports the row of a value that cannot be converted, and changes nothing", async (t) => {
  const chosen = all.filter(([, , , misfit]) => misfit !== undefined);
  for (const database of await databases(t)) {
    const [before, now] = [buildTable("plain", "from", chosen), buildTable("plain", "to", chosen)];
    const misfits = Object.fromEntries(chosen.map(([from, to, , misfit]) => [`${from}_${to}`, misfit!]));
    await filled(database, before, [...buildRows(0, chosen), { ...misfits, untouched: "row 3" }]);

    const { obstacles } = await database.plan([people, now]);

    for (const [from, to] of chosen)
      assert.ok(
        obstacles.some((each) => each.startsWith(`things.${from}_${to} `) && each.endsWith("1 does not fit (id 4).")),
        `${database.engine}: ${from} to ${to} in ${obstacles.join("\n")}`,
      );
    await assert.rejects(database.migrate([people, now]), /does not fit/);
    assert.equal((await readAll(database, before)).length, 4);
  }
});

test("asks about an undefined conversion, and prints no SQL for it", async (t) => {
  const definedConversions = new Set(all.map(([from, to]) => `${kinds[from]!.type} ${kinds[to]!.type}`));
  const names = Object.keys(kinds);
  const unknown = names
    .flatMap((from) => names.map((to) => [from, to, [], undefined] as const))
    .filter(
      ([from, to]) =>
        kinds[from]!.type !== kinds[to]!.type && !definedConversions.has(`${kinds[from]!.type} ${kinds[to]!.type}`),
    );
  assert.ok(unknown.length > 10);
  for (const database of await databases(t)) {
    await filled(database, buildTable("plain", "from", unknown), buildRows(0, unknown));

    const plan = await database.plan([people, buildTable("plain", "to", unknown)]);

    assert.equal(plan.obstacles.length, unknown.length, database.engine);
    for (const obstacle of plan.obstacles) assert.match(obstacle, /convert: \(old\) => …/);
    assert.deepEqual(
      plan.tables.map(({ sql }) => sql),
      [null],
    );
  }
});

for (const form of forms)
  for (const way of ["migrated", "by hand"] as const)
    test(`renames, drops and narrows columns of every kind without affecting other columns: ${form} columns, ${way}`, async (t) => {
      const chosen = Object.keys(kinds).map((kind) => [kind, kind, all.find(([from]) => from === kind)![2]] as const);
      const same = chosen.map(([from, to, values]) => [from, to, values, undefined] as const);
      for (const database of await databases(t)) {
        const before = buildTable(form, "from", same);
        const rows = buildRows(0, same);
        await filled(database, before, [rows[0]!]);
        const renamed: Collection = {
          ...before,
          columns: before.columns.map((column) =>
            column.name === "untouched"
              ? column
              : { ...column, name: `new_${column.name}`, nullable: false, origin: { renamedFrom: column.name } },
          ),
          ...(before.indexes === undefined ? {} : { indexes: before.indexes.map(([name]) => [`new_${name!}`, "id"]) }),
        };
        const apply = async (collection: Collection, dropped: readonly string[] = []): Promise<void> => {
          if (way === "migrated") return void (await database.migrate([people, collection], { dropped }));
          for (const { sql } of (await database.plan([people, collection], dropped)).tables)
            if (sql !== null) await database.run(sql);
        };

        await apply(renamed);
        const expected = Object.fromEntries(
          Object.entries(rows[0]!).map(([name, value]) => [name === "untouched" ? name : `new_${name}`, value]),
        );
        assert.deepEqual(await readAll(database, renamed), [{ id: 1, ...expected }], database.engine);

        const bare: Collection = { ...before, columns: [{ name: "untouched", type: "text" }], indexes: [] };
        await apply(
          bare,
          renamed.columns.filter(({ name }) => name !== "untouched").map(({ name }) => `things.${name}`),
        );
        assert.deepEqual(await readAll(database, bare), [{ id: 1, untouched: "row 0" }], database.engine);
        assert.deepEqual((await database.plan([people, bare])).remarks, [], database.engine);
      }
    });
