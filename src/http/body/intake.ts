import type { Call, Weigh } from "../../core/call/call.ts";
import { formatNetwork } from "../../core/call/trusted-proxies.ts";
import { isObject, describeType } from "../../core/checking/members.ts";
import { lineOfThrown } from "../../core/checking/thrown.ts";
import { after, type Eventually } from "../../core/eventually.ts";
import { parseMediaType } from "../../core/headers/media-type.ts";
import { problem } from "../../core/problem/problem.ts";
import { formType, readForm } from "../formats/form.ts";
import type { Exchange } from "../request/exchange.ts";
import { acceptFields, type EndpointFacts } from "../request/facts.ts";
import type { Format, ReadBody } from "../request/format.ts";
import type { Hold } from "../request/held-bodies.ts";
import { requireInTime } from "../request/in-time.ts";
import { yieldBetweenSteps, yieldBeforeFirstStep } from "../scheduling/slices.ts";
import { findReader } from "./readable.ts";

/** Returns the media type of the body. Default: JSON. Ends the request if the endpoint does not read this type. */
export function requireMediaType({ call, endpoint }: Exchange, listed: readonly string[]): string {
  // Some clients send a type without a body: axios on Node sends the type of forms.
  if (endpoint.bodyOptional === true && call.header("content-length") === "0") return "application/json";
  const consumes =
    endpoint.refusesBrowserForms === true && isFromBrowser(call) ? listed.filter((type) => type !== formType) : listed;
  const encoding = call.list("content-encoding");
  const header = call.list("content-type");
  // The meaning of a query depends on its type, so QUERY has no default (RFC 10008 §2).
  if (header === undefined && endpoint.method === "QUERY")
    throw unsupported(endpoint, consumes, "The body has no Content-Type, which QUERY has to have");
  const parsed =
    header === undefined || header === "" ? { type: "application/json", charset: null } : parseMediaType(header);
  const isReadable =
    parsed !== null && consumes.includes(parsed.type) && (parsed.charset === null || parsed.charset === "utf-8");
  const isPlain = encoding === undefined || encoding.toLowerCase() === "identity";
  if (isReadable && isPlain) return parsed.type;
  // A client that sends an encoded body learns that no coding is supported (RFC 9110 §12.5.3).
  const codings = isPlain ? [] : ([["Accept-Encoding", "identity"]] as const);
  throw unsupported(endpoint, consumes, `The body is ${describe(header, encoding)}`, codings);
}

function unsupported(
  { method }: EndpointFacts,
  consumes: readonly string[],
  what: string,
  codings: readonly (readonly [string, string])[] = [],
): Error {
  const accepts = acceptFields.get(method) ?? "Accept";
  const read = consumes.join(", ");
  return problem("unsupported_media_type", {
    detail: `${what}. This address accepts ${consumes.join(" or ")}, in UTF-8 and without a Content-Encoding.`,
    headers: [[accepts, read], ...codings],
  });
}

/**
 * Returns true if a browser sent the request. Browsers send one of these header fields, and a page cannot remove it.
 */
function isFromBrowser(call: Call): boolean {
  return call.header("sec-fetch-site") !== undefined || call.header("origin") !== undefined;
}

/**
 * Ends the request if a browser sends no type. Without a type, a page of another site could send a body without the
 * CORS preflight. Programs may leave out the type.
 */
function requireTypeOfBrowsers({ call, endpoint }: Exchange, consumes: readonly string[]): void {
  const type = call.list("content-type");
  if ((type === undefined || type === "") && isFromBrowser(call))
    throw unsupported(endpoint, consumes, "The body has no Content-Type, which browsers have to send");
}

/** Describes the media type and coding of the body for a message, shortened. */
function describe(type: string | undefined, encoding: string | undefined): string {
  const text = [
    type === undefined || type === "" ? "application/json" : type,
    ...(encoding === undefined ? [] : [`encoded as ${encoding}`]),
  ].join(", ");
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}

/** Reads the body in the format of its media type. Synchronous if the body has arrived and is small. */
export function readBody(exchange: Exchange, mediaType: string, requireQuery: () => void): Eventually<void> {
  const { endpoint } = exchange;
  return after(readOctets(exchange), (bytes) => {
    requireQuery();
    if (bytes.length === 0 && endpoint.bodyOptional === true) return;
    if (bytes.length > 0) requireTypeOfBrowsers(exchange, endpoint.consumes ?? []);
    return after(yieldBeforeFirstStep(bytes), () =>
      after(readAs(mediaType, exchange, bytes), ({ value, typed, element = null }) => {
        const body = { value, leavesAreText: !typed, element, mediaType, bytes };
        exchange.body = body;
        const { reading } = endpoint;
        if (reading === undefined) return yieldBetweenSteps(body);
        return after(yieldBetweenSteps(body), () => void (exchange.body = { ...body, value: reading.read(body) }));
      }),
    );
  });
}

function readAs(mediaType: string, { call, service, endpoint }: Exchange, bytes: Uint8Array): Eventually<ReadBody> {
  if (mediaType === formType) return readForm(bytes);
  // `requireMediaType` has checked that a format reads this type.
  const format = findReader(mediaType, service.formats)!;
  const result = call.awaiting(
    () => `The format ${format.mediaType}`,
    format.read!(bytes, { exactNumbers: endpoint.mounted !== undefined && endpoint.reading === undefined }),
  );
  return after(result, (read) => requireRead(format, read));
}

/** Throws if a custom format returns a value that is not a body. This is a fault of the format, not of the caller. */
function requireRead(format: Format, read: unknown): ReadBody {
  if (isObject(read) && "value" in read && typeof read["typed"] === "boolean") return read as unknown as ReadBody;
  throw new TypeError(`The format ${format.mediaType} read ${describeType(read)}; it has to give { value, typed }`);
}

/**
 * Returns the octets of the body, read once and within the limits. Returns an empty array if the endpoint reads no
 * body.
 */
export function readOctets(exchange: Exchange): Eventually<Uint8Array> {
  const { endpoint } = exchange;
  if (endpoint.consumes === undefined) return NOTHING;
  if (exchange.octets !== null) return exchange.octets;
  requireInTime(exchange.context);
  const octets = readArrival(exchange, resolveHold(exchange).take);
  if (!(octets instanceof Promise)) return (exchange.octets = octets);
  exchange.phase = "arriving";
  return (exchange.octets = octets.finally(() => (exchange.phase = "going")));
}

/** Returns the counter for the memory of this request. The first call creates it. */
export function resolveHold(exchange: Exchange): Hold {
  return (exchange.hold ??= exchange.service.heldBodies.hold(identifyHolder(exchange)));
}

/** Reads the octets. An error becomes a rejected promise, so that each later call gets the same error. */
function readArrival({ call, endpoint, service }: Exchange, weigh: Weigh): Eventually<Uint8Array> {
  try {
    return call.arrival.readBody(endpoint.maxBodyBytes ?? service.maxBodyBytes, weigh);
  } catch (error) {
    return Promise.reject(error instanceof Error ? error : new TypeError(lineOfThrown(error)));
  }
}

const NOTHING = new Uint8Array();

/**
 * Returns the name under which the memory of a body is counted: the user, from any address. For an unknown user, the
 * network of the client's address.
 */
export function identifyHolder({ observedIdentity: identity, call }: Exchange): string {
  return identity === null ? formatNetwork(call.client.address) : `user ${identity.id}`;
}
