import { anyone } from "../../access/permission/permission.ts";
import type { Call } from "../../core/call/call.ts";
import { isFromAnotherSite } from "../../core/call/cross-site.ts";
import { parseMediaType } from "../../core/headers/media-type.ts";
import type { Identity } from "../../core/identity.ts";
import { problem } from "../../core/problem/problem.ts";
import type { ServedEndpoint } from "../declarations/endpoint.ts";
import { requireEndpoint, type Route } from "../declarations/routes.ts";
import { formType, readTexts } from "../formats/form.ts";
import type { ServiceCore } from "../request/core.ts";
import { invalid } from "../request/exchange.ts";
import type { LimitedEndpoint } from "../request/limiting.ts";
import type { SentForm } from "../request/sent-form.ts";

/** The methods that a form can name in `_method`. Without it, the method is POST. */
const METHODS: ReadonlySet<string> = new Set(["PUT", "PATCH", "DELETE"]);

/**
 * Returns true if a request is a form of a page, whose body names its method. Only services with pages read such forms,
 * and only where pages have forms: at resources, and at the calls of an account. Every browser says where a form comes
 * from. A program does not, and gets the answer for a media type that the address does not take.
 */
export function isSentForm({ formats }: ServiceCore, call: Call, { methods }: Route): boolean {
  if (call.method !== "POST" || !formats.some(({ hasForms }) => hasForms === true)) return false;
  const header = call.list("content-type");
  // Most bodies are JSON, and their type need not be parsed.
  if (header === undefined || !/urlencoded/i.test(header) || parseMediaType(header)?.type !== formType) return false;
  if (call.header("origin") === undefined && call.header("sec-fetch-site") === undefined) return false;
  return [...methods.values()].some(hasForm);
}

/** Returns true if pages have forms for an endpoint. */
function hasForm({ method, mounted, takesForms = mounted !== undefined }: ServedEndpoint): boolean {
  return takesForms && method !== "GET" && method !== "QUERY";
}

/**
 * Returns the endpoint that stands for the endpoints of a route until the method of the form is known. It allows every
 * caller, because the permission is asked for the method.
 */
export function arrivingForm(route: Route): ArrivingForm {
  let found = arriving.get(route);
  if (found === undefined) arriving.set(route, (found = createArriving(route)));
  return found;
}

type ArrivingForm = ServedEndpoint & Pick<LimitedEndpoint, "settlesTo">;

const arriving = new WeakMap<Route, ArrivingForm>();

function createArriving({ path, methods }: Route): ArrivingForm {
  return {
    method: "POST",
    path,
    access: anyone,
    query: "read",
    consumes: [formType],
    settlesTo: [...methods.values()].filter(hasForm),
    handle() {
      throw new TypeError("A form is handled by the endpoint of its method.");
    },
  };
}

/**
 * Returns the endpoint that reads the form itself: an unknown caller's request for an account, whose page is not one of
 * a resource. Returns null for every other form.
 */
export function findOwnReader({ methods }: Route, identity: Identity | null): ServedEndpoint | null {
  const post = methods.get("POST");
  return identity === null && post?.mounted !== undefined && post.mounted.deferral !== null ? post : null;
}

/**
 * Ends the request with 403 `cross_site` if a page of another origin sent the form. Every site can make a browser send
 * a form without asking first, so the origins that CORS allows do not count.
 */
export function requireOwnForm(call: Call, { ownOrigins }: ServiceCore): void {
  if (!isFromAnotherSite(call, ownOrigins)) return;
  throw problem("cross_site", {
    detail: "A page of another origin sent this form. Only pages of this service may send forms; others send JSON.",
  });
}

/** Returns the endpoint for the method of a form. Ends the request with 405 if pages have no such form. */
export function requireEndpointOfForm(route: Route, method: string): ServedEndpoint {
  const endpoint = requireEndpoint(route, method);
  if (endpoint !== null && hasForm(endpoint)) return endpoint;
  throw problem("unsupported_media_type", { detail: "This address does not accept forms. Send JSON." });
}

/** A form and the method that it names. */
export interface SettledForm {
  readonly method: string;
  readonly form: SentForm;
}

/** Reads a form. Ends the request if the form names no method that a form can have, or names one twice. */
export function settleForm(bytes: Uint8Array): SettledForm {
  const texts = new Map(readTexts(bytes));
  const take = (name: string): string | null => {
    const [first = null, ...others] = texts.get(name) ?? [];
    if (others.length > 0)
      throw invalid([{ pointer: `/${name}`, code: "repeated", detail: "The field must be given once." }]);
    texts.delete(name);
    return first;
  };
  const method = take("_method") ?? "POST";
  if (method !== "POST" && !METHODS.has(method)) throw unknownMethod();
  return { method, form: { match: take("_match"), key: take("_key"), typed: texts } };
}

function unknownMethod(): Error {
  const detail = `The method is one of ${[...METHODS].join(", ")}. Without it, the form is sent with POST.`;
  return invalid([{ pointer: "/_method", code: "invalid", detail }]);
}

/**
 * Returns the header fields of a form: `_match` is `If-Match`, and `_key` is `Idempotency-Key`. Ends the request if a
 * value cannot be in a header field, or if the request has the header field too.
 */
export function headersOfForm(call: Call, { match, key }: SentForm): readonly string[] {
  const named = [
    ["_match", "If-Match", match],
    ["_key", "Idempotency-Key", key],
  ] as const;
  const added = named.flatMap(([name, header, value]) => {
    if (value === null) return [];
    // Every header field that arrives is free of line breaks, so these are too.
    if (!/^[\x20-\x7e]*$/.test(value))
      throw problem("malformed", { detail: `${name} must be visible ASCII characters.` });
    if (call.header(header.toLowerCase()) === undefined) return [header, value];
    throw problem("malformed", { detail: `The request has both ${header} and ${name}.` });
  });
  return [...call.arrival.rawHeaders, ...added];
}
