import type { TableWrite, Where } from "../../store.ts";
import type { Parameters } from "../dialect.ts";
import type { ExistingNames, Table } from "../schema/table.ts";
import { compileWhere } from "../where.ts";
import type { Assignment } from "../writes/writes.ts";

/** A new row. What nobody gives, the database fills. `key`: the place of a key that is given. */
export function insertExisting(table: Table, key: string | null, set: readonly Assignment[]): string {
  const { name, nameOf } = requireExisting(table, "create");
  const all = key === null ? set : [{ sql: nameOf("id"), place: table.id.form!.written(key) }, ...set];
  if (all.length === 0) return `INSERT INTO ${name} DEFAULT VALUES`;
  const [names, places] = [all.map(({ sql }) => sql), all.map(({ place }) => place)];
  return `INSERT INTO ${name} (${names.join(", ")}) VALUES (${places.join(", ")})`;
}

/** A row in the state that is asked for, where one is: the database itself compares it, whoever else is writing. */
export function updateExisting(
  table: Table,
  set: readonly Assignment[],
  key: string,
  revision: number | undefined,
  values: Parameters,
): string {
  const { name } = requireExisting(table, "update");
  return `UPDATE ${name} SET ${setOf(table, set)} WHERE ${isExisting(table, key, revision, values)}`;
}

/** Takes away such a row. */
export function deleteExisting(table: Table, key: string, revision: number | undefined, values: Parameters): string {
  const { name } = requireExisting(table, "delete");
  return `DELETE FROM ${name} WHERE ${isExisting(table, key, revision, values)}`;
}

/** Every row that matches, or so many of them; those that somebody else is changing are waited for. */
export function updateAllExisting(
  table: Table,
  set: readonly Assignment[],
  which: Matching,
  values: Parameters,
): string {
  const { name } = requireExisting(table, "update");
  return `UPDATE ${name} SET ${setOf(table, set)} WHERE ${matching(table, which, values)}`;
}

/** Takes them away. */
export function deleteAllExisting(table: Table, which: Matching, values: Parameters): string {
  const { name } = requireExisting(table, "delete");
  return `DELETE FROM ${name} WHERE ${matching(table, which, values)}`;
}

/** The table that was there before. Throws where it is not declared to take such writes. */
function requireExisting({ existing, collection }: Table, write: TableWrite): ExistingNames {
  if (existing !== null && collection.existing!.writes.includes(write)) return existing;
  throw new TypeError(
    `The table ${collection.existing?.table ?? collection.name} is not declared to take writes of this kind: ${write}`,
  );
}

interface Matching {
  readonly where: Where;
  readonly atMost?: number;
}

function matching(table: Table, { where, atMost }: Matching, values: Parameters): string {
  const condition = compileWhere(table, where, values);
  const limit = atMost === undefined ? "" : ` LIMIT ${values.place(atMost)}`;
  const select = `SELECT ${table.id.quoted} FROM ${table.name} WHERE ${condition}${limit}`;
  const key = table.existing!.nameOf("id");
  return atMost === undefined ? table.dialect.isLocked(key, select) : table.dialect.isSomeOf(key, select);
}

/** What an update sets. A counter of states goes on, and what sets nothing writes a column as it is. */
function setOf({ existing, collection, id }: Table, set: readonly Assignment[]): string {
  const { revision, found } = collection.existing!;
  const counter = typeof revision === "object" ? [{ sql: existing!.revision, place: `${existing!.revision} + 1` }] : [];
  const all = [...set, ...counter];
  if (all.length === 0) {
    const still = collection.columns.find(({ name }) => found?.[name]?.generated === false)?.name ?? id.name;
    all.push({ sql: existing!.nameOf(still), place: existing!.nameOf(still) });
  }
  return all.map(({ sql, place }) => `${sql} = ${place}`).join(", ");
}

function isExisting(table: Table, key: string, revision: number | undefined, values: Parameters): string {
  const { nameOf, revision: state } = table.existing!;
  const { form, operand } = table.id;
  const only = revision === undefined ? "" : ` AND ${state} = ${values.place(revision)}`;
  return `${form!.equal.of(nameOf("id"))} = ${operand(key)}${only}`;
}
