import { parseOpaqueToken, type OpaqueToken } from "../../crypto/opaque-token.ts";
import { after, type Eventually } from "../../eventually.ts";
import { identityOf, type Account, type Accounts } from "../accounts.ts";
import { accepted, rejected, type Scheme, type Verdict } from "../scheme.ts";
import type { CheckedToken } from "./api-tokens.ts";
import type { CheckedKey } from "./named-keys.ts";

export interface TokenOptions {
  /** API tokens or named keys, which look the same: a scheme for each, where both are taken. */
  readonly tokens: { check(presented: OpaqueToken, now: number): Eventually<CheckedToken | CheckedKey> };
  readonly accounts: Accounts;
}

/** API tokens, or named keys: `Authorization: Token lk_…`. */
export function token({ tokens, accounts }: TokenOptions): Scheme {
  return {
    name: "token",
    // Lookup ids are drawn from 80 bits: what is no API token's may be a key's.
    shared: true,
    carriers: [{ in: "authorization", scheme: "token" }],
    challenge: () => 'Token realm="latchkey"',
    authenticate(credential, { now }) {
      const parsed = parseOpaqueToken(credential);
      // A wrong checksum is a slip of the hand and costs neither a look into the store nor a guess.
      if (parsed === null) return malformed;
      return after(tokens.check(parsed, now), (checked): Verdict | Promise<Verdict> => {
        if (checked.kind !== "genuine") return refusals[checked.kind];
        return after(accounts.find(checked.userId), (account) => judge(account, checked));
      });
    },
  };
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
