import type { TablePlan } from "../../sql/changes/plan-table.ts";
import { fitting, quote } from "../../sql/names.ts";
import { defineReference, indexesOf } from "../../sql/schema/definition.ts";
import { findReferences } from "../../sql/schema/found-table.ts";
import { referenceOf } from "../../sql/schema/schema.ts";
import { statement, type Script } from "../../sql/schema/script.ts";
import { postgres, referenceConstraintOf } from "../dialect.ts";
import { postgresSchema } from "../migration.ts";
import type { Session } from "../network/session.ts";
import { patiently } from "./patiently.ts";

/** Makes indexes while anybody writes. One that was broken off is of no use, and is made anew. */
export async function makeIndexes(
  session: Session,
  indexes: readonly (readonly [name: string, sql: string])[],
): Promise<void> {
  for (const [name, sql] of indexes) {
    const [found] = await session.send(
      statement("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)", [quote(name)]),
    );
    if (found?.[0] === true) continue;
    if (found !== undefined) await session.run(`DROP INDEX CONCURRENTLY ${quote(name)}`);
    await session.run(sql);
  }
}

/** The indexes that are wanted, but for those of folded values, which a start fills first. */
export function wantedIndexes({ collection }: TablePlan): readonly (readonly [name: string, sql: string])[] {
  return [...indexesOf(postgresSchema, collection)].flatMap(([name, { sql, folds }]) =>
    folds === null ? [[name, sql.replace(" INDEX ", " INDEX CONCURRENTLY ")] as const] : [],
  );
}

/** Columns that must have a value: looked at while anybody writes, and then only said. */
export async function requireValues(session: Session, { collection }: TablePlan): Promise<void> {
  const table = `ALTER TABLE ${quote(collection.name)}`;
  const found = await session.send(postgresSchema.findColumns(collection.name));
  const nullable = new Set(found.filter(([, , isNullable]) => isNullable === true).map(([name]) => String(name)));
  for (const column of collection.columns) {
    if (column.nullable === true || !nullable.has(column.name)) continue;
    const constraint = quote(fitting(postgres, `present ${collection.name}(${column.name})`));
    await patiently(session, [
      `${table} DROP CONSTRAINT IF EXISTS ${constraint}`,
      `${table} ADD CONSTRAINT ${constraint} CHECK (${quote(column.name)} IS NOT NULL) NOT VALID`,
    ]);
    await session.run(`${table} VALIDATE CONSTRAINT ${constraint}`);
    await patiently(session, [
      `${table} ALTER COLUMN ${quote(column.name)} SET NOT NULL`,
      `${table} DROP CONSTRAINT ${constraint}`,
    ]);
  }
}

/** References that are declared: said at once, and the rows that are there looked at while anybody writes. */
export async function makeReferences(
  session: Session,
  { collection }: TablePlan,
  play: <T>(script: Script<T>) => Promise<T>,
): Promise<void> {
  const there = await play(findReferences(postgresSchema, collection.name));
  const table = `ALTER TABLE ${quote(collection.name)}`;
  for (const column of collection.columns) {
    const found = there.get(column.name);
    if (column.references === undefined || found?.target === referenceOf(column)) continue;
    const constraint = quote(referenceConstraintOf(collection, column));
    await patiently(session, [
      ...(found === undefined ? [] : [`${table} DROP CONSTRAINT ${quote(found.constraint!)}`]),
      `${table} ADD CONSTRAINT ${constraint} FOREIGN KEY (${quote(column.name)}) ${defineReference(column.references)} NOT VALID`,
    ]);
    await session.run(`${table} VALIDATE CONSTRAINT ${constraint}`);
  }
}
