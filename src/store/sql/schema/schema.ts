import type { Cells, CopiedTable, Counters } from "../../copy.ts";
import type { Collection, Column, KeptLinks } from "../../store.ts";
import type { Conversion, Convert } from "../changes/conversion.ts";
import type { Dialect } from "../dialect.ts";
import type { FoundExisting } from "../existing/found.ts";
import type { Script, Statement } from "./script.ts";

/** A table as it is. */
export interface Found {
  readonly columns: ReadonlyMap<string, FoundColumn>;
  /** The references by their columns. */
  readonly references: ReadonlyMap<string, FoundReference>;
  /** What the columns were declared as, by name: `decimal(2)`. Also those that are declared no more. */
  readonly types: Readonly<Record<string, string>>;
  /** What was declared when it was made to fit last; null where nobody remembers. */
  readonly declared: Collection | null;
  readonly rows: boolean;
}

/** A column as it is. */
export interface FoundColumn {
  readonly name: string;
  readonly storage: string;
  readonly nullable: boolean;
  readonly hasDefault: boolean;
  readonly isKey: boolean;
}

/** A reference as it is. */
export interface FoundReference {
  /** As `referenceOf` spells it. */
  readonly target: string;
  readonly constraint: string | null;
}

/** What else is true of a database: how its tables are found, made and changed. */
export interface Schema extends Dialect {
  /** How values of one type become those of another. */
  readonly convert: Convert;
  /** The same as one expression, which fails where a value does not fit. */
  convertOrFail(conversion: Conversion, x: string): string;
  /** The version of what `makeOwnTables` makes. */
  readonly version: number;
  /** Begins a migration, which nobody else makes meanwhile. */
  readonly begin: string;
  /** Makes what the store keeps beside the collections, `latchkey_schema` among it. */
  makeOwnTables(): Script<void>;
  /** The version of the tables; 0 where there are none. */
  findVersion(): Script<number>;
  /** The columns of a table, in their order: `name`, `storage` as `storageOf` spells it, `nullable`, `has_default`, `is_key`. */
  findColumns(table: string): Statement;
  /** The references of a table: `column`, `target` (the other table), `on_delete` (`CASCADE`), `constraint` (its name, or null). */
  findReferences(table: string): Statement;
  /** The indexes of a table: `name`, and `is_whole`, which is FALSE for one that was broken off while it was made. */
  findIndexes(table: string): Statement;
  /** Each `name` of a table with revisions that `latchkey_schema` does not name. */
  readonly findUnknownTables: Statement;
  /** A table that was there before, as it is, where these of its columns are declared as date-times; null where there is none. */
  findExisting(table: string, instants: ReadonlySet<string>): Script<FoundExisting | null>;
  /** Why rows of a table that was there before cannot be written, as far as that shows before the first is: sentences without an end. */
  findUnwritable(collection: Collection): Script<readonly string[]>;
  /** Removes what migrations have left behind of collections, before their tables are made or changed. */
  dropRemains(collections: readonly Collection[]): Script<void>;
  /** Keeps everybody else from a table until the end; null where `begin` keeps them from all. */
  readonly lock: ((table: string) => string) | null;
  /** Removes an empty table. Gives what is to be run when it was made anew. */
  drop(collection: Collection, found: Found): Script<readonly string[]>;
  /** What a collection has beside its table. */
  complete(collection: Collection): Script<void>;
  /** Makes a table with rows fit: columns that are new, and what may be null. */
  alter(collection: Collection, found: Found): Script<void>;
  /** Changes the reference of a column; `before` is the name of the constraint that is there. Where references are defined with their columns there is nothing to do. */
  changeReference(collection: Collection, column: Column | null, before: string | null): readonly string[];
  /** Fills a new table with the relations that stand in records. */
  insertLinks(collection: Collection, links: KeptLinks): readonly string[];
  /** Folds all values of a folded column into the one beside it. */
  fillShadow(collection: Collection, column: Column): Script<void>;
  /**
   * What others have made of a table, and a migration would break or lose, as sentences. `going` are the columns that are replaced or dropped;
   * null where there is no more to do than a start does.
   */
  findBound(collection: Collection, found: Found, going: ReadonlySet<string> | null): Script<readonly string[]>;
  /** Each `name` of a trigger of a table. */
  findTriggers(table: string): Statement;
  /** The triggers that take the words of a row out when it is changed, and note that it has others, by their names; none where nothing is searched. */
  watchWords(collection: Collection): ReadonlyMap<string, string>;
  dropTrigger(collection: Collection, name: string): string;
  /** Begins to change some rows beside those who write, and waits for none of them. */
  readonly beginPortion: string;
  /** Written behind a SELECT: locks the rows of a table, without those that others are changing. */
  skipLocked(table: string): string;
  /** The elements of a JSON array as rows with a column `value`. */
  elements(place: string): string;
  readCounters(collections: readonly Collection[]): Script<Counters>;
  /** Sets them in a store that was filled. */
  setCounters(collections: readonly Collection[], counters: Counters): Script<void>;
  /** Puts rows into a table that is filled. */
  insertRows(table: CopiedTable, rows: readonly Cells[]): readonly Statement[];
}

/** What a reference of a column leads to and does: `people CASCADE`; empty where there is none. */
export function referenceOf({ references }: Column): string {
  return references === undefined ? "" : `${references.collection} ${references.onDelete.toUpperCase()}`;
}
