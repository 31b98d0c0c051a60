import { accepted, rejected, type Rejection, type Verdict } from "../../../access/scheme/scheme.ts";
import type { Call } from "../../../core/call/call.ts";
import { aBoolean, aFunction, anObject, optional, text, wholeFrom } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { aSecret, type Secret } from "../../../core/crypto/secret.ts";
import type { Proof } from "../../../core/identity.ts";
import type { Observer } from "../../../core/observation.ts";
import type { Change, Store } from "../../../store/store.ts";
import { identityOf, type Account, type Accounts } from "../accounts/stored-accounts.ts";
import { Admission } from "../gate/admission.ts";
import { type AccessTokens } from "./access.ts";
import { tokenFamilies, type TokenFamilies } from "./families.ts";
import { readType } from "./jwt.ts";
import { refreshTokens, refreshType, type RefreshToken, type RefreshTokens } from "./refresh-token.ts";
import { refreshUses } from "./refresh-uses.ts";
import type { Revocations } from "./revocation.ts";

/** An access token alone: what a refresh gives where refresh tokens are not rotated. */
export interface FreshAccess {
  readonly kind: "issued";
  readonly access: string;
  /** How long the access token lives, in seconds (`expires_in`, RFC 6749 §5.1). */
  readonly accessSeconds: number;
}

/** What a login gives, and a refresh where refresh tokens are rotated. */
export interface TokenPair extends FreshAccess {
  readonly refresh: string;
  /** When the refresh token ends, in milliseconds since the epoch. */
  readonly refreshExpiresAt: number;
}

/** Options of `tokenPairs()`: where refresh tokens are kept account of, and how long they live, in seconds. */
export interface TokenPairsOptions {
  readonly store: Store;
  readonly accounts: Accounts;
  readonly access: AccessTokens;
  readonly revocations: Pick<Revocations, "endFamily">;
  readonly secret: Secret;
  readonly issuer: string;
  readonly refreshSeconds: number;
  /** The ceiling of a family, in seconds from the login. */
  readonly familySeconds: number;
  /** How long a used refresh token still gives its one successor, in seconds. */
  readonly graceSeconds: number;
  /** True where it is left out. False: a refresh token stays good until it expires or its family ends, for clients that keep their first one. */
  readonly rotates?: boolean;
  readonly observe: Observer;
  /** Whether the proofs of a family are enough for its account; always if it is left out. */
  readonly isEnough?: (account: Account, proofs: readonly Proof[]) => boolean;
}

/** Logging in with tokens, staying logged in, logging out. `now` in milliseconds. */
export interface TokenPairs {
  /** A new family. Spends the admission. Writes nothing. */
  issue(admission: Admission, now: number): Promise<TokenPair>;
  /** An access token with new proofs, of a family that goes on. Spends the admission. */
  renew(admission: Admission, family: string, now: number): Promise<FreshAccess>;
  /** A fresh access token, and the successor of the refresh token where those are rotated. */
  refresh(token: string, call: Call): Promise<TokenPair | FreshAccess | Rejection>;
  /** Logs out: ends the family and its access tokens, also where the token was used up or has expired. Texts that are not ours do nothing. */
  end(token: string, now: number): Promise<void>;
  /** The living families of a user that have been used. */
  list: TokenFamilies["list"];
  /** Ends one of those; false where the user has none of that name. */
  endOne(userId: number, family: string, now: number): Promise<boolean>;
  /** Whether an access or refresh token would be taken now. Uses nothing up. */
  verify(token: string, call: Call): Promise<Verdict>;
  /** Erases what closed windows leave behind; for the timer, every second or so, and at the start. */
  sweep(now: number): Change[];
  /** Removes what concerns only tokens that have expired; for the timer, now and then. */
  prune(now: number): Change[];
}

const checks: ChecksOf<TokenPairsOptions> = {
  store: anObject,
  accounts: anObject,
  access: anObject,
  revocations: anObject,
  secret: aSecret,
  issuer: text,
  refreshSeconds: wholeFrom(1),
  familySeconds: wholeFrom(1),
  graceSeconds: wholeFrom(0),
  rotates: optional(aBoolean),
  observe: aFunction,
  isEnough: optional(aFunction),
};

/** The token pairs of a server. */
export function tokenPairs(options: TokenPairsOptions): TokenPairs {
  requireOptions(options, checks, { of: "tokenPairs" });
  const { accounts, access, rotates = true, observe, isEnough = () => true } = options;
  const tokens = refreshTokens(options);
  const families = tokenFamilies(options);
  const uses = refreshUses({ ...options, families });

  async function pair(account: Account, token: RefreshToken, now: number): Promise<TokenPair> {
    const [alone, refresh] = await Promise.all([accessAlone(account, token, now), tokens.sign(token)]);
    return { ...alone, refresh, refreshExpiresAt: token.exp * 1000 };
  }

  async function accessAlone(
    account: Account,
    { family, proofs }: Pick<RefreshToken, "family" | "proofs">,
    now: number,
  ): Promise<FreshAccess> {
    return {
      kind: "issued",
      access: await access.issue(account, family, now, proofs),
      accessSeconds: access.lifetimeSeconds,
    };
  }

  const reading = { tokens, accounts, isEnough };

  return {
    async issue(admission, now) {
      const { account, token } = tokens.start(admission, now);
      return pair(account, token, now);
    },
    renew: (admission, family, now) =>
      accessAlone(Admission.spend(admission), { family, proofs: admission.proofs }, now),
    async refresh(text, call) {
      const standing = await read(reading, text, call.now);
      if (standing.kind === "rejected") return standing;
      const { token, account } = standing;
      const use = rotates ? await uses.useUp(token, call) : await uses.look(token, call);
      switch (use.kind) {
        case "unused":
          return accessAlone(account, token, call.now);
        case "used":
          // Used up while tokens were rotated: it has a successor, which its holder may have missed.
          return pair(account, tokens.succeed(token, use.nonce, use.usedAt), call.now);
        case "ended":
          return rejected("revoked");
        case "reused": {
          const { userId, family } = token;
          const endedNow = await uses.endFamily(token, call.now);
          if (endedNow) observe({ kind: "refresh_reuse", requestId: call.requestId, userId, family });
          return rejected("revoked");
        }
      }
    },
    async end(text, now) {
      const token = await tokens.read(text, now);
      // An expired token may have living descendants, and whoever logs out means them.
      if (token.kind === "refresh" && now < token.familyExp * 1000) await uses.endFamily(token, now);
    },
    async verify(text, { now }) {
      if (readType(text) !== refreshType) return access.verify(text, now);
      const standing = await read(reading, text, now);
      if (standing.kind === "rejected") return standing;
      const { token, account } = standing;
      if (!(await uses.isFresh(token))) return rejected("revoked");
      return accepted(identityOf(account, "bearer", { expiresAt: token.exp * 1000 }));
    },
    list: families.list,
    async endOne(userId, family, now) {
      const found = await families.find(userId, family);
      return found !== null && uses.endFamily(found, now);
    },
    sweep: uses.sweep,
    prune: uses.prune,
  };
}

/** What reading a refresh token needs. */
interface Reading {
  readonly tokens: RefreshTokens;
  readonly accounts: Accounts;
  readonly isEnough: (account: Account, proofs: readonly Proof[]) => boolean;
}

/** A refresh token that has not expired, and its account, if that may still log in. */
async function read(
  { tokens, accounts, isEnough }: Reading,
  text: string,
  now: number,
): Promise<{ kind: "standing"; token: RefreshToken; account: Account } | Rejection> {
  const token = await tokens.read(text, now);
  if (token.kind === "rejected") return token;
  if (now >= token.exp * 1000) return rejected("expired", "The token has expired.");
  const account = await accounts.find(token.userId);
  if (account === null || !isOfAccount(token, account)) return rejected("revoked");
  if (!account.active) return rejected("inactive");
  // A rule that came after the login asks for more than it has proved.
  return isEnough(account, token.proofs) ? { kind: "standing", token, account } : rejected("revoked");
}

/** Of the present generation, or the one family that was kept when all others ended. */
function isOfAccount({ generation, family }: RefreshToken, account: Account): boolean {
  return generation === account.generation || family === account.keptFamily;
}
