import { DeclarationError } from "../../../core/checking/declaration-error.ts";
import { quote } from "../../sql/language/names.ts";
import { statement } from "../../sql/language/script.ts";
import { StoreFull, StoreSetupError, StoreUnavailable } from "../../store.ts";
import { isServerError, describeReason, state, findSQLState, unavailable } from "../errors.ts";
import type { PostgresAddress } from "./address.ts";
import type { Session } from "./session.ts";

const oldestMajor = 14;

/** The facts that the server reports about itself. */
export interface ServerFacts {
  /** The `server_version_num`, for example 180004. */
  readonly version: number;
  readonly encoding: string;
  /** The `search_path` if none of its schemas can be used. Null otherwise. */
  readonly uselessPath: string | null;
}

/** Throws if this driver cannot work with the server. */
export async function requireServer(session: Session): Promise<void> {
  const [facts] = await session.send(
    statement(
      "SELECT current_setting('server_version_num')::integer AS version, current_setting('server_encoding') AS encoding, " +
        "CASE WHEN current_schema() IS NULL THEN current_setting('search_path') END AS path",
    ),
  );
  const { version, encoding, path } = facts!;
  requireFit({
    version: version as number,
    encoding: encoding as string,
    uselessPath: typeof path === "string" ? path : null,
  });
}

/** Throws `StoreSetupError` with every reason why this driver cannot work with the server. */
export function requireFit({ version, encoding, uselessPath }: ServerFacts): void {
  const problems: string[] = [];
  const major = Math.trunc(version / 10_000);
  if (major < oldestMajor)
    problems.push(
      `The server is PostgreSQL ${major}, but this program needs ${oldestMajor} or newer. Upgrade it with pg_upgrade, or use another server.`,
    );
  if (encoding !== "UTF8")
    problems.push(
      `The database is encoded in ${encoding}, which cannot store every text. Create one in UTF-8: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0;`,
    );
  if (uselessPath !== null) {
    const schema = pickFirstSchema(uselessPath);
    const urlOfPath = "…?options=-c%20search_path%3Dpublic.";
    if (schema === null) problems.push(`The search_path names no schema. Name one: ${urlOfPath}`);
    else
      problems.push(
        `This user may not use any schema of the search_path (${uselessPath}). Create one (CREATE SCHEMA ${schema};), allow it (GRANT USAGE, CREATE ON SCHEMA ${schema} TO …;), or name another one: ${urlOfPath}`,
      );
  }
  if (problems.length > 0) throw new StoreSetupError(problems);
}

/**
 * Returns the first schema in a `search_path`, as SQL. Returns null if the path has only empty names, which no schema
 * has.
 */
function pickFirstSchema(path: string): string | null {
  const names = (path.match(/"(?:[^"]|"")*"|[^\s,"]+/g) ?? []).filter((each) => each !== '""');
  if (names.length === 0 && path.includes('""')) return null;
  const first = names.find((each) => !/^"?\$user"?$/.test(each)) ?? "public";
  return first.startsWith('"') || /^[a-z_][\w$]*$/i.test(first) ? first : quote(first.toLowerCase());
}

/** Adds the fix to the message. The error stays `StoreUnavailable`, because the server may start later. */
function withCure(error: StoreUnavailable): StoreUnavailable {
  return /\b(?:ECONNREFUSED|connect ENOENT)\b/.test(error.message)
    ? new StoreUnavailable(`${error.message}. No server listens there. Start PostgreSQL, or correct the address.`, {
        cause: error,
      })
    : error;
}

/**
 * Returns an error with the reason why the store could not be opened, and the fix. It is a `StoreUnavailable` if the
 * cause can pass by itself.
 */
export function openingError(error: unknown, address: PostgresAddress): unknown {
  const { shown } = address;
  // A mistake in a declaration does not depend on the server.
  if (error instanceof DeclarationError) return error;
  if (error instanceof StoreUnavailable) {
    // With several servers, an error that does not go away by itself is reported first.
    const each = error.cause instanceof AggregateError ? error.cause.errors : [];
    const found = each.map((one) => openingError(one, address)).find((one) => one instanceof StoreSetupError);
    return found ?? withCure(error);
  }
  const reason = describeReason(error);
  const setup = (cure: string): StoreSetupError =>
    new StoreSetupError([`PostgreSQL (${shown}): ${reason}. ${cure}`], { cause: error });
  const found = findSQLState(error);
  if (found === "28P01") return setup("Correct the user and the password in the URL; write special characters as %XX.");
  if (found === "28000") return setup("Allow this user from this address in pg_hba.conf, or name another user.");
  if (found === "3D000")
    return setup("Create the database (CREATE DATABASE … ENCODING 'UTF8';), or name an existing one.");
  if (found === state.privilege)
    return setup(
      "Tables are missing or of another version, and this user may not create them: run `latchkey db migrate` as their owner, or make this user the owner of an empty database. " +
        "The user of the service needs at least SELECT, INSERT, UPDATE and DELETE on all tables, and USAGE, SELECT and UPDATE on all sequences.",
    );
  if (found === state.dependent)
    return setup("Drop the dependent object (for example a view), start again, and create it again.");
  if (found === state.readOnly)
    return setup("The tables do not exist yet, and this server is read-only: use the primary.");
  if (found === state.diskFull)
    return new StoreFull(
      `PostgreSQL (${shown}): ${reason}. Free space on its disk and try again: no write is incomplete, and an interrupted migration resumes.`,
      { cause: error },
    );
  if (isServerError(error)) return /^(08|53|57|58)/.test(error.code) ? unavailable(error) : error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOTFOUND") return setup("The host name cannot be resolved. Correct it in the URL.");
  if (/SSL|TLS|certificate|CERT|no pg_hba/i.test(`${reason} ${code}`))
    return setup(
      "Check sslmode (disable, require, verify-ca, verify-full) and sslrootcert of the URL, and the TLS settings of the server.",
    );
  if (code === "ENOENT" && !reason.startsWith("connect"))
    return setup("Name existing files in sslrootcert, sslcert and sslkey.");
  return withCure(unavailable(error));
}
