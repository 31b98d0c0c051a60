import type { Collection, ExistingTable } from "../../store.ts";
import { resolveRawName, type FoundExisting } from "../schema/found.ts";
import type { SchemaDialect } from "../schema/schema.ts";

/**
 * Returns the reasons why rows of an existing table cannot be written as declared. Returns an empty list if they can.
 */
export function writeMistakes(
  schema: SchemaDialect,
  collection: Collection,
  existing: ExistingTable,
  found: FoundExisting,
): string[] {
  const { table, writes, revision } = existing;
  const mistakes: string[] = [];
  if (writes.length > 0 && !found.isTable)
    mistakes.push(
      `${table} is a ${found.isForeign === true ? "foreign table" : "view"}, which is read-only; leave writes out`,
    );
  if (
    typeof revision === "object" &&
    !found.columns.some(({ name, storage }) => name === revision.column && /int/i.test(storage))
  )
    mistakes.push(
      `${table}.${revision.column} is not a column of whole numbers, so it cannot count the changes of a row; leave revision out`,
    );
  for (const name of writes.length === 0 ? [] : (existing.written ?? [])) {
    const raw = resolveRawName(existing, name);
    if (found.columns.some((column) => column.name === raw && column.generated))
      mistakes.push(
        `${table}.${raw} gets its values only from the database; declare ${name} with readOnly: true, filled: true`,
      );
    const storedDigits = countStoredDigits(schema, found, raw);
    const { type, scale = 0 } = collection.columns.find((column) => column.name === name) ?? {};
    if (type === "decimal" && storedDigits < scale)
      mistakes.push(
        `${table}.${raw} rounds to ${storedDigits} digits after the point; declare ${name} with scale: ${storedDigits}`,
      );
  }
  if (!writes.includes("create") || found.isFilledByTrigger) return mistakes;
  const named = new Set(
    ["id", ...collection.columns.map(({ name }) => name)].map((name) => resolveRawName(existing, name)),
  );
  const missing = found.columns.filter(
    ({ name, nullable, filled, generated }) => !named.has(name) && !nullable && !filled && !generated,
  );
  if (missing.length > 0)
    mistakes.push(
      `a new row of ${table} needs a value for ${missing.map(({ name }) => name).join(", ")}; declare a field for each, or take "create" out of writes`,
    );
  return mistakes;
}

/** Returns how many digits after the decimal point a column stores. SQLite stores all digits. */
function countStoredDigits({ engine }: SchemaDialect, { columns }: FoundExisting, raw: string): number {
  const storage = engine === "sqlite" ? undefined : columns.find(({ name }) => name === raw)?.storage;
  const [, scale] = /^numeric\(\d+,(-?\d+)\)$/.exec(storage ?? "") ?? [];
  if (scale !== undefined) return Math.max(Number(scale), 0);
  return /^(?:smallint|integer|bigint)$/.test(storage ?? "") ? 0 : Infinity;
}
