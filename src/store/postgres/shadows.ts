import { fold } from "../fold.ts";
import type { Collection, Column, Value } from "../store.ts";
import { quote, shadowOf } from "./names.ts";
import { plain } from "./parameters.ts";
import type { Session } from "./session.ts";

/** How many rows are folded at a time. */
const pageSize = 1000;

/** Folds the values of a column that becomes folded, here: the database knows no folding that is the same everywhere. */
export async function fillShadow(session: Session, collection: Collection, column: Column): Promise<void> {
  const [table, name, shadow] = [quote(collection.name), quote(column.name), quote(shadowOf(column))];
  const idType = collection.key === "integer" ? "bigint" : "text";
  for (let last: Value = null; ;) {
    const rows: readonly (readonly Value[])[] = await session.send(
      plain(
        `SELECT "id", ${name} FROM ${table} WHERE ($1::${idType} IS NULL OR "id" > $1) ORDER BY "id" LIMIT ${pageSize}`,
        [last as string | number | null],
      ),
    );
    await session.send(
      plain(
        `UPDATE ${table} SET ${shadow} = folded FROM unnest($1::${idType}[], $2::text[]) AS page (key, folded) WHERE "id" = key AND ${shadow} IS DISTINCT FROM folded`,
        [
          rows.map(([id]) => id as string | number),
          rows.map(([, value]) => (value === null ? null : fold(value as string))),
        ],
      ),
    );
    if (rows.length < pageSize) return;
    last = rows.at(-1)![0]!;
  }
}
