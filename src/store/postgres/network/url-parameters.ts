import { shownName, suggestion } from "../../../core/checking/nearest.ts";

/** How long things may take, in milliseconds. */
export interface Timeouts {
  /** Until there is a connection: one of the pool that is free, or a new one. */
  readonly connectMs: number;
  /** Until a statement is done; the server ends it then. */
  readonly statementMs: number;
  /** Until a statement has the locks that it needs. Null: as long as the statement may take. */
  readonly lockMs: number | null;
}

/**
 * How long they take where nobody says it. Whoever waits for a connection, or on one that is dead without a word, is through in less than
 * 5 seconds.
 */
export const standardTimeouts: Timeouts = { connectMs: 4500, statementMs: 4000, lockMs: null };

/** The longest that any of them may be: an hour. */
export const LONGEST_MS = 3_600_000;

/** What is wrong with a value; null where nothing is. Values are not shown, since one of them may be a password. */
type Wrong = (value: string) => string | null;

const anything: Wrong = () => null;

function oneOf(...values: readonly string[]): Wrong {
  return (value) => (values.includes(value) ? null : `it has to be one of ${values.join(", ")}`);
}

function whole(from: number, to: number, unit: string): Wrong {
  return (value) =>
    /^\d{1,9}$/.test(value) && Number(value) >= from && Number(value) <= to
      ? null
      : `it has to be a whole number of ${unit} from ${from} to ${to}`;
}

/**
 * What may stand behind the `?`, as libpq has it (postgresql.org/docs/current/libpq-connect.html), as far as this driver heeds it, and the
 * server's own timeouts. `pgbouncer` is ours, as in Prisma.
 */
const parameters: Readonly<Record<string, Wrong>> = {
  host: anything,
  port: anything,
  user: anything,
  password: anything,
  sslmode: oneOf("disable", "prefer", "require", "verify-ca", "verify-full"),
  ssl: oneOf("true", "false"),
  sslcert: anything,
  sslkey: anything,
  sslrootcert: anything,
  sslnegotiation: oneOf("postgres", "direct"),
  // Whoever asks for it is promised something, and the client cannot insist on it.
  channel_binding: (value) =>
    value === "require"
      ? "require cannot be kept by this client; leave it out, and write sslmode=verify-full with sslrootcert: nobody can stand in between then"
      : oneOf("disable", "prefer")(value),
  application_name: anything,
  fallback_application_name: anything,
  options: anything,
  target_session_attrs: (value) =>
    ["any", "read-write", "primary"].includes(value)
      ? null
      : "it asks for a server that does not write; write target_session_attrs=read-write",
  connect_timeout: whole(1, LONGEST_MS / 1000, "seconds"),
  statement_timeout: whole(100, LONGEST_MS, "milliseconds"),
  lock_timeout: whole(1, LONGEST_MS, "milliseconds"),
  pgbouncer: oneOf("true", "false"),
  uselibpqcompat: oneOf("true"),
};

/** Whether there is such a parameter. */
export function isParameter(name: string): boolean {
  return Object.hasOwn(parameters, name);
}

/** What is wrong with them, each with its cure. */
export function parameterMistakes(given: URLSearchParams): readonly string[] {
  const known = Object.keys(parameters);
  const mistakes = [...new Set(given.keys())].flatMap((name) => {
    if (!isParameter(name)) return [`there is no parameter ${shownName(name)}${suggestion(name, known)}`];
    const values = given.getAll(name);
    if (values.length > 1) return [`${name} is there ${values.length} times; keep one`];
    const wrong = parameters[name]!(values[0]!);
    return wrong === null ? [] : [`${name}: ${wrong}`];
  });
  const isLost = given.get("pgbouncer") === "true" && given.has("lock_timeout");
  return isLost ? [...mistakes, `lock_timeout: ${notThroughPgBouncer}`] : mistakes;
}

/** Why a lock timeout cannot be had there. */
export const notThroughPgBouncer = "PgBouncer does not pass it on; set it on the role: ALTER ROLE … SET lock_timeout";

/** The timeouts that a URL names, besides the usual ones. */
export function timeoutsOf(given: URLSearchParams): Timeouts {
  const { connectMs, statementMs, lockMs } = standardTimeouts;
  const number = (name: string): number | null => (given.has(name) ? Number(given.get(name)) : null);
  const seconds = number("connect_timeout");
  return {
    connectMs: seconds === null ? connectMs : seconds * 1000,
    statementMs: number("statement_timeout") ?? statementMs,
    lockMs: number("lock_timeout") ?? lockMs,
  };
}

/** Leaves what `pg` is to see: it takes what stands in the URL before all else, also where a migration may take its time. */
export function parametersForPg(given: URLSearchParams): void {
  for (const name of ["pgbouncer", "target_session_attrs", "channel_binding", ...timeouts]) given.delete(name);
  if (!given.has("uselibpqcompat")) given.set("uselibpqcompat", "true");
}

const timeouts = ["connect_timeout", "statement_timeout", "lock_timeout"];
