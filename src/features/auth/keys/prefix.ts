import { aFunction, anObject, optional, type Check } from "../../../core/checking/members.ts";
import type { ChecksOf } from "../../../core/checking/options.ts";
import { aSecret, type Secret } from "../../../core/crypto/secret.ts";
import type { Observer } from "../../../core/observation.ts";
import type { Store } from "../../../store/store.ts";

/** What is wrong with a prefix of tokens; null where nothing is. */
export const aTokenPrefix: Check = (value) =>
  typeof value === "string" && /^[a-z][a-z0-9]{0,15}$/.test(value)
    ? null
    : "it has to be up to 16 lower-case letters and digits, like key";

/** What both kinds of tokens are made of: where they are kept, what they are derived from, and what they begin with. */
export interface TokensOptions {
  readonly store: Store;
  readonly secret: Secret;
  readonly observe: Observer;
  /** `key` where it is left out. */
  readonly prefix?: string;
}

/** How these are checked. */
export const tokenChecks: ChecksOf<TokensOptions> = {
  store: anObject,
  secret: aSecret,
  observe: aFunction,
  prefix: optional(aTokenPrefix),
};
