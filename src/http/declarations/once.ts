import { tokenIssuer, type TokenIssuer } from "../../core/crypto/issued-tokens.ts";
import type { Secret } from "../../core/crypto/secret.ts";
import type { OnceFacts } from "../../resource/declaration/field.ts";
import type { Resource } from "../../resource/resource.ts";
import type { Collection } from "../../store/store.ts";

/** The field of a resource that only the response to a creation shows. */
export interface OnceField extends OnceFacts {
  readonly field: string;
}

/** Returns the field of `shownOnce()`. Returns null if the resource has none. */
export function findOnceField({ fields }: Resource): OnceField | null {
  for (const [field, { kind }] of Object.entries(fields)) if (kind.once !== undefined) return { field, ...kind.once };
  return null;
}

const issuers = new WeakMap<Secret, Map<string, TokenIssuer>>();

/** Returns the issuer of the values of a field of `shownOnce()`. */
export function findIssuer(secret: Secret, { purpose, prefix }: OnceField, { name }: Collection): TokenIssuer {
  const named = purpose ?? name;
  let known = issuers.get(secret);
  if (known === undefined) issuers.set(secret, (known = new Map<string, TokenIssuer>()));
  const key = `${prefix}_${named}`;
  let issuer = known.get(key);
  if (issuer === undefined) known.set(key, (issuer = tokenIssuer(secret, `shown-once ${named}`, prefix)));
  return issuer;
}
