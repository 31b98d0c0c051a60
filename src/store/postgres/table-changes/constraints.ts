import { fitting, quote } from "../../sql/language/names.ts";
import { statement } from "../../sql/language/script.ts";
import { revisionColumn } from "../../sql/migrations/plan-table.ts";
import { defineReference, collectIndexes } from "../../sql/schema/definition.ts";
import { findReferences } from "../../sql/schema/found-table.ts";
import { formatReference } from "../../sql/schema/schema.ts";
import type { Collection } from "../../store.ts";
import { postgres, formatReferenceName } from "../dialect.ts";
import { state, findSQLState } from "../errors.ts";
import type { Session } from "../network/session.ts";
import { retryOnLock } from "./lock-retry.ts";
import { postgresSchema } from "./migration.ts";

/**
 * Makes indexes while clients write. An index whose creation was interrupted is invalid, so it is dropped and made
 * again.
 */
export async function makeIndexes(
  session: Session,
  indexes: readonly (readonly [name: string, sql: string])[],
): Promise<void> {
  for (const [name, sql] of indexes) {
    const [found] = await session.send(
      statement("SELECT indisvalid AS is_whole FROM pg_index WHERE indexrelid = to_regclass($1)", [quote(name)]),
    );
    if (found?.["is_whole"] === true) continue;
    const drop = `DROP INDEX CONCURRENTLY IF EXISTS ${quote(name)}`;
    if (found !== undefined) await session.run(drop);
    try {
      await session.run(sql);
    } catch (error) {
      if (findSQLState(error) === state.unique) await session.run(drop);
      throw error;
    }
  }
}

/** Returns the SQL that makes the same index while clients write. */
export function concurrently(sql: string): string {
  return sql.replace(" INDEX ", " INDEX CONCURRENTLY ");
}

/** Returns the declared indexes, except those of folded values, because a start fills these values first. */
export function wantedIndexes(collection: Collection): readonly (readonly [name: string, sql: string])[] {
  return [...collectIndexes(postgresSchema, collection)].flatMap(([name, { sql, folds }]) =>
    folds === null ? [[name, concurrently(sql)] as const] : [],
  );
}

/**
 * Makes columns NOT NULL. A constraint checks the rows first, while clients write, so that the change itself is short.
 */
export async function requireValues(session: Session, collection: Collection): Promise<void> {
  const table = `ALTER TABLE ${quote(collection.name)}`;
  const found = await session.send(postgresSchema.findColumns(collection.name));
  const nullable = new Set(
    found.filter(({ nullable: isNullable }) => isNullable === true).map(({ name }) => String(name)),
  );
  for (const column of [...collection.columns, revisionColumn]) {
    if (column.nullable === true || !nullable.has(column.name)) continue;
    const constraint = quote(fitting(postgres, `present ${collection.name}(${column.name})`));
    await retryOnLock(
      session,
      [collection.name],
      [
        `${table} DROP CONSTRAINT IF EXISTS ${constraint}`,
        `${table} ADD CONSTRAINT ${constraint} CHECK (${quote(column.name)} IS NOT NULL) NOT VALID`,
      ],
    );
    await validate(session, collection, constraint);
    await retryOnLock(
      session,
      [collection.name],
      [`${table} ALTER COLUMN ${quote(column.name)} SET NOT NULL`, `${table} DROP CONSTRAINT ${constraint}`],
    );
  }
}

/**
 * Makes the declared references. They are added without a check, and the existing rows are checked while clients write.
 */
export async function makeReferences(session: Session, collection: Collection): Promise<void> {
  const there = await session.play(findReferences(postgresSchema, collection.name));
  const table = `ALTER TABLE ${quote(collection.name)}`;
  for (const column of collection.columns) {
    const found = there.get(column.name);
    if (column.references === undefined || found?.target === formatReference(column)) continue;
    const constraint = quote(formatReferenceName(collection, column));
    await retryOnLock(
      session,
      [collection.name, column.references.collection],
      [
        ...(found === undefined ? [] : [`${table} DROP CONSTRAINT ${quote(found.constraint!)}`]),
        `${table} ADD CONSTRAINT ${constraint} FOREIGN KEY (${quote(column.name)}) ${defineReference(column.references)} NOT VALID`,
      ],
    );
  }
  // Also finds the references of a process that stopped before it had checked the rows.
  const waiting = await session.send(
    statement(
      "SELECT conname::text AS name FROM pg_constraint WHERE contype = 'f' AND NOT convalidated AND conrelid = to_regclass($1) AND starts_with(conname::text, 'reference ')",
      [quote(collection.name)],
    ),
  );
  for (const { name } of waiting) await validate(session, collection, quote(String(name)));
}

/** Drops references that are no longer declared. */
export async function dropReferences(session: Session, collection: Collection): Promise<void> {
  for (const [name, { constraint }] of await session.play(findReferences(postgresSchema, collection.name)))
    if (collection.columns.find((each) => each.name === name)?.references === undefined)
      await retryOnLock(session, [collection.name], postgresSchema.changeReference(collection, null, constraint));
}

/**
 * Checks all rows. Drops the constraint if a row violates it, because the constraint would otherwise refuse writes of
 * clients.
 */
async function validate(session: Session, { name }: Collection, constraint: string): Promise<void> {
  const table = `ALTER TABLE ${quote(name)}`;
  try {
    await session.run(`${table} VALIDATE CONSTRAINT ${constraint}`);
  } catch (error) {
    await retryOnLock(session, [name], [`${table} DROP CONSTRAINT IF EXISTS ${constraint}`]);
    throw error;
  }
}
