import type { Call } from "../../core/call/call.ts";
import { parseAuthorization } from "../../core/headers/authorization.ts";
import { collectValues } from "../../core/headers/query.ts";
import { problem } from "../../core/problem/problem.ts";
import { isAmbient, type Carrier, type Rejection, type Scheme } from "./scheme.ts";

/** One place where a scheme reads a credential. */
export interface SchemeCarrier {
  readonly scheme: Scheme;
  readonly carrier: Carrier;
  /** True if browsers send the credential automatically. */
  readonly ambient: boolean;
}

/** A credential in the request. */
export interface Presented extends SchemeCarrier {
  readonly credential: string;
  /** The rejection if the credential is malformed. Its scheme is then not asked. Null for any other credential. */
  readonly rejection: Rejection | null;
}

/**
 * All places where a set of schemes reads credentials. They are sorted, so that the order of the schemes never matters.
 */
export interface Places {
  /** The places by lower-case scheme name. */
  readonly authorization: ReadonlyMap<string, SchemeCarrier>;
  readonly headers: readonly SchemeHeader[];
  readonly cookies: readonly SchemeCarrier[];
  /** The places by the name of the parameter. */
  readonly query: ReadonlyMap<string, SchemeCarrier>;
}

interface SchemeHeader extends SchemeCarrier {
  /** The header name in the spelling of the carrier. */
  readonly field: string;
  /** The header name in lower case. */
  readonly name: string;
  readonly fromProxy: boolean;
}

const maxCredentialBytes = 8192;
const none: readonly Presented[] = [];

/** Returns a sentence for each place that is read twice, because a credential there would be ambiguous. */
export function claimedTwice(schemes: readonly Scheme[]): readonly string[] {
  const claims = schemes.flatMap((scheme) => scheme.carriers.map((carrier) => ({ name: scheme.name, carrier })));
  const first = new Map<string, { readonly name: string; readonly place: string }>();
  return claims
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap(({ name, carrier }) => {
      const place = formatCarrier(carrier);
      const claim = carrier.in === "cookie" ? `the cookie ${withoutPrefix(carrier.name)}` : place;
      const other = first.get(claim);
      if (other === undefined) first.set(claim, { name, place });
      else if (other.name !== name)
        return [`the schemes ${other.name} and ${name} both read ${place}; leave one of them out`];
      else if (other.place === place) return [`the scheme ${name} reads ${place} twice; leave one of its carriers out`];
      return [];
    });
}

/**
 * Returns the name of a cookie without its prefix. Two names that differ only in the prefix count as the same cookie,
 * because a scheme may add the prefix over TLS.
 */
export function withoutPrefix(cookie: string): string {
  return cookie.replace(/^__(?:Host|Secure)-/i, "");
}

/** Collects the places of a set of schemes. Throws if two schemes read the same place. */
export function collectPlaces(schemes: readonly Scheme[]): Places {
  const twice = claimedTwice(schemes);
  if (twice.length > 0) throw new TypeError(`These schemes cannot be combined: ${twice.join("; ")}`);
  const places = schemes.flatMap((scheme) =>
    scheme.carriers.map((carrier) => ({ scheme, carrier, ambient: isAmbient(scheme, carrier) })),
  );
  const all = places.toSorted((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1));
  const authorization = new Map<string, SchemeCarrier>();
  for (const place of all)
    if (place.carrier.in === "authorization") authorization.set(place.carrier.scheme.toLowerCase(), place);
  return {
    authorization,
    headers: all.flatMap(headerPlaces),
    cookies: all.filter(({ carrier }) => carrier.in === "cookie"),
    query: new Map(
      all.flatMap((place) => (place.carrier.in === "query" ? [[place.carrier.name, place] as const] : [])),
    ),
  };
}

/** Returns the names of the header fields that the schemes read, in the spelling of the carriers. */
export function headersRead({ authorization, headers, cookies }: Places): string[] {
  const own = headers.map(({ field }) => field);
  return [...(authorization.size > 0 ? ["Authorization"] : []), ...own, ...(cookies.length > 0 ? ["Cookie"] : [])];
}

/**
 * Reads every credential of a request, in the order of the places. Ends the request if one place has two credentials.
 */
export function readPresented(places: Places, call: Call, onDropped: (header: string) => void): readonly Presented[] {
  const found: Presented[] = [];
  readAuthorization(places, call, found);
  for (const place of places.headers) readHeader(place, call, found, onDropped);
  if (places.cookies.length > 0 && call.header("cookie") !== undefined) {
    for (const place of places.cookies) readCookie(place, call, found);
  }
  if (places.query.size > 0 && call.query !== "")
    for (const [name, place] of places.query) readParameter(name, place, call, found);
  return found.length === 0 ? none : found;
}

function readAuthorization(places: Places, call: Call, found: Presented[]): void {
  const value = soleValue(call, "authorization");
  if (value === undefined) return;
  const authorization = parseAuthorization(value);
  if (authorization === "two") throw problem("duplicate_credentials");
  if (authorization === null) return;
  const place = places.authorization.get(authorization.scheme);
  if (place !== undefined) found.push(present(place, authorization.credentials));
}

function readHeader(place: SchemeHeader, call: Call, found: Presented[], onDropped: (header: string) => void): void {
  const value = place.fromProxy ? proxyValue(call, place.name, onDropped) : soleValue(call, place.name);
  if (value !== undefined && value !== "") found.push(present(place, value));
}

function readCookie(place: SchemeCarrier, call: Call, found: Presented[]): void {
  if (place.carrier.in !== "cookie") return;
  const { name, hostPrefix } = place.carrier;
  const value = call.cookie(hostPrefix === true && call.client.encrypted ? `__Host-${name}` : name);
  if (value === null) throw problem("duplicate_credentials");
  // A cookie with control characters or more than 8 KiB belongs to another program, so it is ignored.
  if (value !== undefined && isReadable(place, value)) found.push(present(place, value));
}

function readParameter(name: string, place: SchemeCarrier, call: Call, found: Presented[]): void {
  const [value, ...more] = collectValues(call.query, name);
  if (more.length > 0) throw problem("duplicate_credentials");
  if (value !== undefined && value !== "") found.push(present(place, value));
}

/** Returns the value of a header field that may occur only once. Ends the request (400) if it occurs twice. */
function soleValue(call: Call, name: string): string | undefined {
  const raw = call.arrival.rawHeaders;
  let value: string | undefined;
  for (let at = 0; at < raw.length; at += 2) {
    const field = raw[at]!;
    if (field.length !== name.length || (field !== name && field.toLowerCase() !== name)) continue;
    if (value !== undefined) throw problem("duplicate_credentials");
    value = raw[at + 1]!;
  }
  return value;
}

/**
 * Returns the value of a header field that only a trusted proxy may set. Some software reads `X_Remote_User` as
 * `X-Remote-User`, and proxies let a client send it. So the spelling with underscores is never accepted, and counts as
 * a second credential next to the correctly spelled field.
 */
function proxyValue(call: Call, name: string, onDropped: (header: string) => void): string | undefined {
  const raw = call.arrival.rawHeaders;
  let value: string | undefined;
  let occurrences = 0;
  for (let at = 0; at < raw.length; at += 2) {
    const field = raw[at]!;
    if (field.length !== name.length) continue;
    const lower = field.toLowerCase();
    if (lower.replaceAll("_", "-") !== name.replaceAll("_", "-")) continue;
    occurrences++;
    if (lower === name) value = raw[at + 1]!;
  }
  if (occurrences === 0) return undefined;
  const trusted = call.client.viaTrustedProxy;
  if (trusted && occurrences > 1) throw problem("duplicate_credentials");
  if (trusted && value !== undefined) return value;
  onDropped(name);
  return undefined;
}

function present(place: SchemeCarrier, credential: string): Presented {
  return {
    scheme: place.scheme,
    carrier: place.carrier,
    ambient: place.ambient,
    credential,
    rejection: isReadable(place, credential) ? null : malformed(place.scheme),
  };
}

function isReadable({ carrier }: SchemeCarrier, credential: string): boolean {
  if (credential === "" || credential.length > maxCredentialBytes) return false;
  // The value from a proxy is a user name, which may contain characters beyond ASCII.
  return carrier.in === "proxy" ? !/[\x00-\x1f\x7f]/.test(credential) : /^[\x20-\x7e]+$/.test(credential);
}

/** Returns the rejection of a malformed credential, with the scheme's text for a missing credential if it has one. */
function malformed({ missingDetail }: Scheme): Rejection {
  return { kind: "rejected", reason: "malformed", detail: missingDetail ?? "The credential is malformed." };
}

function headerPlaces(place: SchemeCarrier): SchemeHeader[] {
  const { carrier } = place;
  if (carrier.in !== "header" && carrier.in !== "proxy") return [];
  return [{ ...place, field: carrier.name, name: carrier.name.toLowerCase(), fromProxy: carrier.in === "proxy" }];
}

const rank = { authorization: 0, header: 1, query: 2, proxy: 3, cookie: 4 } as const;

/**
 * Returns the sort key of a place. Header fields are before cookies, because a client sends a header field on purpose,
 * but browsers send cookies automatically.
 */
function sortKey({ scheme, carrier }: SchemeCarrier): string {
  return `${rank[carrier.in]} ${scheme.name} ${formatCarrier(carrier)}`;
}

/** Describes a place in words. Never includes the credential. */
export function formatCarrier(carrier: Carrier): string {
  switch (carrier.in) {
    case "authorization":
      return `Authorization: ${carrier.scheme.toLowerCase()}`;
    case "header":
    case "proxy":
      return `the header ${carrier.name.toLowerCase()}`;
    case "cookie":
      return `the cookie ${carrier.name}`;
    case "query":
      return `the parameter ${carrier.name}`;
  }
}
