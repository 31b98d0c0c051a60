import { accepted, rejected, type Scheme, type Verdict } from "../../../access/scheme/scheme.ts";
import { anObject, optional } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { made } from "../../../core/copy.ts";
import { parseOpaqueToken, type OpaqueToken } from "../../../core/crypto/opaque-token.ts";
import { after, type Eventually } from "../../../core/eventually.ts";
import { identityOf, type Account, type Accounts } from "../records/accounts.ts";
import { aTokenPrefix } from "../records/token-prefix.ts";
import type { CheckedToken } from "./tokens.ts";

/** The result of checking a key. */
export type CheckedKey =
  | {
      readonly kind: "genuine";
      readonly userId: number;
      readonly scopes: readonly string[] | null;
      /** In milliseconds since the epoch. Null if the key does not expire. */
      readonly expiresAt: number | null;
      readonly keyId: string;
    }
  | { readonly kind: "expired" | "revoked" | "unknown" | "forged" };

/** The parts of `token()`: the store of tokens or keys, and the accounts. */
export interface TokenOptions {
  /** API tokens or named keys, which look the same. Use one scheme for each if both are accepted. */
  readonly tokens: { check(presented: OpaqueToken, now: number): Eventually<CheckedToken | CheckedKey> };
  readonly accounts: Accounts;
  /** The prefix of tokens. Default: `key`. */
  readonly prefix?: string;
}

const checks: ChecksOf<TokenOptions> = { tokens: anObject, accounts: anObject, prefix: optional(aTokenPrefix) };

/** API tokens, or named keys: `Authorization: Token key_…`. */
export function token(options: TokenOptions): Scheme {
  requireOptions(options, checks, { of: "token" });
  const { tokens, accounts, prefix } = options;
  return made({
    name: "token",
    // A lookup id that belongs to no API token may belong to a key.
    shared: true,
    carriers: [{ in: "authorization", scheme: "token" }],
    proves: "program",
    challenge: (call) => `Token realm="${call.realm}"`,
    authenticate(credential, { now }) {
      const parsed = parseOpaqueToken(credential, prefix);
      // A wrong checksum is a typing mistake. It needs no lookup and does not count as a guess.
      if (parsed === null) return malformed;
      return after(tokens.check(parsed, now), (checked): Verdict | Promise<Verdict> => {
        if (checked.kind !== "genuine") return refusals[checked.kind];
        return after(accounts.find(checked.userId), (account) => judge(account, checked));
      });
    },
  });
}

type Genuine = Extract<CheckedToken | CheckedKey, { kind: "genuine" }>;

function judge(account: Account | null, checked: Genuine): Verdict {
  if (account === null) return refusals.revoked;
  if (!account.active) return inactive;
  const { expiresAt } = checked;
  const limits = "keyId" in checked ? { scopes: checked.scopes, keyId: checked.keyId } : {};
  return accepted(identityOf(account, "token", { expiresAt, ...limits }));
}

const malformed = rejected("malformed");
const inactive = rejected("inactive");
const refusals = {
  expired: rejected("expired", "The key has expired."),
  revoked: rejected("revoked"),
  unknown: rejected("unknown"),
  forged: rejected("forged"),
};
