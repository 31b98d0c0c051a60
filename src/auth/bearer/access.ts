import { randomUUID } from "node:crypto";
import { SignJWT } from "jose/jwt/sign";
import type { Eventually } from "../../eventually.ts";
import type { Identity, Role } from "../../identity.ts";
import type { Account, Accounts } from "../accounts.ts";
import type { SigningKeys } from "../keys.ts";
import type { RevocableClaims, Revocations } from "../revocation.ts";
import { accepted, rejected, type Verdict } from "../scheme.ts";
import { isTime, verifyJWT, type JWTRules } from "./jwt.ts";

/** The `typ` of access tokens (RFC 9068 §2.1). */
export const accessType = "at+jwt";

export interface AccessTokensOptions {
  readonly keys: SigningKeys;
  /** `iss` and `aud`: the server reads what it writes. */
  readonly issuer: string;
  readonly lifetimeSeconds: number;
  readonly revocations: Pick<Revocations, "isRevoked">;
  /** Looked into once for each token, when it is first seen: one that verifies and names nobody is rejected. Revocations tell what happens after that. */
  readonly accounts?: Pick<Accounts, "find">;
}

/** Makes access tokens and says who comes with one. */
export interface AccessTokens {
  readonly lifetimeSeconds: number;
  /** A token for the account, of that refresh family, which began at `authTime` (seconds since the epoch; null: not known). `now` in milliseconds. */
  issue(account: Account, family: string, now: number, authTime?: number | null): Promise<string>;
  /** Who the token stands for; answered at once, and without the database, for a token that was verified before. */
  verify(token: string, now: number): Eventually<Verdict>;
}

/** A token whose signature and claims hold; expiry and revocation are looked at on every use. */
interface Remembered {
  readonly verdict: Verdict;
  readonly claims: RevocableClaims;
  /** milliseconds since the epoch */
  readonly expiresAt: number;
}

/** About 15 MB at most; beyond it the oldest is forgotten and would be verified again. */
const maxRemembered = 10_000;

/** The access tokens of a server: JWTs as in RFC 9068, with everything a permission asks for inside. */
export function accessTokens({
  keys,
  issuer,
  lifetimeSeconds,
  revocations,
  accounts,
}: AccessTokensOptions): AccessTokens {
  const memory = new Map<string, Remembered>();
  let rememberedVersion = keys.version;
  const rules: JWTRules = {
    types: [accessType],
    issuer,
    findKey(kid) {
      const key = typeof kid === "string" ? keys.find(kid) : null;
      return key === null ? null : { alg: key.alg, key: key.publicKey };
    },
  };

  async function verifyNew(token: string, now: number): Promise<Verdict> {
    const { version } = keys;
    const verified = await verifyJWT(token, rules, now);
    if (verified.kind === "rejected") return verified;
    const own = readClaims(verified.claims);
    if (own === null) return rejected("malformed");
    const { userId: sub, iat, exp } = verified;
    if (accounts !== undefined && (await accounts.find(sub)) === null) return revoked;
    const { username, role, gen, roleChanges, fam, authTime } = own;
    // Never older than the lifetime that is set now: revocations are kept only for so long.
    const expiresAt = Math.min(exp, iat + lifetimeSeconds) * 1000;
    const identity: Identity = {
      id: sub,
      username,
      role,
      scheme: "bearer",
      scopes: null,
      expiresAt,
      family: fam,
      ...authTime,
    };
    const entry: Remembered = {
      verdict: Object.freeze(accepted(Object.freeze(identity))),
      claims: { sub, gen, role, roleChanges, fam },
      expiresAt,
    };
    const verdict = standing(entry, now);
    if (verdict.kind === "accepted" && version === keys.version) remember(token, entry);
    return verdict;
  }

  /** A key that was retired takes with it what it had signed. */
  function forgetOtherKeys(): void {
    const { version } = keys;
    if (version === rememberedVersion) return;
    memory.clear();
    rememberedVersion = version;
  }

  function standing({ verdict, claims, expiresAt }: Remembered, now: number): Verdict {
    if (now >= expiresAt) return expired;
    return revocations.isRevoked(claims, now) ? revoked : verdict;
  }

  function remember(token: string, entry: Remembered): void {
    if (memory.size >= maxRemembered) memory.delete(memory.keys().next().value!);
    memory.set(token, entry);
  }

  return {
    lifetimeSeconds,
    issue({ id, username, role, generation, roleChanges }, family, now, authTime = null) {
      const iat = Math.floor(now / 1000);
      // Once: between two looks another may have become the one that signs.
      const { alg, kid, privateKey } = keys.signing;
      const sub = String(id);
      const claims = { iss: issuer, aud: issuer, sub, iat, exp: iat + lifetimeSeconds, jti: randomUUID() };
      const loggedIn = authTime === null ? {} : { auth_time: authTime };
      // SimpleJWT's name for the subject, which its clients read.
      return new SignJWT({
        ...claims,
        ...loggedIn,
        user_id: sub,
        username,
        role,
        gen: generation,
        rch: roleChanges,
        fam: family,
      })
        .setProtectedHeader({ alg, typ: accessType, kid })
        .sign(privateKey);
    },
    verify(token, now) {
      forgetOtherKeys();
      const known = memory.get(token);
      if (known === undefined) return verifyNew(token, now);
      const verdict = standing(known, now);
      if (verdict.kind === "rejected") memory.delete(token);
      return verdict;
    },
  };
}

/** The claims that only access tokens have; null where one is missing or of the wrong type. */
function readClaims({
  username,
  role,
  gen,
  rch = 0,
  fam,
  auth_time,
}: Readonly<Record<string, unknown>>): OwnClaims | null {
  if (typeof username !== "string" || (role !== "user" && role !== "admin") || typeof fam !== "string") return null;
  if (!Number.isSafeInteger(gen) || !Number.isSafeInteger(rch)) return null;
  const authTime = isTime(auth_time) ? { authTime: auth_time * 1000 } : {};
  return { username, role, gen: gen as number, roleChanges: rch as number, fam, authTime };
}

interface OwnClaims {
  readonly username: string;
  readonly role: Role;
  /** The account's generation. */
  readonly gen: number;
  /** How often the role had been changed; tokens from before this was counted do not say it. */
  readonly roleChanges: number;
  /** The refresh family. */
  readonly fam: string;
  /** When its login was, in milliseconds, where the token says it. */
  readonly authTime: { readonly authTime?: number };
}

const expired = rejected("expired", "The token has expired.");
const revoked = rejected("revoked");
