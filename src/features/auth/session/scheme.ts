import { aCookieName } from "../../../access/scheme/checking.ts";
import { absent, accepted, rejected, type Scheme, type Verdict } from "../../../access/scheme/scheme.ts";
import { anObject, optional } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { after } from "../../../core/eventually.ts";
import { provedBy } from "../../../core/levels.ts";
import { builtInScheme } from "../gate/built-in-schemes.ts";
import { identityOf, type Account, type Accounts } from "../records/accounts.ts";
import type { Sessions, StoredSession } from "./sessions.ts";

/** Options of `session()`: the stores of sessions and accounts. */
export interface SessionOptions {
  readonly sessions: Pick<Sessions, "find">;
  readonly accounts: Accounts;
  /** The name of the cookie. Default: `session`. Over TLS it starts with `__Host-`. */
  readonly cookie?: string;
}

const checks: ChecksOf<SessionOptions> = { sessions: anObject, accounts: anObject, cookie: optional(aCookieName) };

/** Accepts sessions: cookies whose values are looked up in the store. */
export function session(options: SessionOptions): Scheme {
  requireOptions(options, checks, { of: "session" });
  const { sessions, accounts, cookie = "session" } = options;
  return builtInScheme({
    name: "session",
    carriers: [{ in: "cookie", name: cookie, hostPrefix: true }],
    proves: "each",
    authenticate(id, { now }) {
      if (!SESSION_ID.test(id)) return absent;
      return after(sessions.find(id, now), (found): Verdict | Promise<Verdict> => {
        // The reason is not "unknown", because that reason counts as a guess. An id of 256 bits cannot be guessed, so
        // the cookie is from an earlier session.
        if (found === null) return expired;
        return after(accounts.find(found.userId), (account) => judge(found, account));
      });
    },
  });
}

/** 256 bits in base64url. Any other cookie of that name belongs to another program on this host. */
const SESSION_ID = /^[\w-]{43}$/;

function judge(found: StoredSession, account: Account | null): Verdict {
  if (account === null || account.generation !== found.generation) return revoked;
  if (!account.active) return inactive;
  const { expiresAt, key: sessionId, proofs } = found;
  return accepted(identityOf(account, "session", { expiresAt, sessionId, ...provedBy(proofs) }));
}

const ended = "The session of the cookie is expired or revoked. Remove the cookie, or log in again.";
const expired = rejected("expired", ended);
const revoked = rejected("revoked", ended);
const inactive = rejected("inactive", ended);
