import { aCookieName } from "../../../access/scheme/checking.ts";
import { withoutPrefix } from "../../../access/scheme/presented.ts";
import { aBoolean, optional, text } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { defineFeature, type Assembled, type Feature } from "../../../feature/feature.ts";
import type { Beginning } from "../gate/contract.ts";
import type { AccountsFeature, LoginOptions } from "../login.ts";
import { DAY_SECONDS, livesMistakes, loginChecks, PRUNE_SECONDS, secondsFrom } from "../options.ts";
import { accessTokens, type AccessTokens } from "./access.ts";
import { tokenBeginning } from "./beginning.ts";
import type { CookieNames } from "./cookies.ts";
import { keysEndpoint, tokenEndpoints, type TokenOptions } from "./endpoints.ts";
import { familiesCollection } from "./families.ts";
import { deadFamiliesCollection, refreshUsesCollection } from "./refresh-uses.ts";
import { bearer } from "./scheme.ts";
import { derivedSigningKeys, type SigningKeys } from "./signing-keys.ts";
import { watchSigningKeys } from "./signing-watched-keys.ts";
import { tokenPairs, type TokenPairs } from "./token-pairs.ts";

/** Options of `tokenLogin()`: how long tokens live, in seconds, and with which keys they are signed. */
export interface TokenLoginOptions extends LoginOptions {
  /** How long an access token lives; five minutes where it is left out. Not longer than a refresh token. */
  readonly accessSeconds?: number;
  /** How long a refresh token lives; a week where it is left out. Not longer than a login can be refreshed. */
  readonly refreshSeconds?: number;
  /** How long one login can be refreshed in all; 30 days where it is left out. */
  readonly familySeconds?: number;
  /** How long a used refresh token still gives the same successor; 10 where it is left out. */
  readonly graceSeconds?: number;
  /** True where it is left out. False: a refresh token stays good until it expires, for clients that keep their first one. */
  readonly rotates?: boolean;
  /** A JWK Set file whose first private key signs, read again when it changes; a key derived from the service's secret where it is left out. */
  readonly signingKeysFile?: string;
  /** The name of the cookie of the access token; `access_token` where it is left out. Over TLS it begins with `__Host-`. */
  readonly accessCookie?: string;
  /** The name of the cookie of the refresh token; `refresh_token` where it is left out. Over TLS it begins with `__Secure-`. */
  readonly refreshCookie?: string;
}

/** What `tokenLogin()` offers. */
export interface TokenLogin {
  readonly pairs: TokenPairs;
  /** Verifies access tokens. A token pair makes them. */
  readonly access: Omit<AccessTokens, "issue">;
  readonly keys: SigningKeys;
  /**
   * A token pair, for `people.beginLogin(context, { account, proofs, begin: tokens.begin, options: { cookie: false } })`: the answer gives
   * the pair in its body or, with `cookie: true`, as cookies. Ends the request (403) if a page of another site sent it for cookies.
   */
  readonly begin: Beginning<TokenOptions>;
}

const checks: ChecksOf<TokenLoginOptions> = {
  ...loginChecks,
  accessSeconds: secondsFrom(1),
  refreshSeconds: secondsFrom(1),
  familySeconds: secondsFrom(1),
  graceSeconds: secondsFrom(0),
  rotates: optional(aBoolean),
  signingKeysFile: optional(text),
  accessCookie: optional(aCookieName),
  refreshCookie: optional(aCookieName),
};

/**
 * Logging in for a pair of tokens, a JWT for some minutes and one that gives the next pair, in the body or as cookies:
 * `/api/token/`, `/api/token/refresh/`, `/api/token/verify/`, `Authorization: Bearer`, and the public keys. Needs the service's secret.
 *
 * @example
 * ```ts
 * import { accounts, tokenLogin } from "latchkey";
 *
 * const people = accounts({ registration: "open" });
 * export const features = [people, tokenLogin(people, { accessSeconds: 300 })];
 * ```
 */
export function tokenLogin(people: AccountsFeature, options: TokenLoginOptions = {}): Feature<TokenLogin> {
  const { enabled = true, signingKeysFile: file, graceSeconds = 10, rotates = true } = options ?? {};
  const {
    familySeconds = 30 * DAY_SECONDS,
    accessCookie = "access_token",
    refreshCookie = "refresh_token",
  } = options ?? {};
  const cookies = { access: accessCookie, refresh: refreshCookie };
  const { refreshSeconds = Math.min(7 * DAY_SECONDS, familySeconds) } = options ?? {};
  const { accessSeconds = Math.min(300, refreshSeconds) } = options ?? {};
  return defineFeature({
    name: "token-login",
    needs: [people],
    setUp(host) {
      const lives = livesMistakes({ accessSeconds, refreshSeconds, familySeconds });
      requireOptions(options, checks, { more: [...lives, ...cookieMistakes(cookies)] });
      const { store, secret, observe } = host;
      const offered = host.use(people);
      const { accounts, revocations, issuer, identityFields: fields, roles } = offered;
      const keys = file === undefined ? derivedSigningKeys(secret) : watchSigningKeys(file, { observe });
      const access = accessTokens({
        keys,
        issuer,
        lifetimeSeconds: accessSeconds,
        revocations,
        accounts,
        fields,
        roles,
      });
      const lifetimes = { refreshSeconds, familySeconds, graceSeconds, rotates };
      const { isEnough } = offered;
      const pairs = tokenPairs({
        store,
        accounts,
        access,
        revocations,
        secret,
        issuer,
        observe,
        isEnough,
        ...lifetimes,
      });
      const scheme = bearer({ access, cookie: accessCookie });
      const others = () => host.service().schemes.filter((each) => each.name === scheme.name && each !== scheme);
      const parts = { people: offered, pairs, keys, cookies, others };
      const begin = offered.begins(tokenBeginning(enabled, () => parts));
      offered.rememberRevocations(accessSeconds);
      offered.endsWith("password", familiesCollection);
      offered.listLogins({
        list: (userId, page, { family = null }) => pairs.list(userId, page, family),
        endOne: (userId, id, now) => pairs.endOne(userId, id, now),
      });
      return {
        offer: { pairs, access, keys, begin },
        schemes: enabled ? [scheme] : [],
        endpoints: [...(enabled ? tokenEndpoints({ ...parts, begin }) : []), keysEndpoint(parts)],
        collections: [refreshUsesCollection, deadFamiliesCollection, familiesCollection],
        upkeep: [
          // The nonces of closed windows are to be gone as soon as they are.
          { everySeconds: 1, due: (now) => pairs.sweep(now) },
          { everySeconds: PRUNE_SECONDS, due: (now) => pairs.prune(now) },
        ],
        mistakes: (all) => otherReaders(refreshCookie, all),
        tags: { tokens: "Logging in with tokens, and out." },
      };
    },
  });
}

function cookieMistakes({ access, refresh }: CookieNames): readonly string[] {
  return access === refresh ? [`accessCookie and refreshCookie are both called ${access}; rename one`] : [];
}

/** Over cleartext there are no prefixes, and a browser would send two cookies of one name. */
function otherReaders(refreshCookie: string, { schemes }: Assembled): readonly string[] {
  return schemes
    .filter(({ carriers }) =>
      carriers.some((carrier) => carrier.in === "cookie" && withoutPrefix(carrier.name) === refreshCookie),
    )
    .map(
      ({ name }) => `refreshCookie is ${refreshCookie}, and the scheme ${name} reads a cookie of that name; rename one`,
    );
}
