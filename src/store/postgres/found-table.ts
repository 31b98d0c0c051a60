import type { Collection } from "../store.ts";
import { literal, quote } from "./names.ts";
import { plain } from "./parameters.ts";
import type { Session } from "./session.ts";

/** A table as it is. */
export interface Found {
  readonly columns: ReadonlyMap<string, FoundColumn>;
  /** What the columns were declared as, by name: `decimal(2)`. Also those that are declared no more. */
  readonly types: Readonly<Record<string, string>>;
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

/** The table of a collection as it is; null where there is none. */
export async function findTable(session: Session, { name }: Collection): Promise<Found | null> {
  const columns = await session.send(
    plain(
      "SELECT attname::text, format_type(atttypid, atttypmod), NOT attnotnull, atthasdef, " +
        "EXISTS (SELECT FROM pg_index WHERE indrelid = attrelid AND indisprimary AND indkey::text = attnum::text) " +
        "FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
      [quote(name)],
    ),
  );
  if (columns.length === 0) return null;
  const [remembered] = await session.send(plain("SELECT types FROM latchkey_schema WHERE collection = $1", [name]));
  const rows = await session.send(plain(`SELECT 1 FROM ${quote(name)} LIMIT 1`));
  return {
    columns: new Map(
      columns.map(([column, storage, nullable, hasDefault, isKey]) => [
        column as string,
        {
          name: column as string,
          storage: storage as string,
          nullable: nullable as boolean,
          hasDefault: hasDefault as boolean,
          isKey: isKey as boolean,
        },
      ]),
    ),
    types: (remembered?.[0] ?? {}) as Record<string, string>,
    rows: rows.length > 0,
  };
}

/** The indexes of a table, by name. */
export async function findIndexes(session: Session, { name }: Collection): Promise<ReadonlySet<string>> {
  const rows = await session.send(
    plain(
      "SELECT c.relname::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = to_regclass($1)",
      [quote(name)],
    ),
  );
  return new Set(rows.map(([index]) => index as string));
}

/** The references of a table, as PostgreSQL spells them, by the names of their constraints. */
export async function findReferences(session: Session, { name }: Collection): Promise<ReadonlyMap<string, string>> {
  const rows = await session.send(
    plain(
      "SELECT conname::text, confrelid::regclass::text || ' ' || confdeltype::text FROM pg_constraint " +
        `WHERE contype = 'f' AND conrelid = ${literal(quote(name))}::regclass`,
    ),
  );
  return new Map(rows.map(([constraint, target]) => [constraint as string, target as string]));
}

/** The columns that are declared no more. Those with an underscore are ours. */
export function leftOvers(collection: Collection, found: Found): FoundColumn[] {
  const declared = new Set(["id", ...collection.columns.map((column) => column.name)]);
  return [...found.columns.values()].filter(({ name }) => !declared.has(name) && !name.startsWith("_"));
}

/** Those of them without which no row can be made. */
export function requiredLeftOvers(collection: Collection, found: Found): FoundColumn[] {
  return leftOvers(collection, found).filter((column) => !column.nullable && !column.hasDefault);
}
