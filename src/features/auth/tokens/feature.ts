import { aCookieName } from "../../../access/scheme/checking.ts";
import { withoutPrefix } from "../../../access/scheme/presented.ts";
import { aBoolean, optional, text } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { defineFeature, type Assembled, type Feature } from "../../../feature/feature.ts";
import type { Beginning } from "../gate/contract.ts";
import { DAY_SECONDS, livesMistakes, loginChecks, PRUNE_SECONDS, secondsFrom, requireOn } from "../people/options.ts";
import type { AccountsFeature, LoginOptions } from "../people/people.ts";
import { accessTokens, type AccessTokens } from "./access.ts";
import { actingEndpoint } from "./acting-endpoint.ts";
import { ACTING_SECONDS } from "./acting.ts";
import type { CookieNames } from "./cookies.ts";
import {
  keysEndpoint,
  tokenEndpoints,
  renewTokens,
  startTokens,
  type TokenOptions,
  type StartingParts,
} from "./endpoints.ts";
import { familiesCollection } from "./families.ts";
import { deadFamiliesCollection, refreshUsesCollection } from "./refresh-uses.ts";
import { bearer } from "./scheme.ts";
import { derivedSigningKeys, type SigningKeys } from "./signing-keys.ts";
import { watchSigningKeys } from "./signing-watched-keys.ts";
import { tokenPairs, type TokenPairs } from "./token-pairs.ts";

/** Options of `tokenLogin()`: the lifetimes of tokens, in seconds, and the keys that sign them. */
export interface TokenLoginOptions extends LoginOptions {
  /** The lifetime of an access token. Default: five minutes. At most that of a refresh token. */
  readonly accessSeconds?: number;
  /** The lifetime of a refresh token. Default: a week. At most `familySeconds`. */
  readonly refreshSeconds?: number;
  /** The total time that one login can be refreshed. Default: 30 days. */
  readonly familySeconds?: number;
  /** The time in which a used refresh token still returns the same successor. Default: 10. */
  readonly graceSeconds?: number;
  /**
   * Default: true. False: a refresh token stays valid until it expires, for clients that always send their first one.
   */
  readonly rotates?: boolean;
  /**
   * A JWK Set file whose first private key signs. It is read again when it changes. Default: a key that is derived from
   * the service's secret.
   */
  readonly signingKeysFile?: string;
  /** The name of the cookie of the access token. Default: `access_token`. Over TLS, it begins with `__Host-`. */
  readonly accessCookie?: string;
  /** The name of the cookie of the refresh token. Default: `refresh_token`. Over TLS, it begins with `__Secure-`. */
  readonly refreshCookie?: string;
}

/** The parts that `tokenLogin()` offers. */
export interface TokenLogin {
  readonly pairs: TokenPairs;
  /** Verifies access tokens. Only a token pair makes them. */
  readonly access: Omit<AccessTokens, "issue" | "issueActing">;
  readonly keys: SigningKeys;
  /**
   * Starts a token pair, for
   * `logins.beginLogin(context, { account, proofs, begin: tokens.begin, options: { cookie: false } })`. The response
   * has the pair in its body or, with `cookie: true`, as cookies. For cookies, ends the request (403) if a page of
   * another site sent it.
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
 * Login with a pair of tokens: a JWT that is valid for some minutes, and a refresh token for the next pair. The
 * response has them in the body or in cookies. Serves `/api/token/`, `/api/token/refresh/`, `/api/token/verify/`,
 * `Authorization: Bearer`, and the public keys. Needs the service's secret.
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
      const { store, secret, observe, throttle } = host;
      const { accounts, logins, endings } = host.use(people);
      const { issuer, identityFields: fields, roles } = accounts.declared;
      const keys = file === undefined ? derivedSigningKeys(secret) : watchSigningKeys(file, { observe });
      const access = accessTokens({
        keys,
        issuer,
        lifetimeSeconds: accessSeconds,
        revocations: endings,
        accounts,
        fields,
        roles,
      });
      const lifetimes = { refreshSeconds, familySeconds, graceSeconds, rotates };
      const pairs = tokenPairs({
        store,
        accounts,
        access,
        revocations: endings,
        secret,
        issuer,
        observe,
        isEnough: logins.isEnough,
        ...lifetimes,
      });
      const scheme = bearer({ access, cookie: accessCookie });
      const others = () => host.service().schemes.filter((each) => each.name === scheme.name && each !== scheme);
      const parts = { logins, throttle, pairs, keys, cookies, scheme, others };
      const beginning = tokenBeginning(enabled, () => parts);
      // If token login is off, it is not registered. Logins that still wait for a second factor then expire.
      const begin = enabled ? logins.registerLogin(beginning) : beginning;
      endings.rememberRevocations(Math.max(accessSeconds, ACTING_SECONDS));
      endings.registerTable("password", familiesCollection);
      endings.registerLoginSource({
        list: (userId, page, { family = null }) => pairs.list(userId, page, family),
        endOne: (userId, id, now) => pairs.endOne(userId, id, now),
      });
      return {
        offer: { pairs, access, keys, begin },
        schemes: enabled ? [scheme] : [],
        endpoints: [
          ...(enabled ? [...tokenEndpoints({ ...parts, begin }), actingEndpoint({ accounts, logins, access })] : []),
          keysEndpoint(parts),
        ],
        collections: [refreshUsesCollection, deadFamiliesCollection, familiesCollection],
        upkeep: [
          // Erases each nonce soon after the grace window (`graceSeconds`) of its token has closed.
          { everySeconds: 1, due: (now) => pairs.sweep(now) },
          { everySeconds: PRUNE_SECONDS, due: (now) => pairs.prune(now) },
        ],
        mistakes: (all) => cookieNameMistakes(refreshCookie, all),
        tags: { tokens: "Login and logout with tokens." },
      };
    },
  });
}

function cookieMistakes({ access, refresh }: CookieNames): readonly string[] {
  return access === refresh ? [`accessCookie and refreshCookie are both called ${access}; rename one`] : [];
}

/**
 * Returns a mistake for each scheme that reads a cookie with the name of the refresh cookie. Cookie names have no
 * prefix over cleartext, so the browser would send two cookies with one name.
 */
function cookieNameMistakes(refreshCookie: string, { schemes }: Assembled): readonly string[] {
  return schemes
    .filter(({ carriers }) =>
      carriers.some((carrier) => carrier.in === "cookie" && withoutPrefix(carrier.name) === refreshCookie),
    )
    .map(
      ({ name }) => `refreshCookie is ${refreshCookie}, and the scheme ${name} reads a cookie of that name; rename one`,
    );
}

/** A token pair as a kind of login. */
function tokenBeginning(enabled: boolean, parts: () => StartingParts): Beginning<TokenOptions> {
  return {
    name: "tokens",
    carriedIn: ({ cookie }) => (cookie ? "cookie" : "text"),
    start(context, admission, options) {
      requireOn(enabled, "token-login");
      return startTokens(parts(), context, admission, options);
    },
    current(context) {
      const { family } = context.requireIdentity();
      const cookie = context.call.header("authorization") === undefined;
      return family === undefined ? null : { id: family, options: { cookie } };
    },
    renew: (context, admission, current) => renewTokens(parts(), context, admission, current),
    isLive: (family) => parts().pairs.isLive(family),
  };
}
