import type { Collection, Key, StoredRecord, Value } from "../../store.ts";
import { findDecoder } from "../language/codec.ts";
import type { Cell, Dialect } from "../language/dialect.ts";
import { quote } from "../language/names.ts";
import { askCells, statement, type CellRow, type Script } from "../language/script.ts";
import type { FoundTable, SchemaDialect } from "../schema/schema.ts";
import { selectedAs } from "../schema/table.ts";
import { columnWas } from "./source.ts";

/** The number of rows that are read at a time. */
export const pageSize = 1000;

/** The columns of a table with the types of its old declaration, and the function that reads its rows. */
export interface RowsBefore {
  /** The columns for `readRow` as SQL. The key comes first. */
  readonly selected: readonly string[];
  readRow(cells: readonly unknown[]): StoredRecord;
}

/** Returns the columns and the reader for the rows of a table before its change. */
export function rowsBefore(schema: SchemaDialect, found: FoundTable): RowsBefore {
  const names = [...found.columns.keys()].filter((name) => name !== "id" && !name.startsWith("_"));
  const columns = names.map((name) => columnWas(schema, found, name));
  const decoders = columns.map((column) => findDecoder(schema, column));
  return {
    selected: [quote("id"), ...columns.map((column) => selectedAs(schema, column, quote(column.name)))],
    readRow(cells) {
      const record: Record<string, Value> = { id: cells[0] as Key };
      for (const [at, name] of names.entries()) {
        const cell = cells[at + 1];
        record[name] = decoders[at] === null ? (cell as Value) : decoders[at]!(cell);
      }
      return record;
    },
  };
}

/** Reads a page of the rows after a key, in the order of the keys. */
export function readPageAfter(
  schema: SchemaDialect,
  { name, key }: Collection,
  selected: readonly string[],
  behind: Cell,
): Script<readonly CellRow[]> {
  const where = behind === null ? "" : ` WHERE "id" > CAST(${schema.place(1)} AS ${keyType(schema, key)})`;
  const text = `SELECT ${selected.join(", ")} FROM ${quote(name)}${where} ORDER BY "id" LIMIT ${pageSize}`;
  return askCells(statement(text, behind === null ? [] : [behind]));
}

/** Returns the SQL type of a key. */
export function keyType(dialect: Dialect, type: Collection["key"]): string {
  return dialect.compileStorage({ name: "id", type });
}
