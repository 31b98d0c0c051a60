import { aFunction, anObject, optional, type ValueCheck } from "../../../core/checking/members.ts";
import type { ChecksOf } from "../../../core/checking/options.ts";
import { aSecret, type Secret } from "../../../core/crypto/secret.ts";
import type { Observer } from "../../../core/observation.ts";
import type { Store } from "../../../store/store.ts";

/** Returns the mistake in a prefix of tokens. Returns null if there is none. */
export const aTokenPrefix: ValueCheck = (value) =>
  typeof value === "string" && /^[a-z][a-z0-9]{0,15}$/.test(value)
    ? null
    : "it has to be 1 to 16 lower-case letters and digits that begin with a letter, like key";

/** Options of API tokens and of named keys: the store, the secret that they are derived from, and the prefix. */
export interface TokensOptions {
  readonly store: Store;
  readonly secret: Secret;
  readonly observe: Observer;
  /** The prefix of tokens. Default: `key`. */
  readonly prefix?: string;
}

/** Checks of the options of tokens. */
export const tokenChecks: ChecksOf<TokensOptions> = {
  store: anObject,
  secret: aSecret,
  observe: aFunction,
  prefix: optional(aTokenPrefix),
};
