import type { Reply } from "../../core/call/call.ts";
import { isUnsafe } from "../../core/call/cross-site.ts";
import { problem } from "../../core/problem/problem.ts";
import type { Exchange } from "../request/exchange.ts";

/** All preferences that endpoints support, with their possible values (RFC 7240 §4). */
const supported: Readonly<Record<string, readonly string[]>> = {
  handling: ["strict", "lenient"],
  return: ["minimal", "representation"],
  count: ["exact", "estimated"],
};

/** Ends the request if it has an unknown preference and `handling=strict`. */
export function requireKnownPreferences(exchange: Exchange): void {
  const { preferences } = exchange;
  if (preferences === null) return;
  const handling = preferences.get("handling");
  if (handling === "lenient") exchange.follow("handling=lenient");
  if (handling !== "strict") return;
  const unknown = [...preferences].filter(
    ([name, value]) => !Object.hasOwn(supported, name) || !supported[name]!.includes(value),
  );
  if (unknown.length > 0)
    throw problem("unknown_preference", {
      detail: `The service does not know ${list(unknown)}, and handling=strict makes that an error.`,
    });
  exchange.follow("handling=strict");
}

function list(preferences: readonly (readonly [name: string, value: string])[]): string {
  const text = preferences.map(([name, value]) => (value === "" ? name : `${name}=${value}`)).join(", ");
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}

/**
 * Applies `Prefer: return=` to a reply. `minimal` omits the record, because the client can read it at its address. A
 * body without an ETag is always sent, because it may be a token or a key, which is shown only once.
 */
export function inPreferredLength(exchange: Exchange, reply: Reply): Reply {
  const wanted = exchange.preferences?.get("return");
  const isWritten = isUnsafe(exchange.call.method) && reply.status >= 200 && reply.status < 300;
  if (wanted === undefined || !isWritten) return reply;
  if (wanted === "representation" && reply.body !== undefined) exchange.follow("return=representation");
  if (wanted !== "minimal") return reply;
  const { body, ...rest } = reply;
  if (body !== undefined && typeof reply.tag !== "string") return reply;
  exchange.follow("return=minimal");
  return reply.status === 200 ? { ...rest, status: 204 } : rest;
}
