import type { Call } from "../../call/call.ts";
import { formatNetwork } from "../../call/trusted-proxies.ts";
import { isObject, sortOf } from "../../checking/members.ts";
import { parseMediaType } from "../../headers/media-type.ts";
import { problem } from "../../problem/problem.ts";
import { acceptFields, type EndpointFacts } from "../endpoint/facts.ts";
import type { Exchange } from "../exchange.ts";
import { formType, readForm } from "../formats/form.ts";
import type { Format, ReadBody } from "../formats/format.ts";
import { requireInTime } from "../limiting/in-time.ts";
import { giveWay, giveWayFor } from "./turns.ts";

/** The media type of the body; JSON where the caller names none. Ends the request where the endpoint does not read it. */
export function requireMediaType({ call, endpoint }: Exchange, listed: readonly string[]): string {
  // Some clients name a type where there is nothing: axios on Node that of forms.
  if (endpoint.bodyOptional === true && call.header("content-length") === "0") return "application/json";
  const consumes =
    endpoint.refusesBrowserForms === true && isFromBrowser(call) ? listed.filter((type) => type !== formType) : listed;
  const encoding = call.list("content-encoding");
  const header = call.list("content-type");
  // What the octets ask for is said by their type alone (RFC 10008 §2).
  if (header === undefined && endpoint.method === "QUERY")
    throw unsupported(endpoint, consumes, "The body has no Content-Type, which QUERY has to have");
  const parsed =
    header === undefined || header === "" ? { type: "application/json", charset: null } : parseMediaType(header);
  const isReadable =
    parsed !== null && consumes.includes(parsed.type) && (parsed.charset === null || parsed.charset === "utf-8");
  const isPlain = encoding === undefined || encoding.toLowerCase() === "identity";
  if (isReadable && isPlain) return parsed.type;
  // Whoever sends what is encoded learns that no coding is read (RFC 9110 §12.5.3).
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
    detail: `${what}; read are ${read}, in UTF-8 and without a Content-Encoding.`,
    headers: [[accepts, read], ...codings],
  });
}

/** Browsers say at one place or the other that they are one, and no page can keep them from it. */
function isFromBrowser(call: Call): boolean {
  return call.header("sec-fetch-site") !== undefined || call.header("origin") !== undefined;
}

/** Programs may leave the type out. A page that leaves it out evades the question that its browser would have asked first (CORS preflight). */
function requireTypeOfBrowsers({ call, endpoint }: Exchange, consumes: readonly string[]): void {
  const type = call.list("content-type");
  if ((type === undefined || type === "") && isFromBrowser(call))
    throw unsupported(endpoint, consumes, "The body has no Content-Type, which browsers have to send");
}

/** What the caller says of the body, as far as it may be repeated in a sentence. */
function describe(type: string | undefined, encoding: string | undefined): string {
  const said = [
    type === undefined || type === "" ? "application/json" : type,
    ...(encoding === undefined ? [] : [`encoded as ${encoding}`]),
  ].join(", ");
  return said.length <= 200 ? said : `${said.slice(0, 200)}…`;
}

/** Reads the body in the format of its type. */
export async function readBody(exchange: Exchange, mediaType: string, requireQuery: () => void): Promise<void> {
  const { endpoint, service } = exchange;
  const bytes = await octetsOf(exchange);
  requireQuery();
  if (bytes.length === 0 && endpoint.bodyOptional === true) return;
  if (bytes.length > 0) requireTypeOfBrowsers(exchange, endpoint.consumes ?? []);
  await giveWayFor(bytes);
  const read =
    mediaType === formType ? readForm(bytes) : await readWith(exchange, formatFor(mediaType, service.formats), bytes);
  exchange.body = { value: read.value, leavesAreText: !read.typed, element: read.element ?? null, mediaType, bytes };
  await giveWay(exchange.body);
}

/** A format of somebody's own may give anything: what is no body is its fault, and not the caller's. */
async function readWith({ call }: Exchange, format: Format, bytes: Uint8Array): Promise<ReadBody> {
  const read: unknown = await call.awaiting(() => `The format ${format.mediaType}`, format.read!(bytes));
  if (isObject(read) && "value" in read && typeof read["typed"] === "boolean") return read as unknown as ReadBody;
  throw new TypeError(`The format ${format.mediaType} read ${sortOf(read)}; it has to give { value, typed }`);
}

/** The octets of the body, read once and within the limits; none where the endpoint reads no body. */
export function octetsOf(exchange: Exchange): Promise<Uint8Array> {
  const { call, endpoint, service } = exchange;
  if (endpoint.consumes === undefined) return NOTHING;
  if (exchange.octets !== null) return exchange.octets;
  requireInTime(exchange.context);
  const hold = (exchange.hold = service.heldBodies.hold(holderOf(exchange)));
  exchange.phase = "arriving";
  const octets = call.arrival.readBody(endpoint.maxBodyBytes ?? exchange.service.maxBodyBytes, hold.take);
  return (exchange.octets = octets.finally(() => (exchange.phase = "going")));
}

const NOTHING = Promise.resolve(new Uint8Array());

/** Who is known answers for their own bodies, wherever they are; of nobody it is the address. */
export function holderOf({ observedIdentity: identity, call }: Exchange): string {
  return identity === null ? formatNetwork(call.client.address) : `user ${identity.id}`;
}

/** `application/merge-patch+json` is read as JSON is: by the suffix (RFC 6839). */
function formatFor(mediaType: string, formats: readonly Format[]): Format {
  const found =
    formats.find((each) => each.mediaType === mediaType) ??
    formats.find((each) => mediaType.endsWith(`+${each.mediaType.slice(each.mediaType.indexOf("/") + 1)}`));
  if (found?.read === undefined) throw problem("unsupported_media_type");
  return found;
}
