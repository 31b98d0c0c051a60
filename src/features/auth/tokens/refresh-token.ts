import { randomBytes } from "node:crypto";
import { SignJWT } from "jose/jwt/sign";
import { rejected, type Rejection } from "../../../access/scheme/scheme.ts";
import { hmac, type Secret } from "../../../core/crypto/secret.ts";
import type { Proof } from "../../../core/identity.ts";
import { lastProvedAt } from "../../../core/levels.ts";
import { Admission } from "../gate/admission.ts";
import type { Account } from "../records/accounts.ts";
import { formatProofs, parseProofs, passwordAt } from "../records/proofs.ts";
import { isTime, verifyJWT, type JWTRules } from "./jwt.ts";

/** The `typ` of refresh tokens. */
export const refreshType = "rt+jwt";

/** The claims of a refresh token. Times in seconds since the epoch. */
export interface RefreshToken {
  readonly kind: "refresh";
  readonly userId: number;
  readonly jti: string;
  /** The family: all tokens that come from one login. */
  readonly family: string;
  /** The account's generation at login. */
  readonly generation: number;
  readonly iat: number;
  readonly exp: number;
  /** The end of the family, independent of the number of refreshes. */
  readonly familyExp: number;
  /** The time of the login. Null in tokens that are older than this claim. */
  readonly authTime: number | null;
  /** The proofs of the login. A token that is older than this claim counts as proved by a password. */
  readonly proofs: readonly Proof[];
  /** The position of the secret that signed it: 0 is the current one. */
  readonly signedWith: number;
}

export interface RefreshTokensOptions {
  readonly secret: Secret;
  readonly issuer: string;
  readonly refreshSeconds: number;
  readonly familySeconds: number;
}

/** The first token of a new family, and its account. */
export interface StartedFamily {
  readonly account: Account;
  readonly token: RefreshToken;
}

/** Refresh tokens as texts. `RefreshUses` stores which of them were used. */
export interface RefreshTokens {
  /** Makes the first token of a new family. Spends the admission. `now` in milliseconds. */
  start(admission: Admission, now: number): StartedFamily;
  /**
   * Returns the successor of a used token. All claims are derived from the parent, the nonce and the time, so it is the
   * same each time.
   */
  succeed(parent: RefreshToken, nonce: string, usedAt: number): RefreshToken;
  /** Returns the text of a token. The same claims give the same text. */
  sign(token: RefreshToken): Promise<string>;
  /**
   * Reads a refresh token. Rejects it if this server did not sign it. The caller checks the expiry. `now` in
   * milliseconds.
   */
  read(text: string, now: number): Promise<RefreshToken | Rejection>;
}

/**
 * Returns the refresh tokens of a server. Only this server reads them, so one key from its secret signs and verifies
 * (HS256, which is deterministic). Keys from older secrets only verify. A token is also valid before its `iat`.
 * Otherwise the logins of a clock that was ahead would end when the clock is set back.
 */
export function refreshTokens({ secret, issuer, refreshSeconds, familySeconds }: RefreshTokensOptions): RefreshTokens {
  const keys = secret.deriveEach("refresh-token");
  const successorKeys = secret.deriveEach("refresh-successor");
  const rulesOfEach = keys.map((key): JWTRules => ({
    types: [refreshType],
    issuer,
    isValidBefore: true,
    findKey: () => ({ alg: "HS256", key }),
  }));

  return {
    start(admission, now) {
      const account = Admission.spend(admission);
      const { id, generation } = account;
      const { proofs } = admission;
      const iat = Math.floor(now / 1000);
      const familyExp = iat + familySeconds;
      const names = { jti: randomBytes(32).toString("base64url"), family: randomBytes(16).toString("base64url") };
      const token: RefreshToken = {
        kind: "refresh",
        userId: id,
        ...names,
        generation,
        iat,
        exp: Math.min(iat + refreshSeconds, familyExp),
        familyExp,
        authTime: Math.floor((lastProvedAt(proofs) ?? now) / 1000),
        proofs,
        signedWith: 0,
      };
      return { account, token };
    },
    succeed(parent, nonce, usedAt) {
      const iat = Math.floor(usedAt / 1000);
      // Uses the secret that signed the parent. During a change of secrets, processes sign with different secrets. They
      // must still derive the same successor.
      const jti = hmac(successorKeys[parent.signedWith]!, `${parent.jti}|${nonce}`).toString("base64url");
      return { ...parent, jti, iat, exp: Math.min(iat + refreshSeconds, parent.familyExp), signedWith: 0 };
    },
    sign({ userId, jti, family, generation, iat, exp, familyExp, authTime, proofs }) {
      const claims = {
        iss: issuer,
        aud: issuer,
        sub: String(userId),
        jti,
        fam: family,
        gen: generation,
        iat,
        exp,
        fexp: familyExp,
        ...(authTime === null ? {} : { auth_time: authTime }),
        prf: formatProofs(proofs),
      };
      return new SignJWT(claims).setProtectedHeader({ alg: "HS256", typ: refreshType }).sign(keys[0]!);
    },
    async read(text, now) {
      let signedWith = 0;
      let verified = await verifyJWT(text, rulesOfEach[0]!, now);
      while (verified.kind === "rejected" && verified.reason === "forged" && ++signedWith < keys.length)
        verified = await verifyJWT(text, rulesOfEach[signedWith]!, now);
      if (verified.kind === "rejected") return verified;
      const { userId, jti, iat, exp, claims } = verified;
      const { fam: family, gen: generation, fexp: familyExp, auth_time: authTime = null } = claims;
      if (typeof family !== "string" || typeof generation !== "number" || typeof familyExp !== "number")
        return rejected("malformed");
      if (authTime !== null && !isTime(authTime)) return rejected("malformed");
      const proofs = claims["prf"] === undefined ? passwordAt((authTime ?? 0) * 1000) : parseProofs(claims["prf"]);
      if (proofs === null) return rejected("malformed");
      return { kind: "refresh", userId, jti, family, generation, iat, exp, familyExp, authTime, proofs, signedWith };
    },
  };
}
