import type { Reply } from "../../core/call/call.ts";
import { isObject } from "../../core/checking/members.ts";
import { valueOfJSON } from "../../core/exact-numbers.ts";

/** Returns the data of a reply. Returns null if it has none. */
export function readBodyValue(body: Reply["body"] | null): unknown {
  if (body?.kind === "json") return valueOfJSON(body.json);
  return body?.kind === "data" ? body.value : null;
}

/** Returns the record in a reply. Returns null for any other reply. */
export function findRecord(reply: Reply | null): Readonly<Record<string, unknown>> | null {
  const value = readBodyValue(reply?.body);
  return isObject(value) ? value : null;
}
