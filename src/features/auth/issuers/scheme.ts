import { accepted, rejected, type Rejection, type Verdict } from "../../../access/scheme/scheme.ts";
import { aFunction, anObject, anything, optional, text } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { after, type Eventually } from "../../../core/eventually.ts";
import type { Identity } from "../../../core/identity.ts";
import { provedBy } from "../../../core/levels.ts";
import type { Observer } from "../../../core/observation.ts";
import { identityOf, isPossibleName } from "../records/accounts.ts";
import type { Bindings } from "../records/bindings.ts";
import { isTime, readUnverified, normalizeType, verifySignature, type UnverifiedJWT } from "../tokens/jwt.ts";
import type { ExternalIssuers } from "../tokens/scheme.ts";
import {
  defineIssuers,
  readAuthTime,
  vouchedProof,
  vouchesForLevel2,
  type IssuerDeclaration,
  type TrustedIssuer,
} from "./declaration.ts";
import type { FetchKeys } from "./fetch.ts";
import { issuerKeys, type ChosenKey, type IssuerKeys, type KeySet } from "./keys.ts";
import { fetchOver } from "./tls.ts";

/** Options of `externalIssuers()`: the declared issuers, and the bindings to accounts. */
export interface ExternalIssuersOptions {
  readonly issuers: readonly IssuerDeclaration[];
  /** The `iss` of the service's tokens. No outside issuer may have it. */
  readonly ownIssuer: string;
  readonly bindings: Pick<Bindings, "resolve">;
  readonly observe: Observer;
  /** Makes the network requests, only to the declared addresses. Not used for issuers with `ca` or `cert`. */
  readonly fetch?: FetchKeys;
}

interface Trusted extends TrustedIssuer {
  readonly keys: IssuerKeys;
  /** The accepted values of `typ`. */
  readonly types: readonly (string | null)[];
}

/**
 * A token whose signature and claims are valid while the keys do not change. Its expiry and account are checked on
 * every use.
 */
interface Genuine {
  readonly kind: "genuine";
  readonly trusted: Trusted;
  readonly set: KeySet;
  readonly subject: string;
  readonly username: string;
  /** True if the issuer says that it has checked a second factor. */
  readonly vouches: boolean;
  /** Milliseconds since the epoch. */
  readonly startsAt: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Milliseconds since the epoch. Null if the issuer does not report when its user logged in. */
  readonly authTime: number | null;
}

const leewayMs = 30_000;
/** The last second that a Date can represent. */
const lastSecond = 8.64e12;
/**
 * The largest number of stored tokens. Tokens have at most 8 KiB, so they need at most 16 MB. Beyond the limit, the
 * oldest one is deleted and must be verified again at its next use.
 */
const maxRemembered = 2000;

const checks: ChecksOf<ExternalIssuersOptions> = {
  issuers: anything,
  ownIssuer: text,
  bindings: anObject,
  observe: aFunction,
  fetch: optional(aFunction),
};

/** Trusts outside issuers. Throws `IssuersError` if the declaration is invalid. */
export function externalIssuers(options: ExternalIssuersOptions): ExternalIssuers {
  requireOptions(options, checks, { of: "externalIssuers" });
  const { issuers, ownIssuer, bindings, observe, fetch = globalThis.fetch } = options;
  const byName = new Map(
    defineIssuers(issuers, ownIssuer).map((issuer): [string, Trusted] => [
      issuer.issuer,
      {
        ...issuer,
        keys: issuerKeys({ issuer, fetch: chooseNetwork(issuer, fetch), observe }),
        types: listTypes(issuer),
      },
    ]),
  );
  const memory = new Map<string, Genuine>();

  /** Uses the unverified `iss` only to choose the issuer. */
  function findTrusted(unverified: UnverifiedJWT | null): Trusted | undefined {
    const iss = unverified?.claims["iss"];
    return typeof iss === "string" ? byName.get(iss) : undefined;
  }

  function verifyNew(token: string, now: number): Eventually<Verdict> | null {
    const unverified = readUnverified(token);
    const trusted = findTrusted(unverified);
    return unverified === null || trusted === undefined ? null : verifyTrusted(trusted, token, unverified, now);
  }

  async function verifyTrusted(
    trusted: Trusted,
    token: string,
    unverified: UnverifiedJWT,
    now: number,
  ): Promise<Verdict> {
    const genuine = await requireGenuine(trusted, token, unverified, now);
    if (genuine.kind === "rejected") return genuine;
    const verdict = await judge(token, genuine, now);
    if (verdict.kind === "accepted") remember(token, genuine);
    return verdict;
  }

  function judge(token: string, genuine: Genuine, now: number): Eventually<Verdict> {
    const { trusted, subject, username, startsAt, expiresAt, authTime, vouches } = genuine;
    const { issuer } = trusted;
    // The token was verified before, but the clock may have been set back since.
    if (now + leewayMs < startsAt) return refuse(trusted, "expired", "it is not valid yet.");
    if (now >= expiresAt + leewayMs) {
      memory.delete(token);
      return refuse(trusted, "expired", "it has expired.");
    }
    return after(bindings.resolve({ issuer, subject, username }, now), (account) =>
      account?.active === true
        ? accepted(identityOf(account, "bearer", { expiresAt, issuer, ...vouchedBy(authTime, vouches) }))
        : refuse(trusted, "inactive", "its user has no active account here."),
    );
  }

  function remember(token: string, genuine: Genuine): void {
    if (memory.size >= maxRemembered) memory.delete(memory.keys().next().value!);
    memory.set(token, genuine);
  }

  return {
    recognizes: (token) => memory.has(token) || findTrusted(readUnverified(token)) !== undefined,
    verify(token, now) {
      const entry = memory.get(token);
      if (entry === undefined) return verifyNew(token, now);
      return after(entry.trusted.keys.current(now), (set) => {
        if (set === entry.set) return judge(token, entry, now);
        // The issuer has changed its keys and may have withdrawn the one that signed this token, so it is verified
        // again.
        memory.delete(token);
        return verifyNew(token, now)!;
      });
    },
  };
}

/**
 * Returns the network for an issuer. If the declaration names TLS files, this network uses them for every request.
 * Otherwise returns `usual`.
 */
function chooseNetwork({ ca, cert, key }: TrustedIssuer, usual: FetchKeys): FetchKeys {
  if (ca === undefined && cert === undefined) return usual;
  return fetchOver({
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
  });
}

/**
 * Returns the accepted values of `typ`. By default, these are values that no other kind of token has (RFC 8725 §3.11).
 * Null: no `typ`.
 */
function listTypes({ typ }: TrustedIssuer): readonly (string | null)[] {
  return typ === undefined ? [null, "jwt", "at+jwt"] : [normalizeType({ typ })];
}

async function requireGenuine(
  trusted: Trusted,
  token: string,
  { header: { alg, kid } }: UnverifiedJWT,
  now: number,
): Promise<Genuine | Rejection> {
  const forged = refuse(trusted, "forged", "no key of that issuer verifies it.");
  if ((kid !== undefined && typeof kid !== "string") || typeof alg !== "string" || !isListed(trusted, alg))
    return forged;
  let set = await trusted.keys.current(now);
  let chosen = set.find(kid, alg);
  let signed = await verifyWith(trusted, token, alg, chosen);
  // If no key has the `kid` of the token, the stored keys may be out of date. So they are fetched again.
  if (signed === null && chosen.kind !== "named") {
    set = await trusted.keys.lookAgain(now);
    chosen = set.find(kid, alg);
    signed = await verifyWith(trusted, token, alg, chosen);
  }
  if (chosen.kind === "several")
    return refuse(trusted, "malformed", "it has no kid, and several keys of that issuer fit it.");
  if (signed === null) return forged;
  if (signed.kind === "rejected") return refuse(trusted, "malformed", "it is malformed, or of another type.");
  return readClaims(trusted, set, signed.claims, now);
}

/** Returns null if the signature is invalid or no key was chosen. */
async function verifyWith(
  { types }: Trusted,
  token: string,
  alg: string,
  chosen: ChosenKey,
): ReturnType<typeof verifySignature> {
  if (!("key" in chosen)) return null;
  const { key } = chosen;
  return verifySignature(token, { types, findKey: () => ({ alg, key }) });
}

function isListed({ algorithms }: TrustedIssuer, alg: string): boolean {
  return algorithms.some((each) => each === alg);
}

function readClaims(
  trusted: Trusted,
  set: KeySet,
  claims: Readonly<Record<string, unknown>>,
  now: number,
): Genuine | Rejection {
  const { iss, aud, exp, iat, nbf } = claims;
  const wrong = (what: string): Rejection => refuse(trusted, "malformed", what);
  if (iss !== trusted.issuer) return wrong("its issuer is not the declared one.");
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (!audiences.includes(trusted.audience)) return wrong("it is not for this service (aud).");
  if (!isTime(exp) || exp > lastSecond || !isOptionalTime(iat) || !isOptionalTime(nbf))
    return wrong("exp, iat or nbf is missing or not a time.");
  // A bound token is valid only with a proof that its sender has a key. The service cannot check this proof (RFC 7800,
  // RFC 9449 §7.2).
  if (claims["cnf"] !== undefined) return wrong("it is bound to a key (cnf), so it is not a bearer token.");
  const username = usernameIn(claims, trusted);
  if (username === null) return wrong(`its claim ${trusted.usernameClaim} names no user.`);
  const subject = subjectIn(claims, trusted.usernameClaim, username);
  if (subject === null) return wrong("its claim sub names no user.");
  const authTime = readAuthTime(claims, now, leewayMs);
  const startsAt = Math.max(iat ?? 0, nbf ?? 0) * 1000;
  const vouches = vouchesForLevel2(trusted.level, claims["acr"]);
  return { kind: "genuine", trusted, set, subject, username, startsAt, expiresAt: exp * 1000, authTime, vouches };
}

/** Returns the proofs that the issuer vouches for. */
function vouchedBy(authTime: number | null, vouches: boolean): Pick<Identity, "proofs" | "level" | "authTime"> {
  const { proofs, level } = provedBy([vouchedProof(authTime, vouches)]);
  return { proofs: proofs!, level: level!, ...(authTime === null ? {} : { authTime }) };
}

function isOptionalTime(value: unknown): value is number | undefined {
  return value === undefined || isTime(value);
}

function usernameIn(
  claims: Readonly<Record<string, unknown>>,
  { usernameClaim: claim, trustEmail = false }: TrustedIssuer,
): string | null {
  const name = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
  // Some issuers let a user enter any address. Such a user could log in here to the account of the owner of the
  // address.
  if (claim === "email" && claims["email_verified"] !== true && !trustEmail) return null;
  return isPossibleName(name) ? name : null;
}

/**
 * Returns the permanent name of the user at the issuer. If the tokens have no `sub`, this is the claim with the
 * username.
 */
function subjectIn({ sub }: Readonly<Record<string, unknown>>, claim: string, username: string): string | null {
  if (sub === undefined) return `${claim}=${username}`;
  return isPossibleName(sub) ? sub : null;
}

function refuse({ issuer }: TrustedIssuer, reason: Rejection["reason"], what: string): Rejection {
  return rejected(reason, `A token of ${issuer}: ${what}`);
}
