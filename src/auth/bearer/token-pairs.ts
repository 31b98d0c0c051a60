import type { Secret } from "../../crypto/secret.ts";
import type { Call } from "../../http/call.ts";
import type { Observer } from "../../observation.ts";
import type { Change, Store } from "../../store/store.ts";
import { identityOf, type Account, type Accounts } from "../accounts.ts";
import type { Revocations } from "../revocation.ts";
import { accepted, rejected, type Rejection, type Verdict } from "../scheme.ts";
import { type AccessTokens } from "./access.ts";
import { readType } from "./jwt.ts";
import { refreshTokens, refreshType, type RefreshToken } from "./refresh-token.ts";
import { refreshUses } from "./refresh-uses.ts";

/** What a login or a refresh gives. */
export interface TokenPair {
  readonly kind: "issued";
  readonly access: string;
  readonly refresh: string;
  /** How long the access token lives (`expires_in`). */
  readonly accessSeconds: number;
  /** When the refresh token ends, in milliseconds since the epoch. */
  readonly refreshExpiresAt: number;
}

export interface TokenPairsOptions {
  readonly store: Store;
  readonly accounts: Accounts;
  readonly access: AccessTokens;
  readonly revocations: Pick<Revocations, "endFamily">;
  readonly secret: Secret;
  readonly issuer: string;
  readonly refreshSeconds: number;
  /** The ceiling of a family, from the login. */
  readonly familySeconds: number;
  /** How long a used refresh token still gives its one successor. */
  readonly graceSeconds: number;
  readonly observe: Observer;
}

/** Logging in with tokens, staying logged in, logging out. `now` in milliseconds. */
export interface TokenPairs {
  /** A new family. Writes nothing. */
  issue(account: Account, now: number): Promise<TokenPair>;
  /** The successor of a refresh token and a fresh access token. */
  refresh(token: string, call: Call): Promise<TokenPair | Rejection>;
  /** Logs out: ends the family and its access tokens, also where the token was used up or has expired. Texts that are not ours do nothing. */
  end(token: string, now: number): Promise<void>;
  /** Whether an access or refresh token would be taken now. Uses nothing up. */
  verify(token: string, call: Call): Promise<Verdict>;
  /** Erases what closed windows leave behind; for the timer, every second or so, and at the start. */
  sweep(now: number): Change[];
  /** Removes what concerns only tokens that have expired; for the timer, now and then. */
  prune(now: number): Change[];
}

/** The token pairs of a server. */
export function tokenPairs(options: TokenPairsOptions): TokenPairs {
  const { accounts, access, observe } = options;
  const tokens = refreshTokens(options);
  const uses = refreshUses(options);

  async function pair(account: Account, token: RefreshToken, now: number): Promise<TokenPair> {
    const [accessText, refreshText] = await Promise.all([access.issue(account, token.family, now), tokens.sign(token)]);
    const { lifetimeSeconds: accessSeconds } = access;
    return {
      kind: "issued",
      access: accessText,
      refresh: refreshText,
      accessSeconds,
      refreshExpiresAt: token.exp * 1000,
    };
  }

  /** A refresh token that has not expired, and its account, where that may still log in. */
  async function read(
    text: string,
    now: number,
  ): Promise<{ kind: "standing"; token: RefreshToken; account: Account } | Rejection> {
    const token = await tokens.read(text, now);
    if (token.kind === "rejected") return token;
    if (now >= token.exp * 1000) return rejected("expired", "The token has expired.");
    const account = await accounts.find(token.userId);
    if (account === null || !isOfAccount(token, account)) return rejected("revoked");
    return account.active ? { kind: "standing", token, account } : rejected("inactive");
  }

  return {
    issue: (account, now) => pair(account, tokens.start(account, now), now),
    async refresh(text, call) {
      const standing = await read(text, call.now);
      if (standing.kind === "rejected") return standing;
      const { token, account } = standing;
      const use = await uses.useUp(token, call.now);
      switch (use.kind) {
        case "used":
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
      const standing = await read(text, now);
      if (standing.kind === "rejected") return standing;
      const { token, account } = standing;
      if (!(await uses.isFresh(token))) return rejected("revoked");
      return accepted(identityOf(account, "bearer", { expiresAt: token.exp * 1000 }));
    },
    sweep: uses.sweep,
    prune: uses.prune,
  };
}

/** Of the present generation, or the one family that was kept when all others ended. */
function isOfAccount({ generation, family }: RefreshToken, account: Account): boolean {
  return generation === account.generation || family === account.keptFamily;
}
