import { createPublicKey, type KeyObject } from "node:crypto";
import { isObject } from "../../../core/checking/members.ts";
import { after, type Eventually } from "../../../core/eventually.ts";
import type { Observer } from "../../../core/observation.ts";
import { problem, type Problem } from "../../../core/problem/problem.ts";
import { keyShapes, type IssuerAlgorithm, type TrustedIssuer } from "./declaration.ts";
import { fetchKeySet, KeySetFault, type FetchKeys } from "./fetch.ts";

/** The keys that an issuer published at one time. */
export interface KeySet {
  /** Chooses the key for an algorithm. `kid` is the key name in the token, if any. */
  find(kid: string | undefined, alg: string): ChosenKey;
}

/**
 * The key that verifies a token. If the token names a key (`kid`), this is the key with that name. If there is no such
 * key, it is the only key without a name. If the token names no key, it is the only key for the algorithm (RFC 7515
 * §4.1.4, RFC 7517 §4.5, OpenID Connect Core §10.1).
 */
export type ChosenKey =
  | { readonly kind: "named" | "only"; readonly key: KeyObject }
  /** No key fits, or two keys have that name. */
  | { readonly kind: "none" }
  /** The token has no `kid`, or no key has this `kid`. More than one key could fit. */
  | { readonly kind: "several" };

export interface IssuerKeysOptions {
  readonly issuer: Pick<TrustedIssuer, "issuer" | "jwksURL" | "algorithms">;
  readonly fetch: FetchKeys;
  readonly observe: Observer;
}

/**
 * The keys of an outside issuer, fetched when they are needed. `now` in milliseconds. Both methods throw 503 if there
 * are no usable keys.
 */
export interface IssuerKeys {
  /**
   * Returns keys that are at most ten minutes old, or at most a day old while the issuer does not answer. Returns the
   * same object until the keys change.
   */
  current(now: number): Eventually<KeySet>;
  /** Fetches the keys again because a key is missing. Does not fetch if the last fetch was less than 30 seconds ago. */
  lookAgain(now: number): Eventually<KeySet>;
}

/**
 * The time for which keys are used without a new fetch. A key that the issuer withdraws stops working after this time.
 */
const freshMs = 10 * 60_000;
/** How long keys are used while the issuer does not answer, in milliseconds since its last response. */
const usableMs = 24 * 3600_000;
/**
 * The shortest time between two fetches, in milliseconds, also after a failure. So tokens with invented key names
 * cannot cause many fetches.
 */
const floorMs = 30_000;
/** RFC 7518 §3.3 and §3.5. */
const minRSABits = 2048;

/** Keeps the keys of an issuer up to date. Sends no request before the first token arrives. */
export function issuerKeys({ issuer: { issuer, jwksURL, algorithms }, fetch, observe }: IssuerKeysOptions): IssuerKeys {
  let held: { readonly set: KeySet; readonly text: string; readonly at: number } | null = null;
  let triedAt = -Infinity;
  let isDown = false;
  let pending: Promise<void> | null = null;

  /**
   * Fetches the keys, one request at a time. Concurrent callers wait for the same request. Does nothing if the last
   * fetch is too recent.
   */
  function refresh(now: number): Eventually<void> {
    if (pending !== null) return pending;
    if (isWithin(floorMs, triedAt, now)) return;
    triedAt = now;
    pending = load(now).finally(() => (pending = null));
    return pending;
  }

  async function load(now: number): Promise<void> {
    try {
      const { text, entries } = await fetchKeySet(jwksURL, fetch);
      if (held?.text !== text) held = { set: readKeySet(entries), text, at: now };
      else held = { ...held, at: now };
      if (isDown) report("info", "can be fetched again.");
      isDown = false;
    } catch (error) {
      if (!(error instanceof KeySetFault)) throw error;
      isDown = true;
      const until = held === null ? null : new Date(held.at + usableMs).toISOString();
      const meanwhile = until === null ? "Its tokens get 503." : `The previous keys are used until ${until}.`;
      report("error", `cannot be fetched: ${error.message}. ${meanwhile}`);
    }
  }

  function readKeySet(entries: readonly unknown[]): KeySet {
    const jwks = entries.filter(isObject);
    const open = jwks.filter((jwk) => !isSecret(jwk));
    const secret = jwks.length - open.length;
    const keys = open.flatMap((jwk) => readKey(jwk, algorithms));
    if (secret > 0) report("error", `contain ${secret} private or symmetric ones, which are not used.`);
    if (keys.length === 0) report("error", `contain none for ${algorithms.join(", ")}: its tokens are refused.`);
    return {
      find: (kid, alg) =>
        choose(
          keys.filter((each) => each.alg === alg),
          kid,
        ),
    };
  }

  function requireUsable(now: number): KeySet {
    if (held !== null && isWithin(usableMs, held.at, now)) return held.set;
    throw unavailable(issuer, triedAt + floorMs - now);
  }

  function report(level: "error" | "info", what: string): void {
    observe({ kind: "notice", level, message: `The keys of the issuer ${issuer} ${what}` });
  }

  return {
    current(now) {
      if (held !== null && isWithin(freshMs, held.at, now)) return held.set;
      return after(refresh(now), () => requireUsable(now));
    },
    lookAgain: (now) => after(refresh(now), () => requireUsable(now)),
  };
}

/**
 * Returns true if the time is within a span after `since`. Returns false if the clock was set back by more than the
 * span.
 */
function isWithin(spanMs: number, since: number, now: number): boolean {
  return Math.abs(now - since) < spanMs;
}

/** Returns true if a key is private or symmetric. Such a key must not be in a published set (RFC 7517 §9.2). */
function isSecret(jwk: Readonly<Record<string, unknown>>): boolean {
  return (
    jwk["kty"] === "oct" || ["d", "k", "p", "q", "dp", "dq", "qi", "oth"].some((member) => Object.hasOwn(jwk, member))
  );
}

/** A published key and an algorithm that it verifies. */
interface PublishedKey {
  readonly kid: string | undefined;
  readonly alg: IssuerAlgorithm;
  readonly key: KeyObject;
}

/** Chooses among the keys for one algorithm. */
function choose(fitting: readonly PublishedKey[], kid: string | undefined): ChosenKey {
  const named = kid === undefined ? [] : fitting.filter((each) => each.kid === kid);
  if (named.length === 1) return { kind: "named", key: named[0]!.key };
  // Chooses neither of two keys with the same name.
  if (named.length > 1) return { kind: "none" };
  const [only, ...others] = kid === undefined ? fitting : fitting.filter((each) => each.kid === undefined);
  if (only === undefined) return { kind: "none" };
  return others.length === 0 ? { kind: "only", key: only.key } : { kind: "several" };
}

/** Returns one entry for each algorithm of the issuer that the key verifies. */
function readKey(
  jwk: Readonly<Record<string, unknown>>,
  algorithms: readonly IssuerAlgorithm[],
): readonly PublishedKey[] {
  const { kid, use, key_ops: operations, alg } = jwk;
  if ((kid !== undefined && typeof kid !== "string") || kid === "" || (use !== undefined && use !== "sig")) return [];
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes("verify"))) return [];
  const fitting = algorithms.filter((each) => (alg === undefined || alg === each) && fits(jwk, each));
  const key = fitting.length === 0 ? null : readPublicKey(jwk);
  return key === null ? [] : fitting.map((each) => ({ kid, alg: each, key }));
}

function fits({ kty, crv }: Readonly<Record<string, unknown>>, alg: IssuerAlgorithm): boolean {
  return keyShapes[alg].kty === kty && keyShapes[alg].crv === crv;
}

function readPublicKey({ kty, crv, x, y, n, e }: Readonly<Record<string, unknown>>): KeyObject | null {
  try {
    const jwk: Record<string, unknown> = { kty, crv, x, y, n, e };
    const key = createPublicKey({ key: jwk, format: "jwk" });
    const isShort = kty === "RSA" && (key.asymmetricKeyDetails?.modulusLength ?? 0) < minRSABits;
    return isShort ? null : key;
  } catch {
    return null;
  }
}

function unavailable(issuer: string, waitMs: number): Problem {
  const seconds = Math.max(1, Math.min(Math.ceil(waitMs / 1000), floorMs / 1000));
  return problem("unavailable", {
    detail: `The keys of ${issuer} cannot be fetched at the moment.`,
    headers: [["Retry-After", String(seconds)]],
  });
}
