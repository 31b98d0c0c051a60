import { DeclarationError } from "../../../core/checking/declaration-error.ts";
import { quote } from "../../sql/names.ts";
import { statement } from "../../sql/schema/script.ts";
import { StoreFull, StoreSetupError, StoreUnavailable } from "../../store.ts";
import type { Address } from "../address.ts";
import { isServerError, reasonOf, state, stateOf, unavailable } from "../errors.ts";
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

/** Checks the rules of `requireServer`. */
export function requireFit({ version, encoding, uselessPath }: ServerFacts): void {
  const problems: string[] = [];
  const major = Math.trunc(version / 10_000);
  if (major < oldestMajor)
    problems.push(
      `The server is PostgreSQL ${major}, and this program needs ${oldestMajor} or newer. Upgrade it with pg_upgrade, or name another server.`,
    );
  if (encoding !== "UTF8")
    problems.push(
      `The database is encoded in ${encoding} and cannot hold every text. Make one in UTF-8: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0;`,
    );
  if (uselessPath !== null) {
    const schema = firstSchemaOf(uselessPath);
    problems.push(
      `There is no schema of the search_path (${uselessPath}) that this user may use. Make it (CREATE SCHEMA ${schema};), allow it (GRANT USAGE, CREATE ON SCHEMA ${schema} TO …;), or name another one: …?options=-c%20search_path%3Dpublic.`,
    );
  }
  if (problems.length > 0) throw new StoreSetupError(problems);
}

/** Returns the first schema in a `search_path`, as SQL. */
function firstSchemaOf(path: string): string {
  const names = path.match(/"(?:[^"]|"")*"|[^\s,"]+/g) ?? [];
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
 * Returns the reason why the store could not be opened, with the fix. It is a `StoreUnavailable` if it can pass by
 * itself.
 */
export function openingError(error: unknown, address: Address): unknown {
  const { shown } = address;
  // A wrong declaration is wrong in every store.
  if (error instanceof DeclarationError) return error;
  if (error instanceof StoreUnavailable) {
    // With several servers: an error that does not pass by waiting comes first.
    const each = error.cause instanceof AggregateError ? error.cause.errors : [];
    const found = each.map((one) => openingError(one, address)).find((one) => one instanceof StoreSetupError);
    return found ?? withCure(error);
  }
  const reason = reasonOf(error);
  const setup = (cure: string): StoreSetupError =>
    new StoreSetupError([`PostgreSQL (${shown}): ${reason}. ${cure}`], { cause: error });
  const found = stateOf(error);
  if (found === "28P01")
    return setup("Put the right user and password into the URL; special characters are written as %XX.");
  if (found === "28000") return setup("Allow this user from this address in pg_hba.conf, or name another user.");
  if (found === "3D000")
    return setup("Make the database (CREATE DATABASE … ENCODING 'UTF8';) or name one that is there.");
  if (found === state.privilege)
    return setup(
      "Tables are missing or of another version, and this user may not make them: run `latchkey db migrate` as the one who owns them, or let it own an empty database. " +
        "A user who only serves needs SELECT, INSERT, UPDATE and DELETE on all tables, and USAGE, SELECT and UPDATE on all sequences.",
    );
  if (found === state.dependent)
    return setup("Drop what depends on the table (a view, for one), start again, and make it anew.");
  if (found === state.readOnly)
    return setup("The tables are not there yet and this server does not write: name the primary.");
  if (found === state.diskFull)
    return new StoreFull(
      `PostgreSQL (${shown}): ${reason}. Make room on its disk and begin again: nothing is half done, and a migration goes on where it was.`,
      { cause: error },
    );
  if (isServerError(error)) return /^(08|53|57|58)/.test(error.code) ? unavailable(error) : error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOTFOUND") return setup("Write the name of the server's host as the system can resolve it.");
  if (/SSL|TLS|certificate|CERT|no pg_hba/i.test(`${reason} ${code}`))
    return setup(
      "Check sslmode (disable, require, verify-ca, verify-full) and sslrootcert of the URL against what the server offers.",
    );
  if (code === "ENOENT" && !reason.startsWith("connect"))
    return setup("Name files that are there in sslrootcert, sslcert and sslkey.");
  return withCure(unavailable(error));
}
