import assert from "node:assert/strict";
import { test } from "node:test";
import {
  anyone,
  boolean,
  dateTime,
  decimal,
  defineResource,
  email,
  enumeration,
  integer,
  mount,
  text,
} from "../../src/door/index.ts";
import { ownService } from "../harness/own-service.ts";

const things = defineResource({
  name: "thing",
  fields: {
    label: text({ maxLength: 5, optional: true }),
    large: integer({ optional: true }),
    price: decimal({ scale: 2, minimum: "-10", maximum: "9999999999.99", optional: true }),
    whole: decimal({ scale: 0, maximum: "999999999999999", optional: true }),
    on: boolean({ optional: true }),
    at: dateTime({ optional: true }),
    state: enumeration(["open", "closed"], { optional: true }),
    mail: email({ optional: true, unique: "case-insensitive" }),
  },
  filters: {
    price: ["eq", "gt", "in"],
    whole: ["eq"],
    at: ["eq", "gte"],
    on: ["eq", "ne"],
    state: ["eq", "in"],
    label: ["null", "eq"],
    mail: ["eq"],
    large: ["eq"],
  },
});

test("parses the value of a filter as its field does", async (t) => {
  const { ask } = await ownService(t, { mounts: [mount(things, { permission: anyone })] });
  await ask("POST", "/things", {
    body: {
      price: "12.50",
      at: "2026-01-31T09:30:00Z",
      on: true,
      state: "open",
      whole: "999999999999999",
      mail: "Ann@example.com",
      large: 9007199254740991,
    },
  });
  await ask("POST", "/things", { body: { price: "-1", on: false, state: "closed", label: "x" } });
  const rows: readonly (readonly [query: string, ids: readonly number[] | 400])[] = [
    ["price=12.5", [1]],
    ["price=12.50", [1]],
    ["price[in]=12.5,-1.00", [1, 2]],
    ["price[gt]=-1", [1]],
    ["price[gt]=9999999999999999.99", []],
    ["price=99999999999999999.99", 400],
    ["price=12.505", 400],
    ["price=12,5", 400],
    ["whole=999999999999999", [1]],
    ["whole=99999999999999999999", 400],
    ["at=2026-01-31T10:30:00%2B01:00", [1]],
    ["at[gte]=2026-01-31T09:30:00.001Z", []],
    ["at=yesterday", 400],
    ["on=true", [1]],
    ["on[ne]=true", [2]],
    ["on=1", 400],
    ["state[in]=open,closed", [1, 2]],
    ["state=ajar", 400],
    ["label[null]=true", [1]],
    ["label[null]=false", [2]],
    ["label[null]=", 400],
    ["label=", []],
    ["mail=ANN@EXAMPLE.COM", [1]],
    ["large=9007199254740991", [1]],
  ];

  for (const [query, ids] of rows) {
    const { status, json: found } = await ask("GET", `/things?${query}`);
    assert.deepEqual(status === 200 ? found.map(({ id }: { id: number }) => id) : status, ids, query);
  }
});
