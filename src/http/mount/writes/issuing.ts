import type { Reply } from "../../../core/call/call.ts";
import { problem } from "../../../core/problem/problem.ts";
import type { Key, WrittenValues } from "../../../store/store.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import { findIssuer } from "../../declarations/once.ts";
import { requireStillKnown } from "../../identifying/identifying.ts";
import type { Exchange } from "../../request/exchange.ts";
import { scopesLet } from "../../request/permitting.ts";

/** The values of a new record, and the member that only the response to its creation shows. */
interface Issued {
  readonly values: WrittenValues;
  /** Null if the resource has no such member. */
  readonly shown: Readonly<Record<string, string>> | null;
}

/** Makes the value of a new record that is shown once. Adds its digest to the values to store. */
export function issue(
  { once, collection, resource }: ServedMount,
  exchange: Exchange,
  id: Key | null,
  values: WrittenValues,
): Issued {
  if (once === null) return { values, shown: null };
  const { secret } = exchange.service;
  if (!scopesLet(exchange, "GET"))
    throw problem("permission_denied", { detail: "The scopes of this credential do not allow it to read the answer." });
  const owner = values[once.owner];
  if (secret === null || (typeof owner !== "number" && typeof owner !== "string"))
    throw new TypeError(
      `${resource.path}: ${once.field} needs the service's secret and a value of ${once.owner}; write it in beforeWrite`,
    );
  const { token, digest } = findIssuer(secret, once, collection).issue(String(id), owner);
  return { values: { ...values, [once.column]: digest }, shown: { [once.field]: token } };
}

/**
 * Adds the member that is shown once to the response. It has no ETag and is not stored, so that no preference and no
 * cache drops or keeps it. Ends the request if the caller's credential ended during it.
 */
export async function showIssued(
  exchange: Exchange,
  { tag: _tag, ...reply }: Reply,
  shown: Readonly<Record<string, string>>,
): Promise<Reply> {
  await requireStillKnown(exchange.context);
  const body =
    reply.body?.kind === "data" ? { ...reply.body, value: { ...(reply.body.value as object), ...shown } } : reply.body;
  return { ...reply, cache: "no-store", ...(body === undefined ? {} : { body }) };
}
