import { parseIdempotencyKey } from "../../core/headers/idempotency-key.ts";
import { problem } from "../../core/problem/problem.ts";
import type { Exchange } from "./exchange.ts";

/**
 * Returns the key of a repeatable write. Returns null if the request has no key. Ends the request if the key is
 * invalid.
 */
export function repeatKey({ call }: Exchange): string | null {
  const header = call.header("idempotency-key");
  if (header === undefined) return null;
  const key = parseIdempotencyKey(header);
  if (key !== null && call.headers("idempotency-key").length === 1) return key;
  throw problem("malformed", { detail: "Idempotency-Key must be one text of 8 to 255 visible ASCII characters." });
}

/**
 * Ends the request if its idempotency key is invalid, or if the endpoint cannot store the outcome. The client relies on
 * its key, so the key must not be ignored.
 */
export function requireRepeatable(exchange: Exchange): void {
  const {
    endpoint: { method, repeatable },
    call,
  } = exchange;
  if (method !== "POST" && method !== "PATCH") return;
  if (repeatable === true) repeatKey(exchange);
  else if (call.header("idempotency-key") !== undefined)
    throw problem("malformed", {
      detail: "This address does not accept Idempotency-Key. Send the request without it.",
    });
}
