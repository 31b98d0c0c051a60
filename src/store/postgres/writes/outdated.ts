import { formatShapeStart, findOutdated, type Refusing, type Shapes } from "../../sql/schema/table-shape.ts";
import type { Change, Collection } from "../../store.ts";
import { postgres } from "../dialect.ts";
import { isServerError, state, findSQLState } from "../errors.ts";
import type { Session } from "../network/session.ts";
import { schemaVersion } from "../own-tables.ts";

/** The reason that the check of the shape raises. */
const reason = "outdated";

/**
 * Returns a function that returns SQL for a collection. The SQL is 0 if the table has the shape that this process
 * found. It raises an error if the shape differs, or if a newer program has upgraded the tables.
 */
export function createShapeCheck(shapes: Shapes): (collection: Collection) => string {
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
    `${shape === null ? "NOT " : ""}starts_with(types::text, ${postgres.literal(formatShapeStart(shape))}) ` +
    `AND (SELECT max(version) FROM latchkey_version) <= ${schemaVersion}`;
  return (
    `coalesce((SELECT CASE WHEN ${isSame} THEN 0 ELSE latchkey_refuse('${reason}') END ` +
    `FROM latchkey_schema WHERE collection = ${postgres.literal(name)}), 0)`
  );
}

/** Returns the collection whose table was changed for another declaration, if a transaction failed because of this. */
export async function outdatedBy(
  error: unknown,
  changes: readonly Pick<Change, "collection">[],
  shapes: Shapes,
  session: Session,
): Promise<string | null> {
  if (!isServerError(error)) return null;
  // The server reports a changed column or type before it runs the statement and its check. It reports changed rules of
  // the table afterwards.
  const isRefused = error.code === state.refused && error.message === reason;
  if (!isRefused && !/^(42|22)/.test(error.code)) return null;
  const collections = changes.map(({ collection }) => collection).filter(({ name }) => shapes.has(name));
  const knownShapes = new Map(collections.map(({ name }) => [name, shapes.get(name) ?? null]));
  const [first] = await session.play(findOutdated(knownShapes));
  return first ?? (isRefused ? (collections[0]?.name ?? null) : null);
}

/**
 * Explains why a read asks for columns that do not exist: the tables were changed for another declaration. Returns an
 * error with another cause unchanged.
 */
export async function explainOutdated(
  error: unknown,
  shapes: Shapes,
  refusing: Refusing,
  use: <T>(work: (session: Session) => Promise<T>) => Promise<T>,
): Promise<unknown> {
  if (findSQLState(error)?.startsWith("42") !== true) return error;
  const [first] = await use((session) => session.play(findOutdated(shapes))).catch(() => []);
  return first === undefined ? error : refusing(first);
}
