import { hmac } from "../../crypto/secret.ts";
import { after, type Eventually } from "../../eventually.ts";
import { parseIdempotencyKey } from "../../headers/idempotency-key.ts";
import { problem } from "../../problem/problem.ts";
import type { Idempotency, Row } from "../../store/store.ts";
import type { Exchange } from "../exchange.ts";
import type { MountInPlace } from "./mount.ts";

const KEPT_MS = 24 * 60 * 60 * 1000;

/** The record under which a repeated write is known; null where the caller sent no `Idempotency-Key`. */
export function repeatable({ kept, personal }: MountInPlace, exchange: Exchange): Idempotency | null {
  const { call, body, service } = exchange;
  const header = call.header("idempotency-key");
  if (header === undefined) return null;
  const key = parseIdempotencyKey(header);
  if (key === null || call.headers("idempotency-key").length > 1) {
    throw problem("malformed", { detail: "Idempotency-Key must be one text of 8 to 255 visible ASCII characters." });
  }
  const path = call.path.endsWith("/") ? call.path.slice(0, -1) : call.path;
  const request = Buffer.concat([
    Buffer.from(`${call.method} ${path} ${body?.mediaType ?? ""}\n`),
    body?.bytes ?? Buffer.alloc(0),
  ]);
  return {
    columns: kept,
    erasable: personal,
    key: `${exchange.identity?.id ?? "anonymous"} ${key}`,
    fingerprint: hmac(service.fingerprintKey, request).toString("base64url"),
    expiresAt: new Date(call.now + KEPT_MS).toISOString(),
    now: new Date(call.now).toISOString(),
  };
}

/** The rows that an earlier write under the key has left; null where there was none. Asked before the request is looked at, for what it says need not hold any more. */
export function recall(
  { service }: Exchange,
  idempotency: Idempotency | null,
): Eventually<readonly (Row | null)[] | null> {
  if (idempotency === null) return null;
  return after(service.store.recall(idempotency), (known) => {
    if (known === null) return null;
    if (known.kind === "mismatch") throw problem("idempotency_mismatch");
    return known.rows;
  });
}
