import { parseIdempotencyKey } from "../core/headers/idempotency-key.ts";
import { problem } from "../core/problem/problem.ts";
import type { Exchange } from "./exchange.ts";

/** The key under which a write may be repeated; null where the caller sent none. Ends the request where it is none that is kept. */
export function repeatKey({ call }: Exchange): string | null {
  const header = call.header("idempotency-key");
  if (header === undefined) return null;
  const key = parseIdempotencyKey(header);
  if (key !== null && call.headers("idempotency-key").length === 1) return key;
  throw problem("malformed", { detail: "Idempotency-Key must be one text of 8 to 255 visible ASCII characters." });
}

/**
 * Ends the request whose key could not be kept, before its body is looked at. Whoever sends a key relies on it: what is not kept, because
 * its answer could not be shown again, must not look as if it were.
 */
export function requireRepeatable(exchange: Exchange): void {
  const {
    endpoint: { method, repeatable },
    call,
  } = exchange;
  if (method !== "POST" && method !== "PATCH") return;
  if (repeatable === true) repeatKey(exchange);
  else if (call.header("idempotency-key") !== undefined)
    throw problem("malformed", { detail: "Idempotency-Key is not taken here. Send the request without it." });
}
