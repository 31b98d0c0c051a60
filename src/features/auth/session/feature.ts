import { aCookieName } from "../../../access/scheme/checking.ts";
import { optional } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { defineFeature, type Feature } from "../../../feature/feature.ts";
import type { Beginning } from "../gate/contract.ts";
import { DAY_SECONDS, livesMistakes, loginChecks, PRUNE_SECONDS, requireOn, secondsFrom } from "../people/options.ts";
import type { AccountsFeature, LoginOptions } from "../people/people.ts";
import { renewSession, sessionEndpoints, startSession } from "./endpoints.ts";
import { session } from "./scheme.ts";
import { sessions, sessionsCollection, type Sessions } from "./sessions.ts";

/** Options of `sessionLogin()`: the lifetimes of a session, in seconds, and the name of its cookie. */
export interface SessionLoginOptions extends LoginOptions {
  /** The lifetime of an unused session. Default: a day. At most `lifetimeSeconds`. */
  readonly idleSeconds?: number;
  /** The total lifetime of a session. Default: two weeks. */
  readonly lifetimeSeconds?: number;
  /** The name of the cookie. Default: `session`. Over TLS it starts with `__Host-`. */
  readonly cookie?: string;
}

/** The members that `sessionLogin()` offers. */
export interface SessionLogin {
  readonly sessions: Sessions;
  /**
   * The kind of login that starts a session, for
   * `logins.beginLogin(context, { account, proofs, begin: sessions.begin, options: {} })`. The response sets the
   * cookie. Ends the request with 403 if a page of another site sent it.
   */
  readonly begin: Beginning<{}>;
}

const checks: ChecksOf<SessionLoginOptions> = {
  ...loginChecks,
  idleSeconds: secondsFrom(1),
  lifetimeSeconds: secondsFrom(1),
  cookie: optional(aCookieName),
};

/**
 * Logs users in with a session cookie. `/api/session/` accepts JSON, XML and the form of a page.
 *
 * @example
 * ```ts
 * import { accounts, sessionLogin } from "latchkey";
 *
 * const people = accounts({ registration: "open" });
 * export const features = [people, sessionLogin(people, { idleSeconds: 3600, cookie: "shop" })];
 * ```
 */
export function sessionLogin(people: AccountsFeature, options: SessionLoginOptions = {}): Feature<SessionLogin> {
  const { enabled = true, lifetimeSeconds = 14 * DAY_SECONDS, cookie = "session" } = options ?? {};
  const { idleSeconds = Math.min(DAY_SECONDS, lifetimeSeconds) } = options ?? {};
  return defineFeature({
    name: "session-login",
    needs: [people],
    setUp({ use, store, observe, ownOrigins, service }) {
      requireOptions(options, checks, { more: livesMistakes({ idleSeconds, lifetimeSeconds }) });
      const sessionStore = sessions({ store, idleSeconds, lifetimeSeconds, observe });
      const { accounts, logins, endings } = use(people);
      const parts = { accounts, logins, sessions: sessionStore, cookie, ownOrigins };
      const beginning: Beginning<{}> = {
        name: "session",
        carriedIn: () => "cookie",
        start(context, admission) {
          requireOn(enabled, "session-login");
          return startSession(parts, context, admission);
        },
        current(context) {
          const { sessionId } = context.requireIdentity();
          return sessionId === undefined ? null : { id: sessionId, options: {} };
        },
        renew: (context, admission, current) => renewSession(parts, context, admission, current),
        isLive: (id, now) => sessionStore.isLive(id, now),
      };
      // If this login is off, it is not registered. Logins that still wait for a second factor then expire.
      const begin = enabled ? logins.registerLogin(beginning) : beginning;
      endings.registerTable("password", sessionsCollection);
      endings.registerLoginSource({
        list: (userId, page, { sessionId = null }) => sessionStore.list(userId, page, sessionId),
        endOne: (userId, id) => sessionStore.endOne(userId, id),
      });
      return {
        offer: { sessions: sessionStore, begin },
        schemes: enabled ? [session({ sessions: sessionStore, accounts, cookie })] : [],
        endpoints: enabled
          ? sessionEndpoints({ ...parts, begin, factorPage: () => service().pages?.factor ?? null })
          : [],
        collections: [sessionsCollection],
        upkeep: [{ everySeconds: PRUNE_SECONDS, due: (now) => sessionStore.prune(now) }],
        tags: { session: "Login and logout with a session cookie." },
      };
    },
  });
}
