import { parseOpaqueToken } from "../../core/crypto/opaque-token.ts";
import type { Secret } from "../../core/crypto/secret.ts";
import { after, type Eventually } from "../../core/eventually.ts";
import type { Resource, StoredOf } from "../../resource/resource.ts";
import type { Store } from "../../store/store.ts";
import type { Mount } from "../declarations/mount.ts";
import { findIssuer } from "../declarations/once.ts";

/**
 * The record whose value a caller presented, or the reason why there is none. `malformed`: a typing mistake. `revoked`:
 * the service issued the value, and its record was deleted. `forged` and `unknown`: a guess.
 */
export type FoundByToken<R extends Resource = Resource> =
  | { readonly kind: "genuine"; readonly record: StoredOf<R> }
  | { readonly kind: "malformed" | "revoked" | "unknown" | "forged" };

/**
 * Finds the record of a presented value of `shownOnce()`, for a scheme. `host` has the store and the secret of the
 * service. Throws a `TypeError` if the mount shows nothing once, or if the service has no secret.
 */
export function findByToken<R extends Resource>(
  mount: Mount<R>,
  host: { readonly store: Pick<Store, "find">; readonly secret: Secret | null },
  presented: string,
): Eventually<FoundByToken<R>>;
export function findByToken(
  { once, collection, resource }: Mount,
  { store, secret }: { readonly store: Pick<Store, "find">; readonly secret: Secret | null },
  presented: string,
): Eventually<FoundByToken> {
  if (once === null || secret === null)
    throw new TypeError(`findByToken: ${resource.path} needs a field shownOnce(), and the service a secret.`);
  const token = parseOpaqueToken(presented, once.prefix);
  if (token === null) return { kind: "malformed" };
  const issuer = findIssuer(secret, once, collection);
  return after(store.find(collection, token.lookup), (row): FoundByToken => {
    if (row === null) return { kind: issuer.wasIssued(token) ? "revoked" : "unknown" };
    const { [once.owner]: owner, [once.column]: digest } = row.record;
    const isGenuine = issuer.isGenuine(token, owner as number | string, String(digest));
    return isGenuine ? { kind: "genuine", record: row.record as StoredOf<Resource> } : { kind: "forged" };
  });
}
