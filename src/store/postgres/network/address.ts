import { requireArguments } from "../../../core/checking/options.ts";
import { aSecret, type Secret } from "../../../core/crypto/secret.ts";
import { StoreSetupError } from "../../store.ts";
import { isParameter, parameterMistakes, parametersForPg, readTimeouts, type Timeouts } from "./url-parameters.ts";

/** The parts of a URL in libpq's form that this driver needs. */
export interface PostgresAddress {
  /**
   * One URL for each server that may be the primary, in the given order. `pg` connects with these URLs, which include
   * the password.
   */
  readonly servers: readonly string[];
  /**
   * True if the connection must lead to a server that accepts writes: if the URL names several servers, or
   * `target_session_attrs` asks for it.
   */
  readonly writable: boolean;
  /**
   * True if connections go through PgBouncer in transaction mode. The state of a connection then ends with each
   * transaction.
   */
  readonly pooled: boolean;
  /** The maximum waits of this driver, from the parameters of the URL. */
  readonly timeouts: Timeouts;
  /** The user, the host and the database, for messages. */
  readonly shown: string;
}

/**
 * True if the text is a URL of PostgreSQL: `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?…`, with one host or
 * several.
 */
export function isPostgresURL(text: string): boolean {
  if (!/^postgres(?:ql)?:\/\/[^\s]+$/.test(text)) return false;
  return hasUnescapedDelimiter(text) || splitHosts(text).every((each) => URL.canParse(each));
}

/**
 * Returns true if the password contains `#`, `/` or `?`, or if an `@` follows the host, and the character is not
 * written as `%XX`. Such a URL is split at the wrong place, so a part of the password could be read as the host. So no
 * message may show any part of it.
 */
function hasUnescapedDelimiter(text: string): boolean {
  const [, path = "", behind = ""] = /^\w+:\/\/[^/?#]*([^?#]*)(.*)$/s.exec(text) ?? [];
  if (path.includes("@") || behind.includes("#")) return true;
  if (!behind.includes("@")) return false;
  const names = [...new URLSearchParams(behind).keys()];
  return !names.every(isParameter) || !splitHosts(text).every((each) => URL.canParse(each));
}

const unescapedDelimiter =
  "a part of it ends too early; write #, / and ? in the password as %23, %2F and %3F, and @ in the name of the database as %40";

/** Returns the mistake in a value that must be a URL of PostgreSQL, or null if there is none. */
export function aPostgresURL(value: unknown): string | null {
  const wrong = aSecret(value);
  if (wrong !== null) return wrong;
  return isPostgresURL((value as Secret).reveal().toString())
    ? null
    : "it has to hold postgres://USER:PASSWORD@HOST:PORT/DATABASE";
}

/**
 * Returns the mistakes in the parameters of a URL, and how to fix each. Reports unknown parameters, because `pg` would
 * ignore them.
 */
export function postgresURLMistakes(url: Secret): readonly string[] {
  requireArguments("postgresURLMistakes", arguments, { url: aPostgresURL });
  if (hasUnescapedDelimiter(url.reveal().toString())) return [unescapedDelimiter];
  const [first] = collectServers(url);
  return parameterMistakes(first!.searchParams);
}

/** Reads the URL with libpq's meaning of its parameters. Throws `StoreSetupError` with all mistakes. */
export function readAddress(url: Secret): PostgresAddress {
  const mistakes = postgresURLMistakes(url);
  if (mistakes.length > 0) throw new StoreSetupError(mistakes.map((each) => `The PostgreSQL URL: ${each}.`));
  const servers = collectServers(url);
  const [first] = servers as [URL];
  const parameters = new URLSearchParams(first.searchParams);
  const wanted = parameters.get("target_session_attrs") ?? "any";
  for (const { searchParams } of servers) parametersForPg(searchParams);
  const hosts = servers.map((each) => each.searchParams.get("host") ?? each.host).join(", ");
  return {
    servers: servers.map(({ href }) => href),
    writable: servers.length > 1 || wanted !== "any",
    pooled: parameters.get("pgbouncer") === "true",
    timeouts: readTimeouts(parameters),
    shown: `database ${first.pathname.slice(1)} at ${hosts} as ${first.username || first.searchParams.get("user") || "the default user"}`,
  };
}

function collectServers(url: Secret): readonly URL[] {
  return splitHosts(url.reveal().toString()).flatMap((each) => splitListedHosts(new URL(each)));
}

/**
 * Returns the remote servers for which the URL does not say whether to encrypt the connection. libpq would use plain
 * text for them, which the operator may not want. `sslmode=disable` makes it explicit.
 */
export function serversInPlainText(url: Secret): readonly string[] {
  requireArguments("serversInPlainText", arguments, { url: aPostgresURL });
  if (hasUnescapedDelimiter(url.reveal().toString())) return [];
  return collectServers(url)
    .filter(({ searchParams }) => !searchParams.has("sslmode") && searchParams.get("ssl") !== "true")
    .map(({ hostname, searchParams }) => searchParams.get("host") ?? decodeURIComponent(hostname))
    .filter((host) => !isThisMachine(host));
}

/** Returns true for a host on this machine. A socket directory or an empty host is also local. */
function isThisMachine(host: string): boolean {
  return host === "" || host.startsWith("/") || /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
}

/** Returns one URL for each host, because a standard URL can have only one. */
function splitHosts(text: string): readonly string[] {
  const parts = /^(postgres(?:ql)?:\/\/)((?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(text);
  if (parts === null) return [text];
  const [, scheme = "", user = "", hosts = "", behind = ""] = parts;
  const port = hosts.startsWith(":") ? hosts.slice(1) : "";
  const hasNoHost = hosts === "" ? user !== "" : port !== "" && /[?&]host=/.test(behind);
  if (hasNoHost && URL.canParse(scheme + behind)) return [withoutHost(scheme + behind, user, port)];
  return hosts.split(",").map((host) => scheme + user + host + behind);
}

/**
 * Moves the user and the port of a URL without a host into its parameters. libpq allows them without a host, but a
 * standard URL does not. `pg` reads parameters first.
 */
function withoutHost(text: string, user: string, port: string): string {
  const url = new URL(text);
  const [name = "", ...password] = user.slice(0, -1).split(":");
  for (const [key, value] of Object.entries({ user: name, password: password.join(":"), port }))
    if (value !== "" && !url.searchParams.has(key)) url.searchParams.set(key, decoded(value));
  return url.href;
}

/** Decodes the text. Keeps a `%` that does not start an escape. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Reads the other form in which libpq names several servers: `?host=one,two&port=5432,5433`. A single port is for all
 * servers.
 */
function splitListedHosts(url: URL): readonly URL[] {
  const hosts = url.searchParams.get("host")?.split(",") ?? [];
  if (hosts.length < 2) return [url];
  const ports = url.searchParams.get("port")?.split(",") ?? [];
  return hosts.map((host, at) => {
    const server = new URL(url);
    server.searchParams.set("host", host);
    const port = ports[at] ?? ports[0];
    if (port !== undefined) server.searchParams.set("port", port);
    return server;
  });
}
