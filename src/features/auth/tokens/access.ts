import { randomUUID } from "node:crypto";
import { SignJWT } from "jose/jwt/sign";
import { accepted, rejected, type Verdict } from "../../../access/scheme/scheme.ts";
import { anObject, optional, text, texts, wholeFrom } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import type { Eventually } from "../../../core/eventually.ts";
import {
  isIdentityFields,
  usualRoles,
  type Actor,
  type Identity,
  type IdentityFields,
  type Proof,
  type Role,
} from "../../../core/identity.ts";
import { lastProvedAt, computeLevel, listMethods, provedBy } from "../../../core/levels.ts";
import type { Account, Accounts } from "../records/accounts.ts";
import { formatProofs, parseProofs, passwordAt } from "../records/proofs.ts";
import type { Revocations } from "../records/revocation.ts";
import type { RevocableClaims } from "../records/revoked.ts";
import { ACTING_SECONDS, actingClaims, findActor, readActing, type ActingAccount } from "./acting.ts";
import { isTime, notYet, readUnverified, verifyJWT, type JWTRules } from "./jwt.ts";
import type { SigningKeys } from "./signing-keys.ts";

/** The `typ` of access tokens (RFC 9068 §2.1). */
const accessType = "at+jwt";

/** Options of `accessTokens()`: keys, issuer, lifetime in seconds, and the revocations. */
export interface AccessTokensOptions {
  readonly keys: SigningKeys;
  /** The value of `iss` and of `aud`, because the server that makes a token also verifies it. */
  readonly issuer: string;
  readonly lifetimeSeconds: number;
  readonly revocations: Pick<Revocations, "isRevoked">;
  /**
   * Finds the account of a token when this process verifies the token for the first time. The token is rejected if its
   * account does not exist, or if the account has changed since. Revocations report later changes. Default: accounts
   * are not read.
   */
  readonly accounts?: Pick<Accounts, "find">;
  /** The names of the user fields that every token and its identity contain. Default: none. */
  readonly fields?: readonly string[];
  /** The possible roles of a user. A token with another role is rejected. Default: `user` and `admin`. */
  readonly roles?: readonly Role[];
}

/** Makes and verifies access tokens. */
export interface AccessTokens {
  readonly lifetimeSeconds: number;
  /** Makes a token for the account and the token family, with the proofs of its login. `now` in milliseconds. */
  issue(account: Account, family: string, now: number, proofs?: readonly Proof[]): Promise<string>;
  /**
   * Makes a token with which an administrator acts for the account, for 15 minutes. It has no proofs. `now` in
   * milliseconds.
   */
  issueActing(account: Account, actor: ActingAccount, now: number): Promise<string>;
  /** Returns true if the token names this server as its issuer. Verifies nothing. */
  recognizes(token: string): boolean;
  /**
   * Returns the identity of the token, or the reason to reject it. A token that was verified before does not need the
   * database.
   */
  verify(token: string, now: number): Eventually<Verdict>;
}

/** A token with a valid signature and valid claims. Its times and revocation are checked on every use. */
interface Remembered {
  readonly verdict: Verdict;
  /** The claims of the user, and of the administrator who acts for the user. */
  readonly claims: readonly RevocableClaims[];
  /** Milliseconds since the epoch. */
  readonly startsAt: number;
  readonly expiresAt: number;
}

/**
 * The maximum number of verified tokens in memory, about 15 MB. Above it, the oldest one is dropped and is verified
 * again at its next use.
 */
const MAX_VERIFIED_TOKENS = 10_000;

const checks: ChecksOf<AccessTokensOptions> = {
  keys: anObject,
  issuer: text,
  lifetimeSeconds: wholeFrom(1),
  revocations: anObject,
  accounts: optional(anObject),
  fields: optional(texts),
  roles: optional(texts),
};

/** Returns the access tokens of a server: JWTs as in RFC 9068, with everything that permissions need. */
export function accessTokens(options: AccessTokensOptions): AccessTokens {
  requireOptions(options, checks, { of: "accessTokens" });
  const { keys, issuer, lifetimeSeconds, revocations, accounts, fields = [], roles = usualRoles } = options;
  const memory = new Map<string, Remembered>();
  let rememberedVersion = keys.version;
  const rules = createRules(keys, issuer);

  async function verifyNew(token: string, now: number): Promise<Verdict> {
    const { version } = keys;
    const verified = await verifyJWT(token, rules, now);
    if (verified.kind === "rejected") return verified;
    const own = readClaims(verified.claims, fields, roles);
    const acting = readActing(verified.claims);
    if (own === null || acting === null) return rejected("malformed");
    const { userId: sub, iat, exp, startsAt } = verified;
    const account = accounts === undefined ? null : await accounts.find(sub);
    if (accounts !== undefined && !matchesAccount(own, account)) return revoked;
    const actor = acting === undefined ? undefined : await findActor(acting, accounts);
    if (actor === null) return revoked;
    const { role, gen, roleChanges, fam } = own;
    // Never longer than the current lifetime setting, because revocations are stored only for that time.
    const longest = acting === undefined ? lifetimeSeconds : ACTING_SECONDS;
    const expiresAt = Math.min(exp, iat + longest) * 1000;
    const identity = identityOfToken(own, account, { id: sub, expiresAt, actor });
    const entry: Remembered = {
      verdict: Object.freeze(accepted(Object.freeze(identity))),
      claims: [{ sub, gen, role, roleChanges, fam }, ...(acting === undefined ? [] : [acting])],
      startsAt,
      expiresAt,
    };
    const verdict = judgeRemembered(entry, now);
    if (verdict.kind === "accepted" && version === keys.version) remember(token, entry);
    return verdict;
  }

  /** Clears the memory if the keys have changed, because a removed key may have signed a token in it. */
  function forgetOtherKeys(): void {
    const { version } = keys;
    if (version === rememberedVersion) return;
    memory.clear();
    rememberedVersion = version;
  }

  function judgeRemembered({ verdict, claims, startsAt, expiresAt }: Remembered, now: number): Verdict {
    if (now >= expiresAt) return expired;
    // The clock may have been set back in the meantime.
    if (now < startsAt) return notYet;
    return claims.some((each) => revocations.isRevoked(each, now)) ? revoked : verdict;
  }

  function remember(token: string, entry: Remembered): void {
    if (memory.size >= MAX_VERIFIED_TOKENS) memory.delete(memory.keys().next().value!);
    memory.set(token, entry);
  }

  return {
    lifetimeSeconds,
    issue: (account, family, now, proofs = []) =>
      // Reads the signing key only once, because it may change between two reads.
      sign(keys.signing, { issuer, lifetimeSeconds, account, family, now, more: proofClaims(proofs) }),
    issueActing(account, actor, now) {
      const acting = { lifetimeSeconds: ACTING_SECONDS, family: randomUUID(), more: actingClaims(actor) };
      return sign(keys.signing, { issuer, account, now, ...acting });
    },
    recognizes: (token) => memory.has(token) || readUnverified(token)?.claims["iss"] === issuer,
    verify(token, now) {
      forgetOtherKeys();
      const entry = memory.get(token);
      if (entry === undefined) return verifyNew(token, now);
      const verdict = judgeRemembered(entry, now);
      if (verdict.kind === "rejected") memory.delete(token);
      return verdict;
    },
  };
}

/** Returns the identity of a verified token. */
function identityOfToken(
  { username, role, fam, more }: OwnClaims,
  account: Account | null,
  { id, expiresAt, actor }: Pick<Identity, "id" | "expiresAt"> & { readonly actor: Actor | undefined },
): Identity {
  return {
    id,
    username,
    role,
    scheme: "bearer",
    scopes: null,
    expiresAt,
    ...(actor === undefined ? { family: fam } : { actor }),
    // `needs` cannot become too low later, because adding the first factor invalidates this token.
    ...(account === null ? {} : { needs: (account.factors ?? 0) > 0 ? (2 as const) : (1 as const) }),
    ...more,
  };
}

/** Returns the rules for tokens of this server, signed with any of its keys. */
function createRules(keys: SigningKeys, issuer: string): JWTRules {
  return {
    types: [accessType],
    issuer,
    findKey(kid) {
      const key = typeof kid === "string" ? keys.find(kid) : null;
      return key === null ? null : { alg: key.alg, key: key.publicKey };
    },
  };
}

/** The content of a new access token. */
interface Issued {
  readonly issuer: string;
  readonly lifetimeSeconds: number;
  readonly account: Parameters<AccessTokens["issue"]>[0];
  readonly family: string;
  readonly now: number;
  readonly more: Readonly<Record<string, unknown>>;
}

function sign({ alg, kid, privateKey }: SigningKeys["signing"], issued: Issued): Promise<string> {
  const { issuer, lifetimeSeconds, account, family, now } = issued;
  const { username, role, generation, roleChanges, fields } = account;
  const iat = Math.floor(now / 1000);
  const sub = String(account.id);
  const claims = { iss: issuer, aud: issuer, sub, iat, exp: iat + lifetimeSeconds, jti: randomUUID() };
  const more = {
    ...issued.more,
    ...(fields === undefined ? {} : { fields }),
  };
  // `user_id` is SimpleJWT's claim for the subject. Clients of SimpleJWT read it.
  const own = { user_id: sub, username, role, gen: generation, rch: roleChanges, fam: family };
  return new SignJWT({ ...claims, ...more, ...own }).setProtectedHeader({ alg, typ: accessType, kid }).sign(privateKey);
}

/**
 * Returns the claims with the proofs (RFC 9068 §2.2.1). `prf` contains all proofs. It is omitted if a password is the
 * only proof.
 */
function proofClaims(proofs: readonly Proof[]): Readonly<Record<string, unknown>> {
  const provedAt = lastProvedAt(proofs);
  if (provedAt === null) return {};
  const isPlain = proofs.length === 1 && proofs[0]!.method === "pwd";
  return {
    auth_time: Math.floor(provedAt / 1000),
    amr: listMethods(proofs),
    acr: String(computeLevel(proofs)),
    ...(isPlain ? {} : { prf: formatProofs(proofs) }),
  };
}

/**
 * Reads the claims that only access tokens have. Returns null if a claim is missing or has the wrong type, if the role
 * is not one of `roles`, or if the names of the `fields` are not exactly `names`.
 */
function readClaims(
  { username, role, gen, rch = 0, fam, auth_time, prf, fields }: Readonly<Record<string, unknown>>,
  names: readonly string[],
  roles: readonly Role[],
): OwnClaims | null {
  if (typeof username !== "string" || typeof role !== "string" || typeof fam !== "string") return null;
  if (!roles.includes(role)) return null;
  if (!Number.isSafeInteger(gen) || !Number.isSafeInteger(rch)) return null;
  // Without `prf`, the only proof is a password. Without `auth_time`, the token has no proof.
  const proofs = prf === undefined ? passwordAt(isTime(auth_time) ? auth_time * 1000 : 0) : parseProofs(prf);
  if (proofs === null) return null;
  const loggedIn = isTime(auth_time) ? provedBy(proofs) : { proofs: Object.freeze([]), level: 1 as const };
  const common: Omit<OwnClaims, "more"> = { username, role, gen: gen as number, roleChanges: rch as number, fam };
  if (names.length === 0) return { ...common, more: loggedIn };
  return hasExactNames(names, fields) ? { ...common, more: { ...loggedIn, fields: Object.freeze(fields) } } : null;
}

interface OwnClaims {
  readonly username: string;
  readonly role: Role;
  /** The account's generation. */
  readonly gen: number;
  /** The number of role changes. 0 for older tokens, which lack the claim `rch`. */
  readonly roleChanges: number;
  /** The token family. */
  readonly fam: string;
  /** The proofs, and the fields of the user. */
  readonly more: Pick<Identity, "authTime" | "proofs" | "level" | "fields">;
}

/** True if the account still matches the token. */
function matchesAccount({ gen, role, roleChanges, fam }: OwnClaims, account: Account | null): boolean {
  if (account === null || !account.active) return false;
  const isSameLogin = gen === account.generation || fam === account.remainingFamily;
  return isSameLogin && role === account.role && roleChanges === account.roleChanges;
}

/** True if the names of `fields` are exactly `names`. The declaration may have changed since the token was made. */
function hasExactNames(names: readonly string[], fields: unknown): fields is IdentityFields {
  return (
    isIdentityFields(fields) &&
    Object.keys(fields).length === names.length &&
    names.every((name) => Object.hasOwn(fields, name))
  );
}

const expired = rejected("expired", "The token has expired.");
const revoked = rejected("revoked");
