import assert from "node:assert/strict";
import { test } from "node:test";
import { everyOperator, orderOperators } from "../../src/core/operators.ts";
import type { AllowedRows, Permission } from "../../src/door/auth.ts";
import { boolean, dateTime, decimal, defineResource, email, integer, mount, text } from "../../src/door/index.ts";
import { number, type ColumnOf } from "../../src/door/resources.ts";
import { ownService } from "../harness/own-service.ts";

const things = defineResource({
  name: "thing",
  fields: {
    label: text({ optional: true }),
    price: decimal({ scale: 2, minimum: "-100", maximum: "1000", optional: true }),
    count: integer({ optional: true }),
    on: boolean({ optional: true }),
    at: dateTime({ optional: true }),
    mail: email({ optional: true, unique: "case-insensitive" }),
    weight: number({ optional: true }),
    rate: decimal({ scale: 2, maximum: "9", json: "number", optional: true }),
  },
});

const records = [
  {
    label: "Ann",
    price: "9.00",
    count: 1,
    weight: 0.1,
    rate: 0.05,
    on: true,
    at: "2026-01-31T09:30:00Z",
    mail: "Ann@example.com",
  },
  {
    label: "ann",
    price: "10.00",
    count: 10,
    weight: 1e-7,
    rate: 1.5,
    on: false,
    at: "2026-01-31T09:30:00.001Z",
    mail: "Bea@example.com",
  },
  { label: "\uFFFD", price: "-9.50", count: -2, on: true },
  { label: "😀", price: "100.00", count: 9 },
  {},
];

type Column = ColumnOf<typeof things>;

type Condition = Extract<AllowedRows<Column>, { operator: unknown }>;

const one = (
  column: Column,
  operator: Condition["operator"],
  value: string | number | boolean | readonly (string | number | boolean)[],
): AllowedRows<Column> => ({ column, operator, value }) as Condition;

const questions: readonly AllowedRows<Column>[] = [
  one("label", "eq", "Ann"),
  one("label", "ne", "Ann"),
  one("weight", "eq", 0.1),
  one("weight", "gt", 0.05),
  one("rate", "in", [0.05, 3]),
  one("rate", "gte", 1.5),
  one("label", "lt", "ann"),
  one("label", "gte", "\uFFFD"),
  one("label", "in", ["ann", "😀"]),
  one("label", "contains", "nn"),
  one("label", "starts", "A"),
  one("label", "starts", ""),
  one("label", "null", true),
  one("label", "null", false),
  one("price", "eq", "9"),
  one("price", "eq", "9.0"),
  one("price", "ne", "9.00"),
  one("price", "eq", "09.000"),
  one("price", "lt", "9.500"),
  one("price", "lt", "10.00"),
  one("price", "gte", "-9.5"),
  one("price", "in", ["9", "100"]),
  one("count", "gt", 1),
  one("count", "lte", 9),
  one("count", "in", [1, 9]),
  one("id", "in", [1, 5]),
  one("id", "gt", 3),
  one("on", "eq", true),
  one("on", "ne", true),
  one("at", "gt", "2026-01-31T09:30:00.000Z"),
  one("mail", "eq", "ANN@EXAMPLE.COM"),
  one("mail", "ne", "ann@example.com"),
  one("mail", "in", ["ann@Example.com", "x@example.com"]),
  { all: [one("on", "eq", true), one("count", "lt", 0)] },
  { any: [one("on", "eq", false), one("label", "null", true)] },
  { all: [] },
  { any: [] },
  { not: one("label", "eq", "Ann") },
  { not: one("label", "ne", "Ann") },
  { not: { not: one("count", "gt", 1) } },
  { not: { any: [one("on", "eq", true), one("price", "null", true)] } },
  { not: { all: [] } },
];

test("shows the same records in a list and one by one if a permission narrows", async (t) => {
  let only: AllowedRows<Column> = { all: [] };
  const permission: Permission<Column> = { name: "narrowing", decide: () => ({ only }) };
  const { ask } = await ownService(t, { mounts: [mount(things, { permission })] });
  for (const body of records) assert.equal((await ask("POST", "/things", { body })).status, 201);

  for (const question of questions) {
    only = question;
    const listed = (await ask("GET", "/things")).json.map(({ id }: { id: number }) => id);
    const read: number[] = [];
    for (const id of records.keys()) if ((await ask("GET", `/things/${id + 1}`)).status === 200) read.push(id + 1);
    assert.deepEqual(read, listed, JSON.stringify(question));
  }
});

test("reports a fault for a list and for a record if a permission narrows by an invalid decimal", async (t) => {
  let only: AllowedRows<Column> = { all: [] };
  const permission: Permission<Column> = { name: "narrowing", decide: () => ({ only }) };
  const { ask } = await ownService(t, { mounts: [mount(things, { permission })], observe: null });
  assert.equal((await ask("POST", "/things", { body: records[0] })).status, 201);

  for (const question of [one("price", "gt", "8.995"), one("price", "ne", "nine"), one("rate", "gt", 0.045)]) {
    only = question;
    for (const path of ["/things", "/things/1"])
      assert.equal((await ask("GET", path)).status, 500, `${path} by ${JSON.stringify(question)}`);
  }
});

const values = [true, false, 0, 1, "Ann", "9.00", "2026-01-31T09:30:00Z", [true], [1, 9], ["ann", "9.00"]];

test("shows the same records in a list and one by one for every operator on every column, or reports a fault for both", async (t) => {
  let only: AllowedRows<Column> = { all: [] };
  const permission: Permission<Column> = { name: "narrowing", decide: () => ({ only }) };
  const { ask } = await ownService(t, { mounts: [mount(things, { permission })], observe: null });
  for (const body of records) assert.equal((await ask("POST", "/things", { body })).status, 201);
  const columns: readonly Column[] = ["id", "label", "price", "count", "weight", "rate", "on", "at", "mail"];
  const accepted = new Set<string>();

  for (const column of columns)
    for (const operator of everyOperator)
      for (const value of values) {
        only = one(column, operator, value);
        const conditionText = JSON.stringify(only);
        const list = await ask("GET", "/things");
        const reads = await Promise.all(records.map((_, at) => ask("GET", `/things/${at + 1}`)));
        if (list.status === 200) accepted.add(`${column} ${operator}`);
        const shown = list.status === 200 ? list.json.map(({ id }: { id: number }) => id) : [];
        const expected = records.map((_, at) => (list.status === 200 ? (shown.includes(at + 1) ? 200 : 404) : 500));
        assert.deepEqual(
          reads.map(({ status }) => status),
          expected,
          conditionText,
        );
      }

  assert.ok(accepted.has("on eq") && accepted.has("count gte") && accepted.has("label lt"));
  for (const operator of orderOperators) assert.ok(!accepted.has(`on ${operator}`), operator);
});
