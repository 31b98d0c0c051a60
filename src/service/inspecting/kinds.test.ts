import assert from "node:assert/strict";
import { test } from "node:test";
import * as main from "../../door/index.ts";
import * as resources from "../../door/resources.ts";
import { kindFor } from "./kinds.ts";

const doors: Readonly<Record<string, unknown>> = { ...main, ...resources };

function declared(storage: string, words?: readonly string[]) {
  return kindFor({
    name: "one",
    storage,
    nullable: false,
    filled: false,
    generated: false,
    ...(words === undefined ? {} : { words }),
  });
}

test("declares a column of each kind with a function of the package, whose field has the type of the column", () => {
  const storages = [
    "bool",
    "tinyint(1)",
    "int",
    "smallint",
    "numeric(10,2)",
    "date",
    "timestamptz",
    "timestamp with time zone",
    "jsonb",
    "text[]",
    "uuid",
    "character varying(20)",
    "double precision",
  ];
  const calls = storages.map((storage) => [storage, declared(storage)] as const);

  const made = [...calls, ["words", declared("text", ["a", "b"])] as const].flatMap(([storage, call]) => {
    if ("why" in call) return [`${storage}: ${call.why}`];
    const make = doors[call.factory] as (...parameters: readonly unknown[]) => resources.Field;
    const { kind } = make(...(call.first === undefined ? [] : [call.first]), call.options);
    return kind.column.type === call.type ? [] : [`${storage}: ${kind.column.type}`];
  });

  assert.deepEqual(made, ["timestamptz: no kind of field has the type timestamptz"]);
  assert.deepEqual(
    [...resources.collectColumnKinds().keys()].filter((name) => typeof doors[name] !== "function"),
    [],
  );
});

test("gives each type of column to one kind only", () => {
  const kinds = [...resources.collectColumnKinds()].flatMap(([name, { columns }]) =>
    columns === "words" ? [] : [[name, columns] as const],
  );

  for (const type of [
    "tinyint(1)",
    "tinyint",
    "json",
    "text[]",
    "real[]",
    "character varying",
    "date",
    "datetime",
    "interval",
  ])
    assert.equal(kinds.filter(([, columns]) => columns.test(type)).length, 1, type);
});
