import { Call } from "../core/call/call.ts";
import { makeClientReader } from "../core/call/client.ts";
import { proxyList } from "../core/call/trusted-proxies.ts";
import { aBoolean, optional, text, aWholeNumber, isText } from "../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../core/checking/options.ts";

/** A request in the form that a test writes. */
export interface CallSketch {
  readonly method?: string;
  /** The path and the query. */
  readonly path?: string;
  /** The header fields, in the order and spelling in which they arrive. A name may occur twice. */
  readonly headers?: Readonly<Record<string, string>> | readonly (readonly [name: string, value: string])[];
  /** The address of the other end of the connection. Default: `127.0.0.1`. */
  readonly peer?: string;
  readonly encrypted?: boolean;
  /** The arrival time, in milliseconds since the epoch. */
  readonly now?: number;
  readonly trustedProxies?: readonly string[];
  readonly body?: string | Uint8Array;
}

const checks: ChecksOf<CallSketch> = {
  method: optional(text),
  path: optional(text),
  headers: optional((value) =>
    typeof value === "object" && value !== null ? null : "it has to be an object, or a list of pairs",
  ),
  peer: optional(text),
  encrypted: optional(aBoolean),
  now: optional(aWholeNumber),
  trustedProxies: optional(proxyList),
  body: optional((value) => (isText(value) || value instanceof Uint8Array ? null : "it has to be a text or bytes")),
};

/** The names that a service has if it declares none. */
const about = { name: "api", allowedOrigins: "allowedOrigins" };

/**
 * Creates a call without a socket, for tests.
 *
 * @example
 * ```ts
 * import { callOf } from "latchkey/testing";
 *
 * export const call = callOf({ path: "/notes", headers: { authorization: "Bearer abc" } });
 * ```
 */
export function callOf(sketch: CallSketch = {}): Call {
  requireOptions(sketch, checks, { of: "callOf" });
  const { headers = [], now = 0, trustedProxies = [], body = "" } = sketch;
  const pairs = Array.isArray(headers) ? headers : Object.entries(headers);
  return new Call(
    {
      method: sketch.method ?? "GET",
      target: sketch.path ?? "/",
      rawHeaders: pairs.flat(),
      peer: sketch.peer ?? "127.0.0.1",
      encrypted: sketch.encrypted ?? false,
      readBody: async () => (typeof body === "string" ? Buffer.from(body) : body),
    },
    { now: () => now, makeRequestId: () => "request-1", readClient: makeClientReader(trustedProxies), about },
  );
}
