import { quote } from "../../sql/language/names.ts";
import { resolveRawName } from "../../sql/schema/found.ts";
import type { Table } from "../../sql/schema/table.ts";
import type { Change, Collection } from "../../store.ts";
import { formatKeyConstraint, postgres, formatSequenceName, getTable } from "../dialect.ts";
import { isServerError, state, findSQLState } from "../errors.ts";
import type { Session } from "../network/session.ts";
import { lockKeys } from "../own-tables.ts";
import { prepared } from "../parameters.ts";

/*
 * A sequence issues the keys of new rows. If another program inserts rows together with their keys (COPY, a restored
 * dump), the sequence stays lower than these keys. It then issues keys that already exist.
 */

/**
 * A sequence is moved only to lower keys than this one. After a higher key, few keys may be left (the largest key is
 * 2^53 - 1).
 */
const farAway = 2 ** 52;

/** Returns true if the database issued a key for a new row that another row already has. */
export function isKeyRepeated(error: unknown, change: Change): boolean {
  if (!isServerError(error) || error.code !== state.unique || !isKeyIssued(change)) return false;
  const { existing } = change.collection;
  if (existing === undefined) return error.constraint === formatKeyConstraint(change.collection);
  return existing.constraints?.[error.constraint ?? ""] === "id";
}

function isKeyIssued(change: Change): boolean {
  return change.kind === "link" || (change.kind === "insert" && change.key === undefined);
}

/**
 * Moves the sequence of a collection past the existing keys. If it cannot, throws a fault with the SQL that the
 * operator must run.
 */
export async function moveSequence(session: Session, collection: Collection): Promise<void> {
  try {
    await (collection.existing === undefined
      ? moveOwnSequence(session, collection)
      : moveExistingSequence(session, getTable(collection)));
  } catch (error) {
    await session.run("ROLLBACK").catch(() => undefined);
    throw isImpossible(error) ? keyRepeated(collection, error) : error;
  }
}

/** Returns true if the role may not move the sequence, or if the key is out of the range of the sequence. */
function isImpossible(error: unknown): boolean {
  const found = findSQLState(error);
  return found === state.privilege || found?.startsWith("22") === true;
}

/** Creates the fault for a new row that got the key of another row. */
export function keyRepeated(collection: Collection, cause?: unknown): TypeError {
  const message = `PostgreSQL gave a new row of ${collection.name} the key of another row: the sequence of the keys has not passed the keys in the table. Move it: ${cureFor(collection)}`;
  return new TypeError(message, { cause });
}

function cureFor(collection: Collection): string {
  const { existing } = collection;
  const table = existing === undefined ? quote(collection.name) : postgres.quoteTable(existing.table);
  const column = existing === undefined ? "id" : resolveRawName(existing, "id");
  const sequence =
    existing === undefined
      ? postgres.literal(quote(formatSequenceName(collection)))
      : `pg_get_serial_sequence(${postgres.literal(table)}, ${postgres.literal(column)})`;
  if (existing === undefined) return `SELECT setval(${sequence}, (SELECT max(${quote(column)}) FROM ${table}));`;
  // The sequence of another program may count down.
  const next = `CASE WHEN seqincrement < 0 THEN (SELECT min(${quote(column)}) FROM ${table}) ELSE (SELECT max(${quote(column)}) FROM ${table}) END`;
  return `SELECT setval(seqrelid::regclass, ${next}) FROM pg_sequence WHERE seqrelid = ${sequence}::regclass;`;
}

/**
 * Moves the sequence of one of the store's own tables. The lock prevents other transactions from issuing keys in the
 * meantime. Ignores keys that a caller has chosen, because `latchkey_next_key` skips them later.
 */
async function moveOwnSequence(session: Session, collection: Collection): Promise<void> {
  const { name } = collection;
  const sequence = quote(formatSequenceName(collection));
  const taken = "latchkey_taken_keys AS taken WHERE taken.collection = $1 AND taken.key";
  const top = `SELECT "id" FROM ${quote(name)} AS rows WHERE "id" < ${farAway} AND NOT EXISTS (SELECT FROM ${taken} = rows."id") ORDER BY "id" DESC LIMIT 1`;
  await session.run(`BEGIN ISOLATION LEVEL READ COMMITTED; ${lockKeys(quote(name))}`);
  await session.send(
    prepared(
      `SELECT setval(${postgres.literal(sequence)}::regclass, "id") FROM (${top}) AS top, ${sequence} AS sequence WHERE "id" > last_value`,
      [name],
    ),
  );
  await session.run("COMMIT");
}

/** Moves the sequence of a `serial` or identity column of an existing table. */
async function moveExistingSequence(session: Session, { collection, existing }: Table): Promise<void> {
  const top = `SELECT max(${existing!.quoteName("id")}) AS key FROM ${existing!.name}`;
  await session.send(
    prepared(
      `SELECT setval(seqrelid::regclass, key) FROM pg_sequence, (${top}) AS top WHERE seqrelid = pg_get_serial_sequence($1, $2)::regclass ` +
        `AND seqincrement > 0 AND key < ${farAway} AND key > coalesce(pg_sequence_last_value(seqrelid::regclass), seqstart - 1)`,
      [existing!.name, resolveRawName(collection.existing!, "id")],
    ),
  );
}
