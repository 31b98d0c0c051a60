import { beginningOf, findOutdated, type Refusing, type Shapes } from "../../sql/schema/shape.ts";
import type { Change, Collection } from "../../store.ts";
import { postgres } from "../dialect.ts";
import { isServerError, state, stateOf } from "../errors.ts";
import type { Session } from "../network/session.ts";
import { schemaVersion } from "../own-tables.ts";

/** What `sameShape` raises. */
const reason = "outdated";

/** SQL that is 0 where tables are what they were when they were found as declared, and raises that they are not, or that a newer program has made them its own. */
export function sameShapeOf(shapes: Shapes): (collection: Collection) => string {
  const made = new Map<string, string>();
  return ({ name, existing }) => {
    if (existing !== undefined) return "0";
    let sql = made.get(name);
    if (sql === undefined) made.set(name, (sql = compileSameShape(name, shapes.get(name) ?? null)));
    return sql;
  };
}

function compileSameShape(name: string, shape: string | null): string {
  const isSame =
    `${shape === null ? "NOT " : ""}starts_with(types::text, ${postgres.literal(beginningOf(shape))}) ` +
    `AND (SELECT max(version) FROM latchkey_version) <= ${schemaVersion}`;
  return (
    `coalesce((SELECT CASE WHEN ${isSame} THEN 0 ELSE latchkey_refuse('${reason}') END ` +
    `FROM latchkey_schema WHERE collection = ${postgres.literal(name)}), 0)`
  );
}

/** Of a transaction that failed the collection whose table was changed for another declaration, where that is why. */
export async function outdatedBy(
  error: unknown,
  changes: readonly Change[],
  shapes: Shapes,
  session: Session,
): Promise<string | null> {
  if (!isServerError(error)) return null;
  // A column or a type that is another is seen before the statement is made, and so before it can look. Rules of the table are seen after it.
  const isRefused = error.code === state.refused && error.message === reason;
  if (!isRefused && !/^(42|22)/.test(error.code)) return null;
  const collections = changes.map(({ collection }) => collection).filter(({ name }) => shapes.has(name));
  const known = new Map(collections.map(({ name }) => [name, shapes.get(name) ?? null]));
  const [first] = await session.play(findOutdated(known));
  return first ?? (isRefused ? (collections[0]?.name ?? null) : null);
}

/** What a read comes of that asks for columns which are not there: that tables were changed for another declaration, or else the error itself. */
export async function explainOutdated(
  error: unknown,
  shapes: Shapes,
  refusing: Refusing,
  use: <T>(work: (session: Session) => Promise<T>) => Promise<T>,
): Promise<unknown> {
  if (stateOf(error)?.startsWith("42") !== true) return error;
  const [first] = await use((session) => session.play(findOutdated(shapes))).catch(() => []);
  return first === undefined ? error : refusing(first);
}
