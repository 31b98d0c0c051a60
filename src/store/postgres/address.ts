import type { Secret } from "../../crypto/secret.ts";

/** A URL of libpq's form, read as far as this driver has to know it. */
export interface Address {
  /** For `pg`; it has the password. */
  readonly connectionString: string;
  /** PgBouncer in transaction mode is in between: nothing may belong to a connection for longer than a transaction. */
  readonly pooled: boolean;
  /** For messages: user, host and database. */
  readonly shown: string;
}

/** Reads the URL. `pgbouncer=true` is ours; the rest is for `pg`, with libpq's meaning of `sslmode`. */
export function readAddress(secret: Secret): Address {
  const url = new URL(secret.reveal().toString());
  const pooled = url.searchParams.get("pgbouncer") === "true";
  url.searchParams.delete("pgbouncer");
  if (!url.searchParams.has("uselibpqcompat")) url.searchParams.set("uselibpqcompat", "true");
  const host = url.searchParams.get("host") ?? url.host;
  return {
    connectionString: url.href,
    pooled,
    shown: `database ${url.pathname.slice(1)} at ${host} as ${url.username || url.searchParams.get("user") || "the default user"}`,
  };
}
