import type { DatabaseSync } from "node:sqlite";
import type { Cell } from "../../sql/language/dialect.ts";
import { quote } from "../../sql/language/names.ts";
import type { Table } from "../../sql/schema/table.ts";
import { prepare, type PreparedStatement } from "../connection/connection.ts";
import { code, findCode } from "../connection/errors.ts";

/** Runs a change. Returns false if it changed no row. */
export type RunChange = (statement: PreparedStatement, table: Pick<Table, "collection">, change: Text) => boolean;

interface Text {
  readonly text: string;
  readonly values: readonly Cell[];
}

/**
 * Returns the function that runs changes. If a cascade is deeper than SQLite allows, the function itself deletes the
 * rows of the cascade, from the bottom up.
 */
export function changeRunner(database: DatabaseSync): RunChange {
  const circular = new Map<string, boolean>();

  /**
   * Returns true if the references of a cascade form a circle. Only then the cascade can be deeper than the number of
   * tables.
   */
  function mayBeDeep(table: string): boolean {
    let is = circular.get(table);
    if (is === undefined) circular.set(table, (is = leadsToCircle(database, table)));
    return is;
  }

  return (statement, { collection }, { text, values }) => {
    const run = (): boolean => statement.run(...values).changes !== 0;
    const table = collection.existing?.table ?? collection.name;
    if (!text.startsWith(DELETE) || !mayBeDeep(table)) return run();
    database.exec("SAVEPOINT removal");
    try {
      return removed(run, { table, from: text.slice(DELETE.length), parameters: values });
    } catch (error) {
      // A trigger of another program may have rolled back the whole transaction.
      if (database.isTransaction) database.exec("ROLLBACK TO removal");
      throw error;
    } finally {
      if (database.isTransaction) database.exec("RELEASE removal");
    }
  };

  function removed(run: () => boolean, going: Going): boolean {
    try {
      return run();
    } catch (error) {
      if (!isTooDeep(error)) throw error;
      // In a table without rowids, SQLite may not undo all deletions of the failed statement.
      database.exec("ROLLBACK TO removal");
      return new CascadeRemoval(database).remove(going);
    }
  }
}

const DELETE = "DELETE ";

/** Returns true if a cascade is deeper than SQLite allows: 1,000 levels (SQLITE_MAX_TRIGGER_DEPTH). */
function isTooDeep(error: unknown): boolean {
  return (
    findCode(error) === code.error && error instanceof Error && error.message.includes("levels of trigger recursion")
  );
}

/** Returns true if the cascades from a table can lead back to a table that was already visited. */
function leadsToCircle(database: DatabaseSync, table: string): boolean {
  const seen = new Map<string, "open" | "done">();
  const isCircular = (name: string): boolean => {
    const state = seen.get(name);
    if (state !== undefined) return state === "open";
    seen.set(name, "open");
    const found = [...referencesTo(database, name)].some(({ child }) => isCircular(child));
    seen.set(name, "done");
    return found;
  };
  return isCircular(table);
}

/** The rows to remove, as SQL. */
interface Going {
  /** The name of the table. */
  readonly table: string;
  /** `FROM … WHERE …` */
  readonly from: string;
  readonly parameters: readonly Cell[];
}

interface Row {
  readonly of: CascadingTable;
  readonly key: readonly Cell[];
}

/**
 * A row whose child rows are being removed. `below` contains the remaining child rows, each with the reference that led
 * to it.
 */
interface CascadeStep {
  readonly row: Row;
  readonly id: string;
  readonly below: { readonly row: Row; readonly by: CascadingReference }[];
}

/** A cascading reference from a child table. */
interface CascadingReference {
  readonly child: CascadingTable;
  /** Finds the keys of the child rows by the values of `to`. */
  readonly find: PreparedStatement;
  /** Reads the values of `to` of a parent row. Null if these values are the key of the parent row. */
  readonly selectValues: PreparedStatement | null;
  /** Makes a child row refer to no row, or to itself. Null if neither is possible. */
  readonly detach: PreparedStatement | null;
}

/** A table with its key and its cascading references. */
interface CascadingTable {
  readonly name: string;
  readonly key: readonly string[];
  readonly remove: PreparedStatement;
  references: readonly CascadingReference[] | null;
}

/**
 * Removes rows with all rows of their cascade, from the bottom up. When a row is removed, its child rows no longer
 * exist, so SQLite has nothing to cascade.
 */
class CascadeRemoval {
  readonly #database: DatabaseSync;
  readonly #tables = new Map<string, CascadingTable>();
  /** The rows on the current path (`open`) and the removed rows (`gone`). */
  readonly #seen = new Map<string, "open" | "gone">();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Removes the rows. Returns false if there are none. */
  remove({ table, from, parameters }: Going): boolean {
    const of = this.#table(table);
    const keys = prepare(this.#database, `SELECT ${of.key.join(", ")} ${from}`).all(...parameters);
    for (const key of keys) this.#descend({ of, key });
    return keys.length > 0;
  }

  /**
   * Removes a row after all rows below it. The function is not recursive, because a chain may be longer than the call
   * stack.
   */
  #descend(first: Row): void {
    const steps = this.#open(first);
    for (let step = steps.at(-1); step !== undefined; step = steps.at(-1)) {
      const next = step.below.pop();
      if (next === undefined) {
        step.row.of.remove.run(...step.row.key);
        this.#seen.set(step.id, "gone");
        steps.pop();
        continue;
      }
      // The child row is also an ancestor of the current row. Clearing the reference of the child row breaks the
      // circle.
      if (this.#seen.get(formatRowId(next.row)) === "open") next.by.detach?.run(...next.row.key);
      else steps.push(...this.#open(next.row));
    }
  }

  /** Returns the step for a row, with its child rows. Returns no step if the row was already visited. */
  #open(row: Row): CascadeStep[] {
    const id = formatRowId(row);
    if (this.#seen.has(id)) return [];
    this.#seen.set(id, "open");
    const below = this.#referencesFrom(row.of).flatMap((by) => {
      const values = by.selectValues === null ? row.key : (by.selectValues.get(...row.key) ?? []);
      return by.find.all(...values).map((key) => ({ row: { of: by.child, key }, by }));
    });
    return [{ row, id, below }];
  }

  #table(name: string): CascadingTable {
    let found = this.#tables.get(name);
    if (found === undefined) {
      const named = prepare(this.#database, "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk").all(name);
      const key = named.length === 0 ? ["rowid"] : named.map(([column]) => quote(String(column)));
      const remove = prepare(this.#database, `DELETE FROM ${quote(name)} WHERE ${compileMatch(key)}`);
      this.#tables.set(name, (found = { name, key, remove, references: null }));
    }
    return found;
  }

  #referencesFrom(of: CascadingTable): readonly CascadingReference[] {
    return (of.references ??= [...referencesTo(this.#database, of.name)].map((each) =>
      this.#compileReference(of, each),
    ));
  }

  #compileReference(of: CascadingTable, { child: name, from, to, mayBeNull }: Reference): CascadingReference {
    const child = this.#table(name);
    const isKey = to.join() === of.key.join();
    const others = mayBeNull ? from.map(() => "NULL") : name === of.name ? to : null;
    const set = others?.map((value, at) => `${from[at]} = ${value}`).join(", ");
    const where = `WHERE ${compileMatch(child.key)}`;
    return {
      child,
      find: prepare(this.#database, `SELECT ${child.key.join(", ")} FROM ${quote(name)} WHERE ${compileMatch(from)}`),
      selectValues: isKey
        ? null
        : prepare(this.#database, `SELECT ${to.join(", ")} FROM ${quote(of.name)} WHERE ${compileMatch(of.key)}`),
      detach: set === undefined ? null : prepare(this.#database, `UPDATE ${quote(name)} SET ${set} ${where}`),
    };
  }
}

function formatRowId({ of, key }: Row): string {
  return JSON.stringify([of.name, ...key]);
}

function compileMatch(columns: readonly string[]): string {
  return columns.map((column) => `${column} IS ?`).join(" AND ");
}

interface Reference {
  readonly child: string;
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly mayBeNull: boolean;
}

/** Finds the cascading references to a table. A reference without a target column refers to the key. */
function* referencesTo(database: DatabaseSync, table: string): Generator<Reference> {
  const rows = prepare(
    database,
    `SELECT child.name, reference.id, reference."from", coalesce(reference."to", (SELECT name FROM pragma_table_info(?1) WHERE pk = reference.seq + 1)),
       NOT (SELECT "notnull" OR pk > 0 FROM pragma_table_info(child.name) WHERE name = reference."from" COLLATE NOCASE)
     FROM sqlite_schema AS child JOIN pragma_foreign_key_list(child.name) AS reference ON reference."table" = ?1 COLLATE NOCASE
     WHERE child.type = 'table' AND reference.on_delete = 'CASCADE' ORDER BY child.name, reference.id, reference.seq`,
  ).all(table) as [string, number, string, string, number][];
  for (const parts of Map.groupBy(rows, ([child, id]) => `${id} ${child}`).values())
    yield {
      child: parts[0]![0],
      from: parts.map(([, , from]) => quote(from)),
      to: parts.map(([, , , to]) => quote(to)),
      mayBeNull: parts.every(([, , , , mayBeNull]) => mayBeNull === 1),
    };
}
