import { randomBytes } from "node:crypto";
import { SignJWT } from "jose/jwt/sign";
import { rejected, type Rejection } from "../../../access/scheme/scheme.ts";
import { hmac, type Secret } from "../../../core/crypto/secret.ts";
import type { Proof } from "../../../core/identity.ts";
import { lastProvedAt } from "../../../core/levels.ts";
import type { Account } from "../accounts/stored-accounts.ts";
import { Admission } from "../gate/admission.ts";
import { formatProofs, parseProofs, passwordAt } from "../gate/proofs.ts";
import { isTime, verifyJWT, type JWTRules } from "./jwt.ts";

/** The `typ` of refresh tokens. */
export const refreshType = "rt+jwt";

/** What a refresh token says. Times in seconds since the epoch. */
export interface RefreshToken {
  readonly kind: "refresh";
  readonly userId: number;
  readonly jti: string;
  /** All tokens that come from one login. */
  readonly family: string;
  /** The account's generation at login. */
  readonly generation: number;
  readonly iat: number;
  readonly exp: number;
  /** When the family ends, however often it is refreshed. */
  readonly familyExp: number;
  /** The login that all of them come from; null in tokens from before it was told. */
  readonly authTime: number | null;
  /** What was proved. Tokens from before proofs were stored come from a password. */
  readonly proofs: readonly Proof[];
  /** Which of the server's secrets has signed it: 0 is the one that signs now. */
  readonly signedWith: number;
}

export interface RefreshTokensOptions {
  readonly secret: Secret;
  readonly issuer: string;
  readonly refreshSeconds: number;
  readonly familySeconds: number;
}

/** The first token of a new family, and whose it is. */
export interface StartedFamily {
  readonly account: Account;
  readonly token: RefreshToken;
}

/** Refresh tokens as texts. Nothing here knows which of them were used. */
export interface RefreshTokens {
  /** The first token of a new family. Spends the admission. `now` in milliseconds. */
  start(admission: Admission, now: number): StartedFamily;
  /** The successor of a token that was used: every claim follows from the parent, the nonce and the time, so it is the same each time. */
  succeed(parent: RefreshToken, nonce: string, usedAt: number): RefreshToken;
  /** The text of a token: the same for the same claims. */
  sign(token: RefreshToken): Promise<string>;
  /** What a text says, if it is ours. Its expiry is the reader's to look at. `now` in milliseconds. */
  read(text: string, now: number): Promise<RefreshToken | Rejection>;
}

/** The refresh tokens of a server. Only it reads them, so one key of its secret signs and verifies (HS256, which is deterministic); those of older secrets verify. */
export function refreshTokens({ secret, issuer, refreshSeconds, familySeconds }: RefreshTokensOptions): RefreshTokens {
  const keys = secret.deriveEach("refresh-token");
  const successorKeys = secret.deriveEach("refresh-successor");
  const rulesOfEach = keys.map((key): JWTRules => ({
    types: [refreshType],
    issuer,
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
      // By the parent's secret: processes that do not sign with the same one yet still give the same successor.
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
