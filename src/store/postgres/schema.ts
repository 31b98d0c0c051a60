import { setTimeout as sleep } from "node:timers/promises";
import { valueOfJSON } from "../../core/exact-numbers.ts";
import { pickOwnCollections, requireSoundDeclarations } from "../declarations.ts";
import { checkComputed } from "../sql/existing/computed-check.ts";
import { asSettled, settleExisting } from "../sql/existing/settle.ts";
import { encode } from "../sql/language/codec.ts";
import { run, type Script } from "../sql/language/script.ts";
import { changedBy, fitTables, planAtStart, problemsIn, rememberDeclaration } from "../sql/migrations/migration.ts";
import type { TablePlan } from "../sql/migrations/plan-table.ts";
import {
  prepareTables,
  requireKnownVersion,
  requireTables,
  requireVersion,
  unprepared,
} from "../sql/migrations/prepare.ts";
import { getsFolded } from "../sql/migrations/schema-changes.ts";
import { findTable, isOurs } from "../sql/schema/found-table.ts";
import { markShape, readShapes, type Shapes } from "../sql/schema/table-shape.ts";
import type { Collection } from "../store.ts";
import { isPassing, ReadOnly, state, findSQLState } from "./errors.ts";
import type { PostgresAddress } from "./network/address.ts";
import type { Session } from "./network/session.ts";
import { fitWhileServing } from "./table-changes/additions.ts";
import { transientStates, describeLockHolder } from "./table-changes/lock-retry.ts";
import { takeMigrationLock } from "./table-changes/migration-lock.ts";
import { postgresSchema } from "./table-changes/migration.ts";

/**
 * The number of attempts after conflicts with other transactions. `patienceMs` limits the time of the attempts while
 * another transaction locks a table, in milliseconds.
 */
const maxTries = 20;
const patienceMs = 120_000;
/** The longest wait for an older transaction while an index is built without blocking writers, in milliseconds. */
const indexLockMs = 30_000;

/**
 * The errors for a row that violates a new rule. Such a row was written during the change, and the next attempt reports
 * it.
 */
const ruleViolations: ReadonlySet<string | null> = new Set([state.check, state.foreignKey, state.notNull]);

/**
 * Creates the missing tables, all or none, and extends existing ones while clients read and write. One process at a
 * time does this.
 */
export async function prepareSchema(
  session: Session,
  address: PostgresAddress,
  collections: readonly Collection[],
): Promise<ReadonlyMap<string, Collection>> {
  requireSoundDeclarations(collections, (column, value) => encode(postgresSchema, column, value));
  // If an existing table differs from its declaration, no other table is created either.
  const settled = await session.play(settleExisting(postgresSchema, collections));
  const due = performance.now() + patienceMs;
  for (let tries = 1; ; tries++) {
    try {
      await prepareOnce(session, address, collections);
      await session.play(checkComputed(postgresSchema, asSettled(collections, settled)));
      return settled;
    } catch (error) {
      await session.run("ROLLBACK").catch(() => undefined);
      const isTransient = transientStates.has(findSQLState(error));
      if (isTransient && performance.now() > due) throw await describeLockHolder(session, collections, error);
      if (!isTransient && (tries >= maxTries || !(isPassing(error) || ruleViolations.has(findSQLState(error)))))
        throw error;
    }
    await sleep(Math.random() * Math.min(2 ** tries, 100));
  }
}

async function prepareOnce(
  session: Session,
  address: PostgresAddress,
  collections: readonly Collection[],
): Promise<void> {
  if ((await session.play(unprepared(postgresSchema, collections))).length === 0) return;
  // The tables do not exist yet, so no client reads or writes them.
  if ((await session.play(requireKnownVersion(postgresSchema))) === 0)
    return session.play(prepareTables(postgresSchema, collections));
  const turn = await takeMigrationLock(address);
  try {
    // Checked again, because another process may have changed the tables while this one waited.
    await fitAll(session, address, await session.play(unprepared(postgresSchema, collections)));
  } finally {
    await turn.end();
  }
}

async function fitAll(session: Session, address: PostgresAddress, collections: readonly Collection[]): Promise<void> {
  // Behind a pooler, the settings would also apply to the next client of the connection.
  if (!address.pooled) await session.run(`SET statement_timeout = 0; SET lock_timeout = ${indexLockMs}`);
  const small: Collection[] = [];
  const large: TablePlan[] = [];
  for (const collection of collections) {
    const found = await session.play(findTable(postgresSchema, collection));
    if (found === null || !found.rows || !isOurs(found)) small.push(collection);
    else large.push(await session.play(planAtStart(postgresSchema, collection, found)));
  }
  if (small.length + large.flatMap(problemsIn).length > 0) await session.play(fitSmall(small, large));
  // A folded column has a copy of its values in lower case. An older process does not write this copy, so it must stop
  // writing before this one fills the copy. No such stop is needed for other new rules, because the database refuses
  // rows that break them.
  const folding = large.filter(({ collection, found }) =>
    collection.columns.some((column) => getsFolded(postgresSchema, column, found)),
  );
  for (const plan of folding) await session.play(markShape(postgresSchema, plan.collection, changedBy(plan)));
  try {
    for (const { collection } of large) await fitWhileServing(session, collection);
  } catch (error) {
    for (const { collection, found: before } of folding)
      await session.play(markShape(postgresSchema, collection, { before, alone: false })).catch(() => undefined);
    throw error;
  }
  // The declarations are stored last. An older program that starts during the change then finds its own declarations
  // and does nothing.
  if (large.length > 0) await session.play(remember(large));
}

/**
 * Creates missing tables, and changes tables that are empty or that this store did not create. Does this in one
 * transaction.
 */
function* fitSmall(collections: readonly Collection[], others: readonly TablePlan[]): Script<void> {
  yield* run(postgresSchema.beginPortion);
  yield* fitTables(postgresSchema, collections, others);
  yield* run("COMMIT");
}

function* remember(plans: readonly TablePlan[]): Script<void> {
  yield* run("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE");
  for (const plan of plans) yield* rememberDeclaration(postgresSchema, plan.collection, changedBy(plan));
  yield* run("COMMIT");
}

/** Returns the shapes of the tables, read while the tables fit the declarations. */
export async function shapesIn(
  session: Session,
  address: PostgresAddress,
  collections: readonly Collection[],
): Promise<Shapes> {
  for (let tries = 1; ; tries++) {
    const shapes = await session.play(readShapes(collections.map(({ name }) => name)));
    if (tries === maxTries || (await session.play(unprepared(postgresSchema, collections))).length === 0) return shapes;
    // Another process has changed the tables in the meantime. Either this call can change them back, or it rejects and
    // the start fails.
    await prepareSchema(session, address, collections);
  }
}

/** Rejects if a table is missing or cannot be written. */
export async function requireSchema(session: Session, collections: readonly Collection[]): Promise<void> {
  const names = pickOwnCollections(collections).map(({ name }) => name);
  const [found] = await session.send({
    name: "latchkey_check",
    text:
      "SELECT version, current_setting('transaction_read_only') = 'on' AS read_only, " +
      "to_json(ARRAY(SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(quote_ident(name)) IS NULL " +
      "OR name NOT IN (SELECT collection FROM latchkey_schema)))::text AS missing " +
      "FROM latchkey_version",
    values: [names],
  });
  const { version, read_only: readOnly, missing } = found!;
  requireVersion(postgresSchema, version as number);
  requireTables("PostgreSQL", valueOfJSON(missing as string) as readonly string[]);
  if (readOnly === true) throw new ReadOnly();
}
