import { accepted, rejected, type Scheme, type Verdict } from "../../../access/scheme/scheme.ts";
import type { Call } from "../../../core/call/call.ts";
import { requireSecureTransport } from "../../../core/call/transport.ts";
import { anObject } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { after, type Eventually } from "../../../core/eventually.ts";
import { builtInScheme } from "../gate/built-in-schemes.ts";
import type { Passwords } from "../passwords/passwords.ts";
import { identityOf, type Account, type Accounts } from "../records/accounts.ts";
import { parseBasicCredentials } from "./credentials.ts";
import { makeVerifiedMemory } from "./verified-memory.ts";

/** The parts of `basic()`: accounts, and the password check. */
export interface BasicOptions {
  readonly accounts: Accounts;
  readonly passwords: Pick<Passwords, "verify">;
}

const name = "basic";
const wrong = rejected("password", "No active account found with the given credentials");
const malformed = rejected("malformed", "The Basic credentials are malformed.");

const checks: ChecksOf<BasicOptions> = { accounts: anObject, passwords: anObject };

/** Username and password with every request (RFC 7617, UTF-8), over TLS or from this machine. */
export function basic(options: BasicOptions): Scheme {
  requireOptions(options, checks, { of: "basic" });
  const { accounts, passwords } = options;
  const memory = makeVerifiedMemory();
  const running = new Map<string, Promise<Account | null>>();

  function authenticate(credential: string, call: Call): Eventually<Verdict> {
    // Checked first: over cleartext, a right password must get the same response as a wrong one.
    requireSecureTransport(call);
    const key = memory.deriveKey(credential);
    const remembered = memory.find(key, call.now);
    if (remembered === null) return verify(key, credential, call);
    return after(accounts.find(remembered.id), (account) => {
      if (account !== null && account.active && isSameLogin(account, remembered))
        return accepted(identityOf(account, name, { authTime: call.now }));
      memory.forget(key);
      return verify(key, credential, call);
    });
  }

  async function verify(key: string, credential: string, call: Call): Promise<Verdict> {
    const parsed = parseBasicCredentials(credential);
    if (parsed === null) return malformed;
    // Concurrent requests with the same credential wait for one hash. Only a success is shared: every failure counts.
    const pending = running.get(key);
    const shared = pending === undefined ? null : await pending.catch(() => null);
    const account = shared ?? (await verifyAlone(key, call, parsed.username, parsed.password));
    return account === null ? wrong : accepted(identityOf(account, name, { authTime: call.now }));
  }

  async function verifyAlone(key: string, call: Call, username: string, password: string): Promise<Account | null> {
    const verification = passwords.verify(call, username, password);
    if (!running.has(key)) running.set(key, verification);
    try {
      const account = await verification;
      if (account !== null) memory.remember(key, account, call.now);
      return account;
    } finally {
      if (running.get(key) === verification) running.delete(key);
    }
  }

  return builtInScheme({
    name,
    carriers: [{ in: "authorization", scheme: "Basic" }],
    proves: ["pwd"],
    rejectedAs: "invalid_credentials",
    authenticate,
    challenge(call) {
      // A challenge to a script would open the browser's own password dialog over the page.
      const mode = call.header("sec-fetch-mode");
      return mode === undefined || mode === "navigate" ? `Basic realm="${call.realm}", charset="UTF-8"` : null;
    },
  });
}

/**
 * True if the remembered login is still valid. It ends if the password or username changes, or if all logins of the
 * account end.
 */
function isSameLogin(now: Account, then: Account): boolean {
  return now.passwordHash === then.passwordHash && now.generation === then.generation && now.username === then.username;
}
