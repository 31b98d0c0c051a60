import { requireArguments } from "../../core/checking/options.ts";
import { aSecret, type Secret } from "../../core/crypto/secret.ts";
import { StoreSetupError } from "../store.ts";
import {
  isParameter,
  parameterMistakes,
  parametersForPg,
  timeoutsOf,
  type Timeouts,
} from "./network/url-parameters.ts";

/** A URL of libpq's form, read as far as this driver has to know it. */
export interface Address {
  /** One URL for each server that may be the one that writes, in the order given. For `pg`; they have the password. */
  readonly servers: readonly string[];
  /** Only a server that writes will do: there are several, or `target_session_attrs` asks for it. */
  readonly writable: boolean;
  /** PgBouncer in transaction mode is in between: nothing may belong to a connection for longer than a transaction. */
  readonly pooled: boolean;
  /** How long things may take. */
  readonly timeouts: Timeouts;
  /** For messages: user, host and database. */
  readonly shown: string;
}

/** Whether the text is a URL of PostgreSQL: `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?…`, with one host or several. */
export function isPostgresURL(text: string): boolean {
  if (!/^postgres(?:ql)?:\/\/[^\s]+$/.test(text)) return false;
  return endsTooEarly(text) || urlsOf(text).every((each) => URL.canParse(each));
}

/**
 * Returns true if a `#`, `/` or `?` of the password, or an `@` behind the host, is not written as `%XX`. The parts of such a URL are others than
 * meant, and what looks like a host may be a piece of the password. No message may show any of them.
 */
function endsTooEarly(text: string): boolean {
  const [, path = "", behind = ""] = /^\w+:\/\/[^/?#]*([^?#]*)(.*)$/s.exec(text) ?? [];
  if (path.includes("@") || behind.includes("#")) return true;
  if (!behind.includes("@")) return false;
  const names = [...new URLSearchParams(behind).keys()];
  return !names.every(isParameter) || !urlsOf(text).every((each) => URL.canParse(each));
}

const tooEarly =
  "a part of it ends too early; write #, / and ? in the password as %23, %2F and %3F, and @ in the name of the database as %40";

/** What is wrong with what has to be such a URL; null where nothing is. */
export function aPostgresURL(value: unknown): string | null {
  const wrong = aSecret(value);
  if (wrong !== null) return wrong;
  return isPostgresURL((value as Secret).reveal().toString())
    ? null
    : "it has to hold postgres://USER:PASSWORD@HOST:PORT/DATABASE";
}

/** What is wrong with the parameters of a URL, each with its cure: one that nobody knows would be passed over. */
export function postgresURLMistakes(url: Secret): readonly string[] {
  requireArguments("postgresURLMistakes", arguments, { url: aPostgresURL });
  if (endsTooEarly(url.reveal().toString())) return [tooEarly];
  const [first] = serversOf(url);
  return parameterMistakes(first!.searchParams);
}

/** Reads the URL, with libpq's meaning of its parameters. Throws `StoreSetupError` with all that are wrong. */
export function readAddress(url: Secret): Address {
  const mistakes = postgresURLMistakes(url);
  if (mistakes.length > 0) throw new StoreSetupError(mistakes.map((each) => `The PostgreSQL URL: ${each}.`));
  const servers = serversOf(url);
  const [first] = servers as [URL];
  const parameters = new URLSearchParams(first.searchParams);
  const wanted = parameters.get("target_session_attrs") ?? "any";
  for (const { searchParams } of servers) parametersForPg(searchParams);
  const hosts = servers.map((each) => each.searchParams.get("host") ?? each.host).join(", ");
  return {
    servers: servers.map(({ href }) => href),
    writable: servers.length > 1 || wanted !== "any",
    pooled: parameters.get("pgbouncer") === "true",
    timeouts: timeoutsOf(parameters),
    shown: `database ${first.pathname.slice(1)} at ${hosts} as ${first.username || first.searchParams.get("user") || "the default user"}`,
  };
}

function serversOf(url: Secret): readonly URL[] {
  return urlsOf(url.reveal().toString()).flatMap((each) => listedServers(new URL(each)));
}

/**
 * The servers beyond this machine to which the URL goes without saying whether the way is encrypted: libpq then talks in plain text, which
 * nobody may have meant. `sslmode=disable` says that it is meant.
 */
export function serversInPlainText(url: Secret): readonly string[] {
  requireArguments("serversInPlainText", arguments, { url: aPostgresURL });
  if (endsTooEarly(url.reveal().toString())) return [];
  return serversOf(url)
    .filter(({ searchParams }) => !searchParams.has("sslmode") && searchParams.get("ssl") !== "true")
    .map(({ hostname, searchParams }) => searchParams.get("host") ?? decodeURIComponent(hostname))
    .filter((host) => !isThisMachine(host));
}

/** Also a folder of sockets, and no host at all: both are local. */
function isThisMachine(host: string): boolean {
  return host === "" || host.startsWith("/") || /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
}

/** The URL once for each host of its authority, where a URL by itself can have but one. */
function urlsOf(text: string): readonly string[] {
  const parts = /^(postgres(?:ql)?:\/\/)((?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(text);
  if (parts === null) return [text];
  const [, scheme = "", user = "", hosts = "", behind = ""] = parts;
  const port = hosts.startsWith(":") ? hosts.slice(1) : "";
  const hasNoHost = hosts === "" ? user !== "" : port !== "" && /[?&]host=/.test(behind);
  if (hasNoHost && URL.canParse(scheme + behind)) return [withoutHost(scheme + behind, user, port)];
  return hosts.split(",").map((host) => scheme + user + host + behind);
}

/** libpq lets the host be left out beside a user or a port. A URL cannot, so both become parameters, which `pg` reads first. */
function withoutHost(text: string, user: string, port: string): string {
  const url = new URL(text);
  const [name = "", ...password] = user.slice(0, -1).split(":");
  for (const [key, value] of Object.entries({ user: name, password: password.join(":"), port }))
    if (value !== "" && !url.searchParams.has(key)) url.searchParams.set(key, decoded(value));
  return url.href;
}

/** A `%` that begins no escape is kept as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** libpq's other way to name several: `?host=one,two&port=5432,5433`. One port is for all. */
function listedServers(url: URL): readonly URL[] {
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
