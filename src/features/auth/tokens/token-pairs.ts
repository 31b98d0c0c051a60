import { accepted, rejected, type Rejection, type Verdict } from "../../../access/scheme/scheme.ts";
import type { Call } from "../../../core/call/call.ts";
import { aBoolean, aFunction, anObject, optional, text, wholeFrom } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { aSecret, type Secret } from "../../../core/crypto/secret.ts";
import type { Proof } from "../../../core/identity.ts";
import { provedBy } from "../../../core/levels.ts";
import type { Observer } from "../../../core/observation.ts";
import type { Change, Store } from "../../../store/store.ts";
import { Admission } from "../gate/admission.ts";
import { identityOf, type Account, type Accounts } from "../records/accounts.ts";
import type { Revocations } from "../records/revocation.ts";
import { type AccessTokens } from "./access.ts";
import { tokenFamilies, type TokenFamilies } from "./families.ts";
import { readType } from "./jwt.ts";
import { refreshTokens, refreshType, type RefreshToken, type RefreshTokens } from "./refresh-token.ts";
import { refreshUses, type RefreshUses } from "./refresh-uses.ts";

/** An access token alone: the result of a refresh if refresh tokens are not rotated. */
export interface FreshAccess {
  readonly kind: "issued";
  readonly access: string;
  /** Lifetime of the access token, in seconds (`expires_in`, RFC 6749 §5.1). */
  readonly accessSeconds: number;
}

/** The result of a login, and of a refresh if refresh tokens are rotated. */
export interface TokenPair extends FreshAccess {
  readonly refresh: string;
  /** The expiry of the refresh token, in milliseconds since the epoch. */
  readonly refreshExpiresAt: number;
}

/** Options of `tokenPairs()`: the storage of refresh tokens and their lifetimes, in seconds. */
export interface TokenPairsOptions {
  readonly store: Store;
  readonly accounts: Accounts;
  readonly access: AccessTokens;
  readonly revocations: Pick<Revocations, "endFamily">;
  readonly secret: Secret;
  readonly issuer: string;
  readonly refreshSeconds: number;
  /** The maximum lifetime of a family, in seconds from the login. */
  readonly familySeconds: number;
  /** How long a used refresh token still returns its one successor, in seconds. */
  readonly graceSeconds: number;
  /**
   * False: a refresh token stays valid until it expires or its family ends, for clients that always send their first
   * one. Default: true.
   */
  readonly rotates?: boolean;
  readonly observe: Observer;
  /** Returns true if the proofs of a family are enough for its account. Default: always true. */
  readonly isEnough?: (account: Account, proofs: readonly Proof[]) => boolean;
}

/** Login, refresh and logout with tokens. `now` is in milliseconds. */
export interface TokenPairs {
  /** Creates a new family. Spends the admission. Writes nothing. */
  issue(admission: Admission, now: number): Promise<TokenPair>;
  /**
   * Creates an access token with new proofs for an existing family. Spends the admission. Returns null if the family
   * was revoked.
   */
  renew(admission: Admission, family: string, now: number): Promise<FreshAccess | null>;
  /** True if the family was not revoked. */
  isLive(family: string): Promise<boolean>;
  /** Returns a new access token, and the successor of the refresh token if refresh tokens are rotated. */
  refresh(token: string, call: Call): Promise<TokenPair | FreshAccess | Rejection>;
  /**
   * Logs out: ends the family and its access tokens, even if the token was used or has expired. Ignores texts that are
   * not refresh tokens of this service.
   */
  end(token: string, now: number): Promise<void>;
  /** Returns the active families of a user that were refreshed at least once. */
  list: TokenFamilies["list"];
  /** Ends one family of a user. Returns false if the user has no such family. */
  endOne(userId: number, family: string, now: number): Promise<boolean>;
  /** Returns whether an access or refresh token is valid now. Does not use it up. */
  verify(token: string, call: Call): Promise<Verdict>;
  /**
   * Returns the changes that erase the nonces of closed grace windows. Call it at the start, and then about every
   * second.
   */
  sweep(now: number): Change[];
  /** Returns the changes that delete the data of expired tokens. Call it at intervals. */
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

/** Creates the token pairs of a server. */
export function tokenPairs(options: TokenPairsOptions): TokenPairs {
  requireOptions(options, checks, { of: "tokenPairs" });
  const { accounts, access, rotates = true, observe, isEnough = () => true } = options;
  const tokens = refreshTokens(options);
  const families = tokenFamilies(options);
  const uses = refreshUses({ ...options, families });

  async function issuePair(account: Account, token: RefreshToken, now: number): Promise<TokenPair> {
    const [alone, refresh] = await Promise.all([issueAccess(account, token, now), tokens.sign(token)]);
    return { ...alone, refresh, refreshExpiresAt: token.exp * 1000 };
  }

  async function issueAccess(
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

  const reading = { tokens, accounts, uses, isEnough };

  return {
    async issue(admission, now) {
      const { account, token } = tokens.start(admission, now);
      return issuePair(account, token, now);
    },
    async renew(admission, family, now) {
      const account = Admission.spend(admission);
      return (await uses.isLive(family)) ? issueAccess(account, { family, proofs: admission.proofs }, now) : null;
    },
    isLive: (family) => uses.isLive(family),
    async refresh(text, call) {
      const standing = await readLiveToken(reading, text, call.now);
      if (standing.kind === "rejected") return standing;
      const { token, account } = standing;
      const use = rotates ? await uses.useUp(token, call) : await uses.look(token, call);
      switch (use.kind) {
        case "unused":
          return issueAccess(account, token, call.now);
        case "used":
          // If rotation is off now, this token was used while rotation was on. The same successor is returned again,
          // because the client may not have received it.
          return issuePair(account, tokens.succeed(token, use.nonce, use.usedAt), call.now);
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
      // An expired token may have active descendants, and a logout must end them too.
      if (token.kind === "refresh" && now < token.familyExp * 1000) await uses.endFamily(token, now);
    },
    async verify(text, { now }) {
      if (readType(text) !== refreshType) return access.verify(text, now);
      const standing = await readLiveToken(reading, text, now);
      if (standing.kind === "rejected") return standing;
      const { token, account } = standing;
      if (!(await uses.isFresh(token))) return rejected("revoked");
      return accepted(identityOf(account, "bearer", { expiresAt: token.exp * 1000, ...provedBy(token.proofs) }));
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

/** The dependencies for reading a refresh token. */
interface TokenReadingParts {
  readonly tokens: RefreshTokens;
  readonly accounts: Accounts;
  readonly uses: Pick<RefreshUses, "endFamily">;
  readonly isEnough: (account: Account, proofs: readonly Proof[]) => boolean;
}

/**
 * Reads a refresh token that has not expired, and its account. Returns a rejection if the account may no longer log in.
 * Ends the family for good if its proofs are no longer enough.
 */
async function readLiveToken(
  { tokens, accounts, uses, isEnough }: TokenReadingParts,
  text: string,
  now: number,
): Promise<{ kind: "standing"; token: RefreshToken; account: Account } | Rejection> {
  const token = await tokens.read(text, now);
  if (token.kind === "rejected") return token;
  if (now >= token.exp * 1000) return rejected("expired", "The token has expired.");
  const account = await accounts.find(token.userId);
  if (account === null || !isOfCurrentLogin(token, account)) return rejected("revoked");
  if (!account.active) return rejected("inactive");
  if (isEnough(account, token.proofs)) return { kind: "standing", token, account };
  // A rule that was added after the login requires more proofs. The login stays ended if the rule is taken away again.
  await uses.endFamily(token, now);
  return rejected("revoked");
}

/**
 * Returns true if the token has the account's current generation, or belongs to the one family that stayed valid when
 * all others were revoked.
 */
function isOfCurrentLogin({ generation, family }: RefreshToken, account: Account): boolean {
  return generation === account.generation || family === account.remainingFamily;
}
