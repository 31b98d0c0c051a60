import type { CopiedRow, CopiedTable, Counters } from "../../copy.ts";
import type { Collection, Column, StoredLinks } from "../../store.ts";
import type { Dialect } from "../language/dialect.ts";
import type { Script, Statement } from "../language/script.ts";
import type { Conversion, Convert } from "./conversion.ts";
import type { FoundExisting } from "./found.ts";

/** The current state of a table. */
export interface FoundTable {
  readonly columns: ReadonlyMap<string, FoundColumn>;
  /** The references by column. */
  readonly references: ReadonlyMap<string, FoundReference>;
  /** The declared types of the columns, by name: `decimal(2)`. Includes columns that are no longer declared. */
  readonly types: Readonly<Record<string, string>>;
  /** The declaration of the last migration. Null if it is not stored. */
  readonly declared: Collection | null;
  /** True if the table has rows. */
  readonly rows: boolean;
}

/** The current state of a column. */
export interface FoundColumn {
  readonly name: string;
  readonly storage: string;
  readonly nullable: boolean;
  readonly hasDefault: boolean;
  readonly isKey: boolean;
}

/** The current state of a reference. */
export interface FoundReference {
  /** The target in the form of `formatReference`. */
  readonly target: string;
  readonly constraint: string | null;
}

/** The facts about a database that migrations and copies need: how its tables are found, made and changed. */
export interface SchemaDialect extends Dialect {
  /** Converts values of one type to another. */
  readonly convert: Convert;
  /** Returns the conversion as one expression that fails if a value does not fit. */
  convertOrFail(conversion: Conversion, x: string): string;
  /** The version of the tables that `makeOwnTables` makes. */
  readonly version: number;
  /** SQL that begins a migration. It locks out all other migrations. */
  readonly begin: string;
  /** Makes the store's own tables, including `latchkey_schema`. */
  makeOwnTables(): Script<void>;
  /** Returns the version of the tables, or 0 if there are none. */
  findVersion(): Script<number>;
  /**
   * Finds the columns of a table, in their order: `name`, `storage` in the form of `compileStorage`, `nullable`,
   * `has_default`, `is_key`.
   */
  findColumns(table: string): Statement;
  /**
   * Finds the references of a table: `column`, `target` (the other table), `on_delete` (`CASCADE`), `constraint` (its
   * name, or null).
   */
  findReferences(table: string): Statement;
  /** Finds the indexes of a table: `name`, and `is_whole`, which is FALSE if its creation was interrupted. */
  findIndexes(table: string): Statement;
  /** Finds each `name` of a table with revisions that is not listed in `latchkey_schema`. */
  readonly findUnknownTables: Statement;
  /**
   * Reads an existing table. The collection declares the columns in `instants` as date-times. Returns null if there is
   * no such table.
   */
  findExisting(table: string, instants: ReadonlySet<string>): Script<FoundExisting | null>;
  /** Returns a sentence if the role of the store may not read a declared column. */
  findUnreadable(collection: Collection): Script<readonly string[]>;
  /** Returns a sentence for each declared write that the database would always refuse. */
  findUnwritable(collection: Collection): Script<readonly string[]>;
  /** Removes the remains of earlier migrations of these collections, before their tables are made or changed. */
  dropLeftovers(collections: readonly Collection[]): Script<void>;
  /**
   * Returns SQL that locks a table against all other transactions until this one ends. Null if `begin` already locks
   * all tables.
   */
  readonly lock: ((table: string) => string) | null;
  /** Drops an empty table. Returns the SQL to run after it is made again. */
  drop(collection: Collection, found: FoundTable): Script<readonly string[]>;
  /** Makes the objects of a collection in addition to its table. */
  complete(collection: Collection): Script<void>;
  /** Changes a table with rows: adds new columns, and allows null in columns. */
  alter(collection: Collection, found: FoundTable): Script<void>;
  /**
   * Returns the SQL that changes the reference of a column. `before` is the name of the existing constraint. If
   * `column` is null, the SQL only drops this constraint. Returns no SQL if references are defined with their columns.
   */
  changeReference(collection: Collection, column: Column | null, before: string | null): readonly string[];
  /** Returns SQL that fills a new table of a relation with the ids from the lists in the records. */
  insertLinks(collection: Collection, links: StoredLinks): readonly string[];
  /** Writes the folded values of a column in all rows. */
  fillShadow(collection: Collection, column: Column): Script<void>;
  /**
   * Finds the objects of other programs that a migration of the table would break or lose, as sentences. `going` are
   * the columns that are replaced or dropped. It is null if a start can make all changes.
   */
  findBound(collection: Collection, found: FoundTable, going: ReadonlySet<string> | null): Script<readonly string[]>;
  /** Finds each `name` of a trigger of a table. */
  findTriggers(table: string): Statement;
  /**
   * Returns triggers by name. They delete the words of a changed row and record that its words must be indexed again.
   * Empty if no column is searched.
   */
  watchWords(collection: Collection): ReadonlyMap<string, string>;
  dropTrigger(collection: Collection, name: string): string;
  /**
   * SQL that begins a transaction which changes some rows while clients write. The transaction waits for no lock, or
   * only briefly.
   */
  readonly beginPortion: string;
  /**
   * Returns SQL to append to a SELECT. The SELECT then locks the rows of a table, and skips rows that other
   * transactions are changing.
   */
  skipLocked(table: string): string;
  /** Returns SQL for the elements of a JSON array, as rows with a column `value`. */
  elements(place: string): string;
  readCounters(collections: readonly Collection[]): Script<Counters>;
  /** Sets the counters in a store that was filled. */
  setCounters(collections: readonly Collection[], counters: Counters): Script<void>;
  /** Inserts rows into a table that is being filled. */
  insertRows(table: CopiedTable, rows: readonly CopiedRow[]): readonly Statement[];
}

/** Returns the target of a reference and its action: `people CASCADE`. Empty if the column has no reference. */
export function formatReference({ references }: Column): string {
  return references === undefined ? "" : `${references.collection} ${references.onDelete.toUpperCase()}`;
}
