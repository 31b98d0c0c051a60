import type { Eventually } from "../../../core/eventually.ts";
import type { Key, Narrowing } from "../../../store/store.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import type { Exchange } from "../../request/exchange.ts";
import { judgeEach } from "./settling.ts";

/**
 * Returns for each value of one column whether the permission of a write may allow a record with this value. The other
 * columns are not known yet, so their conditions count as true. A form offers no value that is refused in any case.
 */
export function judgeHopeful(
  mount: ServedMount,
  exchange: Exchange,
  column: string,
  values: readonly Key[],
): Eventually<readonly boolean[]> {
  const { only } = exchange;
  // An older shape has other names for the columns of its newer one.
  if (only === null || mount.newer !== null) return values.map(() => true);
  const hopeful = relax(only, column);
  if (hopeful === null) return values.map(() => true);
  return judgeEach(
    mount,
    exchange,
    values.map((value) => ({ record: { [column]: value }, decision: { only: hopeful } })),
  );
}

/** Returns the condition with only the parts about one column. Returns null if the rest may be true without them. */
function relax(where: Narrowing, column: string): Narrowing | null {
  if ("all" in where) {
    const known = where.all.flatMap((each) => relax(each, column) ?? []);
    return known.length === 0 ? null : { all: known };
  }
  if ("any" in where) {
    const known = where.any.map((each) => relax(each, column));
    return known.includes(null) ? null : { any: known.filter((each) => each !== null) };
  }
  if ("not" in where) return isAbout(where.not, column) ? where : null;
  return "column" in where && where.column === column ? where : null;
}

/** True if a condition is about one column alone. */
function isAbout(where: Narrowing, column: string): boolean {
  if ("all" in where) return where.all.every((each) => isAbout(each, column));
  if ("any" in where) return where.any.every((each) => isAbout(each, column));
  if ("not" in where) return isAbout(where.not, column);
  return "column" in where && where.column === column;
}
