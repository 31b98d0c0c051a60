import { setTimeout as sleep } from "node:timers/promises";
import { keyType } from "../../sql/changes/rows-before.ts";
import { foldCell } from "../../sql/codec.ts";
import type { Cell } from "../../sql/dialect.ts";
import { quote, shadowOf } from "../../sql/names.ts";
import { statement } from "../../sql/schema/script.ts";
import type { Collection, Column } from "../../store.ts";
import { postgres } from "../dialect.ts";
import { postgresSchema } from "../migration.ts";
import type { Session } from "../network/session.ts";
import { firstPortion, inPortion, nextPortion } from "./portions.ts";

/** Folds all values of a column into the one beside it, some rows at a time, while anybody writes. */
export async function foldBeside(session: Session, collection: Collection, column: Column): Promise<void> {
  const [table, name, shadow] = [collection.name, column.name, shadowOf(postgres, column)].map(quote);
  const key = keyType(postgresSchema, collection.key);
  const select = (count: number): string =>
    `SELECT "id", ${name!} FROM ${table!} WHERE ($1::${key} IS NULL OR "id" > $1) ORDER BY "id" LIMIT ${count} FOR NO KEY UPDATE`;
  const update =
    `UPDATE ${table!} SET ${shadow!} = page.folded FROM unnest($1::${key}[], $2::text[]) AS page (key, folded) ` +
    `WHERE "id" = page.key AND ${shadow!} IS DISTINCT FROM page.folded`;
  let portion = firstPortion;
  let last: Cell = null;
  for (;;) {
    const start = performance.now();
    const behind = last;
    const { page, isFull } = await inPortion(session, async (part) => {
      const most = Math.ceil(portion * part);
      const rows = await session.send(statement(select(most), [behind]));
      const folded = rows.map(([, value]) => foldCell(value as Cell));
      const done = { page: rows, isFull: rows.length === most };
      return { done, last: [statement(update, [rows.map(([id]) => id as Cell), folded])] };
    });
    // Whoever went after the rows that are made meanwhile would never come to an end.
    if (!isFull) return;
    last = page.at(-1)![0] as Cell;
    const took = performance.now() - start;
    portion = nextPortion(portion, took);
    await sleep(took / 2);
  }
}
