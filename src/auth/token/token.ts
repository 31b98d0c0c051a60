import { parseOpaqueToken, type OpaqueToken } from "../../crypto/opaque-token.ts";
import { after, type Eventually } from "../../eventually.ts";
import { identityOf, type Account, type Accounts } from "../accounts.ts";
import { accepted, rejected, type Scheme, type Verdict } from "../scheme.ts";
import type { APITokens } from "./api-tokens.ts";
import type { CheckedKey, NamedKeys } from "./named-keys.ts";

export interface TokenOptions {
  readonly tokens: Pick<APITokens, "check">;
  /** Named keys, which look the same; none where it is left out. */
  readonly keys?: Pick<NamedKeys, "check">;
  readonly accounts: Accounts;
}

/** API tokens and named keys: `Authorization: Token lk_…`. */
export function token({ tokens, keys, accounts }: TokenOptions): Scheme {
  function check(presented: OpaqueToken, now: number): Eventually<CheckedKey> {
    return after(tokens.check(presented, now), (checked): Eventually<CheckedKey> => {
      if (checked.kind === "genuine") return { ...checked, scopes: null, keyId: null };
      // Lookup ids are drawn from 80 bits: what is no API token's may be a key's.
      return checked.kind === "unknown" && keys !== undefined ? keys.check(presented, now) : checked;
    });
  }

  return {
    name: "token",
    carriers: [{ in: "authorization", scheme: "token" }],
    challenge: () => 'Token realm="latchkey"',
    authenticate(credential, { now }) {
      const parsed = parseOpaqueToken(credential);
      // A wrong checksum is a slip of the hand and costs neither a look into the store nor a guess.
      if (parsed === null) return malformed;
      return after(check(parsed, now), (checked): Verdict | Promise<Verdict> => {
        if (checked.kind !== "genuine") return refusals[checked.kind];
        return after(accounts.find(checked.userId), (account) => judge(account, checked));
      });
    },
  };
}

type Limits = Pick<Extract<CheckedKey, { kind: "genuine" }>, "scopes" | "expiresAt" | "keyId">;

function judge(account: Account | null, { scopes, expiresAt, keyId }: Limits): Verdict {
  if (account === null) return refusals.revoked;
  if (!account.active) return inactive;
  return accepted(identityOf(account, "token", { scopes, expiresAt, ...(keyId === null ? {} : { keyId }) }));
}

const malformed = rejected("malformed");
const inactive = rejected("inactive");
const refusals = {
  expired: rejected("expired", "The key has expired."),
  revoked: rejected("revoked"),
  unknown: rejected("unknown"),
  forged: rejected("forged"),
};
