import assert from "node:assert/strict";
import type { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { createParameters } from "../sql/language/dialect.ts";
import { compileRest } from "../sql/list.ts";
import type { Collection, ListQuery, Where } from "../store.ts";
import { connect, prepare } from "./connection/connection.ts";
import { sqlite, getTable } from "./dialect.ts";
import { selectJSON } from "./reads/pages.ts";
import { prepareSchema } from "./schema.ts";

const people: Collection = {
  name: "people",
  key: "integer",
  columns: [
    { name: "name", type: "text" },
    { name: "email", type: "text", unique: "folded" },
    { name: "boss_id", type: "integer", nullable: true, references: { collection: "people", onDelete: "restrict" } },
  ],
  indexes: [["name"]],
};

const far = "person 050000";
const queries: Record<string, Partial<ListQuery>> = {
  "by id": { sort: [{ column: "id" }], after: [50_000] },
  "by id, backwards": { sort: [{ column: "id", descending: true }], after: [50_000] },
  "by name": { sort: [{ column: "name" }, { column: "id" }], after: [far, 50_000] },
  "by name, backwards": {
    sort: [
      { column: "name", descending: true },
      { column: "id", descending: true },
    ],
    after: [far, 50_000],
  },
  "by name backwards and id forwards": {
    sort: [{ column: "name", descending: true }, { column: "id" }],
    after: [far, 50_000],
  },
  "with a prefix": { where: one("name", "starts", "person 05"), sort: [{ column: "name" }, { column: "id" }] },
  "with an e-mail in any case": { where: one("email", "eq", "PERSON50001@EXAMPLE.COM"), sort: [{ column: "id" }] },
  "with a beginning in any case": { where: one("email", "istarts", "PERSON500"), sort: [{ column: "id" }] },
  "with a beginning that has a sigma": { where: one("email", "istarts", "ΧΑΣ"), sort: [{ column: "id" }] },
  "with one of some ids": { where: one("id", "in", [1, 50_000, 99_999]), sort: [{ column: "id" }] },
  "with one of some e-mails": {
    where: one("email", "in", ["Person1@example.com", "person2@example.com"]),
    sort: [{ column: "id" }],
  },
  "that refer to a row": { where: one("boss_id", "eq", 7), sort: [{ column: "id" }] },
};

test("finds a late page of 100,000 rows by an index", async (t) => {
  const database = crowded();
  const table = getTable(people);

  for (const [title, some] of Object.entries(queries)) {
    await t.test(title, () => {
      const query: ListQuery = { collection: people, where: null, sort: [], limit: 100, ...some };
      const parameters = createParameters(sqlite);
      const rest = compileRest(table, query, parameters);
      const sql = `SELECT ${selectJSON(table, query)} ${rest}`;

      const plan = prepare(database, `EXPLAIN QUERY PLAN ${sql}`)
        .all(...parameters.values)
        .map((step) => String(step[3]));
      const found = prepare(database, sql).all(...parameters.values);

      assert.ok(found.length > 0);
      assert.ok(
        plan.some((step) => step.startsWith("SEARCH people")),
        plan.join("; "),
      );
      assert.ok(!plan.some((step) => step.startsWith("SCAN people") && !step.includes("INDEX")), plan.join("; "));
    });
  }
});

function one(
  column: string,
  operator: "eq" | "in" | "starts" | "istarts",
  value: string | number | readonly (string | number)[],
): Where {
  return { column, operator, value };
}

function crowded(): DatabaseSync {
  const database = connect(":memory:");
  prepareSchema(database, [people]);
  database.exec(`
    WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 100000)
    INSERT INTO people (id, _revision, name, email, _email_folded, boss_id)
    SELECT n, n, printf('person %06d', n), printf('Person%d@example.com', n), printf('person%d@example.com', n), iif(n > 1000, n % 1000 + 1, NULL) FROM n;
    UPDATE people SET email = 'ΧΑΣΑΠΗΣ', _email_folded = 'χασαπης' WHERE id = 50000`);
  return database;
}
