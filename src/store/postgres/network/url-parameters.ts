import { shownName, suggestion } from "../../../core/checking/nearest.ts";

/** The time limits, in milliseconds. */
export interface Timeouts {
  /** The longest wait for a connection: a free one of the pool or a new one. */
  readonly connectMs: number;
  /** The longest time for a statement. After that, the server ends it. */
  readonly statementMs: number;
  /** The longest wait of a statement for its locks. Null if only `statementMs` limits it. */
  readonly lockMs: number | null;
}

/**
 * The default time limits. A request fails in less than 5 seconds if no connection is free, or if its connection is
 * dead.
 */
export const standardTimeouts: Timeouts = { connectMs: 4500, statementMs: 4000, lockMs: null };

/** The upper limit of each timeout: one hour. */
export const LONGEST_MS = 3_600_000;

/** Returns the mistake in a value, or null. Values are not shown, because one of them may be a password. */
type Wrong = (value: string) => string | null;

const anything: Wrong = () => null;

function allowOnly(...values: readonly string[]): Wrong {
  return (value) => (values.includes(value) ? null : `it has to be one of ${values.join(", ")}`);
}

function whole(from: number, to: number, unit: string): Wrong {
  return (value) =>
    /^\d{1,9}$/.test(value) && Number(value) >= from && Number(value) <= to
      ? null
      : `it has to be a whole number of ${unit} from ${from} to ${to}`;
}

/**
 * The parameters after the `?` in the URL: those of libpq (postgresql.org/docs/current/libpq-connect.html) that this
 * driver supports, and the timeouts of the server. `pgbouncer` is our own, as in Prisma.
 */
const parameters: Readonly<Record<string, Wrong>> = {
  host: anything,
  port: anything,
  user: anything,
  password: anything,
  sslmode: allowOnly("disable", "prefer", "require", "verify-ca", "verify-full"),
  ssl: allowOnly("true", "false"),
  sslcert: anything,
  sslkey: anything,
  sslrootcert: anything,
  sslnegotiation: allowOnly("postgres", "direct"),
  // The client cannot enforce `require`, so this driver must not promise it.
  channel_binding: (value) =>
    value === "require"
      ? "this client does not support require; leave it out, and write sslmode=verify-full with sslrootcert, which prevents a man in the middle"
      : allowOnly("disable", "prefer")(value),
  application_name: anything,
  fallback_application_name: anything,
  options: anything,
  target_session_attrs: (value) =>
    ["any", "read-write", "primary"].includes(value)
      ? null
      : "it asks for a read-only server; write target_session_attrs=read-write",
  connect_timeout: whole(1, LONGEST_MS / 1000, "seconds"),
  statement_timeout: whole(100, LONGEST_MS, "milliseconds"),
  lock_timeout: whole(1, LONGEST_MS, "milliseconds"),
  pgbouncer: allowOnly("true", "false"),
  uselibpqcompat: allowOnly("true"),
};

/** Returns true if there is a parameter with this name. */
export function isParameter(name: string): boolean {
  return Object.hasOwn(parameters, name);
}

/** Returns the mistakes in the parameters, each with its fix. */
export function parameterMistakes(urlParameters: URLSearchParams): readonly string[] {
  const knownNames = Object.keys(parameters);
  const mistakes = [...new Set(urlParameters.keys())].flatMap((name) => {
    if (!isParameter(name)) return [`there is no parameter ${shownName(name)}${suggestion(name, knownNames)}`];
    const values = urlParameters.getAll(name);
    if (values.length > 1) return [`${name} is given ${values.length} times; keep one`];
    const wrong = parameters[name]!(values[0]!);
    return wrong === null ? [] : [`${name}: ${wrong}`];
  });
  const isLost = urlParameters.get("pgbouncer") === "true" && urlParameters.has("lock_timeout");
  return isLost ? [...mistakes, `lock_timeout: ${notThroughPgBouncer}`] : mistakes;
}

/** The reason why PgBouncer does not allow a lock timeout. */
export const notThroughPgBouncer = "PgBouncer does not pass it on; set it on the role: ALTER ROLE … SET lock_timeout";

/** Returns the timeouts in the URL, with the defaults for the rest. */
export function readTimeouts(urlParameters: URLSearchParams): Timeouts {
  const { connectMs, statementMs, lockMs } = standardTimeouts;
  const number = (name: string): number | null => (urlParameters.has(name) ? Number(urlParameters.get(name)) : null);
  const seconds = number("connect_timeout");
  return {
    connectMs: seconds === null ? connectMs : seconds * 1000,
    statementMs: number("statement_timeout") ?? statementMs,
    lockMs: number("lock_timeout") ?? lockMs,
  };
}

/**
 * Removes the parameters that `pg` must not see. `pg` prefers a timeout in the URL to its other settings, even for a
 * migration that sets no limit.
 */
export function parametersForPg(urlParameters: URLSearchParams): void {
  for (const name of ["pgbouncer", "target_session_attrs", "channel_binding", ...timeouts]) urlParameters.delete(name);
  if (!urlParameters.has("uselibpqcompat")) urlParameters.set("uselibpqcompat", "true");
}

const timeouts = ["connect_timeout", "statement_timeout", "lock_timeout"];
