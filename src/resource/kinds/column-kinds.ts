import { requireArguments } from "../../core/checking/options.ts";
import type { Kind } from "../declaration/field.ts";
import type { IdKind } from "../declaration/types.ts";

/** A column of an existing table whose kind of field is looked for. */
export interface InspectedColumn {
  /** Its type in the database, as declared there: `varchar(120)`. */
  readonly storage: string;
  /** The same in lower case, without lengths: `varchar`. */
  readonly type: string;
  /** The maximum number of characters of a text. */
  readonly maxLength?: number | undefined;
  /** The only words that the table allows. Empty if it allows others. */
  readonly words: readonly string[];
}

/** The values of the options of a field, without functions. */
export type PlainOptions = Readonly<Record<string, string | number | boolean>>;

/** How `latchkey db inspect` declares the columns of existing tables with a kind of field. */
export interface ColumnKind {
  /** The types of its columns in lower case, without lengths. `words` for columns that allow only a few words. */
  readonly columns: RegExp | "words";
  /** The type of the field's column. */
  readonly type: Kind<unknown>["column"]["type"];
  /** The name of its values, for a table of SQLite that has others. Default: texts. */
  readonly values?: string;
  /** The kind of ids if such a column is the key. Default: it cannot be the key. */
  readonly id?: IdKind;
  /**
   * Returns the arguments of the declaring function, or the reason why the column cannot be declared. Default: no
   * arguments.
   */
  arguments?(column: InspectedColumn): readonly [PlainOptions] | readonly [readonly string[]] | string;
}

const columnKinds = new Map<string, ColumnKind>();

/**
 * Makes `latchkey db inspect` declare columns with this kind of field. `factory` is the name of the exported function.
 */
export function declaresColumns(factory: string, kind: ColumnKind): void {
  columnKinds.set(factory, kind);
}

/** Returns how columns of existing tables are declared, by the name of the function that declares the field. */
export function collectColumnKinds(): ReadonlyMap<string, ColumnKind> {
  requireArguments("collectColumnKinds", arguments, {});
  return columnKinds;
}
