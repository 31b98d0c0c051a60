import { makeSideBySide } from "../../../access/throttle/side-by-side.ts";
import type { LoginThrottle } from "../../../access/throttle/throttle.ts";
import type { Call } from "../../../core/call/call.ts";
import { formatNetwork, formatSite } from "../../../core/call/trusted-proxies.ts";
import { aFunction, anObject, optional, orNull, wholeFrom } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { isCommonPassword } from "../../../core/crypto/common-passwords.ts";
import {
  decoyHash,
  hashPassword,
  isKnownFormat,
  markHash,
  needsUpgrade,
  usualCost,
  verifyPassword,
  type PasswordCost,
} from "../../../core/crypto/password-hash.ts";
import type { Proof } from "../../../core/identity.ts";
import type { Issue } from "../../../core/problem/problem.ts";
import { aTracer } from "../../../core/tracer.ts";
import type { Tracer } from "../../../core/tracer.ts";
import { updateAll } from "../../../http/declarations/table.ts";
import { fold } from "../../../store/fold.ts";
import { StoreUnavailable, type Store } from "../../../store/store.ts";
import { accountsCollection, isPossibleName, type Account, type Accounts } from "../records/accounts.ts";
import { equals } from "../records/conditions.ts";
import { foldName } from "../records/names.ts";
import { makeHashQueue, type Asker } from "./hash-queue.ts";

/** Checks and hashes passwords. All hashes of the process are computed here, so they can be counted. */
export interface Passwords {
  /**
   * Returns the active account with this name and password. Otherwise returns null, in the same time for every reason.
   * Also refuses a one-time password, because it is valid only for a login. Counts failures, and replaces a hash of
   * another format. Throws 429 before any hash is computed, and 503 if too many hashes wait.
   */
  verify(call: Call, username: string, password: string): Promise<Account | null>;
  /**
   * Checks the password of a user who is logged in and proves their identity again. A one-time password stays valid for
   * this after its login.
   */
  prove(call: Call, username: string, password: string): Promise<Account | null>;
  /**
   * Checks the password of a login, as its first step. Writes only a failure: `logins.beginLogin` writes the rest when
   * the login is complete. A one-time password is valid for it once.
   */
  login(call: Call, username: string, password: string): Promise<ProvedPassword | null>;
  /**
   * Hashes the password of a new account, in turn with the other hashes of the caller's address. `caller` is the
   * caller's id, if the caller is known. `call` is null if the service itself sets the password. Throws 503 if too many
   * hashes wait.
   */
  hash(call: Call | null, password: string, caller?: string): Promise<string>;
  /** Hashes a new password of an existing account like `hash`, in the form that its factors need. */
  hashFor(owner: Pick<Account, "factors">, call: Call | null, password: string, caller?: string): Promise<string>;
  /** Returns the number of hashes that are computed and the number that wait. */
  load(): { readonly running: number; readonly waiting: number };
}

/** An account whose password was right. */
export interface ProvedPassword {
  /** The account, with its password hash in the service's own format, in the form that its factors need. */
  readonly account: Account;
  readonly proofs: readonly [Proof];
  /** The stored hash. Differs from `account.passwordHash` if the stored one has another format or cost. */
  readonly storedHash: string | null;
}

/** The parts of `makePasswords()`, and the cost of a hash. */
export interface PasswordsOptions {
  readonly accounts: Accounts;
  readonly store: Store;
  readonly throttle: LoginThrottle;
  /** The number of hashes that are computed at the same time. */
  readonly cores: number;
  /** The cost of a hash. Default: the OWASP recommendation. Other hashes are replaced at the next login. */
  readonly cost?: PasswordCost;
  /** Returns true if the account needs more than a password. A right password then writes nothing. Default: false. */
  readonly needsMore?: (account: Account) => boolean;
  /** Traces each hash, including the wait for its turn. */
  readonly tracer?: Tracer | null;
}

/** The number of hashes that may wait for their turn. */
const MAX_WAITING = 64;
/** The number of waiting places that are reserved for logins from an address that the account has used before. */
const RESERVED_FOR_KNOWN = 16;

const checks: ChecksOf<PasswordsOptions> = {
  store: anObject,
  accounts: anObject,
  throttle: anObject,
  cores: wholeFrom(1),
  cost: optional(anObject),
  tracer: optional(orNull(aTracer)),
  needsMore: optional(aFunction),
};

/**
 * Makes the part that checks and hashes all passwords of a process. A process needs only one, because one queue must
 * order all hashes.
 */
export function makePasswords(options: PasswordsOptions): Passwords {
  requireOptions(options, checks, { of: "makePasswords" });
  const { accounts, store, throttle, cores, cost = usualCost, tracer = null, needsMore = () => false } = options;
  const queue = makeHashQueue({ running: cores, waiting: MAX_WAITING, reserved: RESERVED_FOR_KNOWN });
  const hold: typeof queue.hold =
    tracer === null ? queue.hold : (asker, work) => tracer.part("hash", {}, () => queue.hold(asker, work));
  const sideBySide = makeSideBySide();

  async function loadAsker(call: Call, name: string): Promise<Asker> {
    return buildAsker(call, { account: fold(name), isKnown: await throttle.isKnown(call, name) });
  }

  async function check(call: Call, username: string, password: string, purpose: Purpose): Promise<Checked | null> {
    queue.requirePlace(await loadAsker(call, username));
    const account = isPossibleName(username) ? await accounts.findByUsername(username) : null;
    // Everything counts for the stored spelling, because equal names are one account. The spellings of a name without
    // an account count together too. Otherwise the counts would reveal which accounts exist.
    const name = account?.username ?? foldName(username);
    // Also for the typed spelling. Otherwise the number of reads would reveal it.
    const asker = await loadAsker(call, name);
    const rooms = () => throttle.look(call, name);
    await rooms();
    // Checked again, because other attempts may have failed while this one waited. So concurrent attempts cannot exceed
    // the limit.
    const checked = await hold(asker, (place) =>
      sideBySide(rooms, async () => {
        const good = await place.run(() => checkAccount(account, password, { cost, now: call.now, purpose }));
        if (good !== null && (await isAsItWas(accounts, good))) return good;
        await throttle.fail(call, name);
        return null;
      }),
    );
    return checked === null ? null : { before: account!, after: checked };
  }

  /** Checks a password outside of a login. Writes the results, unless the account needs more than a password. */
  async function verify(call: Call, username: string, password: string, purpose: Purpose): Promise<Account | null> {
    const checked = await check(call, username, password, purpose);
    if (checked === null) return null;
    if (!needsMore(checked.after)) await keep(call, checked);
    return checked.after;
  }

  /**
   * Stores the results of a right password: the known address, the hash in the present format, and no expiry of the
   * password.
   */
  async function keep(call: Call, { before, after }: Checked): Promise<void> {
    const values = {
      ...(after.passwordHash === before.passwordHash ? {} : { password_hash: after.passwordHash }),
      // The user has logged in with the generated password, so it no longer expires.
      ...(before.passwordUntil === null || (before.passwordOnce ?? null) !== null ? {} : { password_until: null }),
    };
    const passed = await throttle.pass(call, before.username);
    if (Object.keys(values).length === 0 && passed.length === 0) return;
    // Another request may have changed the password after the check. Then these values are not written.
    const where = { all: [equals("id", before.id), equals("password_hash", before.passwordHash)] };
    try {
      const learned = updateAll(accountsCollection, { where, values });
      await store.write({ changes: Object.keys(values).length === 0 ? passed : [learned, ...passed] });
    } catch (error) {
      // A full disk does not lock a user out. The missing results are written the next time, and the store has logged
      // the error.
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }

  const hashOnce = rememberHashes((asker, password) =>
    hold(asker, (place) => place.run(() => hashPassword(password, cost))),
  );

  return {
    verify: (call, username, password) => verify(call, username, password, "verify"),
    prove: (call, username, password) => verify(call, username, password, "prove"),
    async login(call, username, password) {
      const checked = await check(call, username, password, "login");
      return checked === null ? null : proved(checked, call.now);
    },
    hash: hashOnce,
    hashFor: async ({ factors = 0 }, ...hashed) => markHash(await hashOnce(...hashed), factors),
    load: queue.load,
  };
}

/** A write that is repeated after a conflict reuses its hash. The entries are deleted with their calls. */
function rememberHashes(hash: (asker: Asker, password: string) => Promise<string>): Passwords["hash"] {
  const newest = new WeakMap<Call, { readonly password: string; readonly hash: Promise<string> }>();
  return (call, password, account = "") => {
    const known = call === null ? undefined : newest.get(call);
    if (known?.password === password) return known.hash;
    const made = hash(buildAsker(call, { account, isKnown: false }), password);
    if (call !== null) newest.set(call, { password, hash: made });
    return made;
  };
}

/**
 * Reads the account again after the wait. A password that was changed in the meantime is wrong, and a deactivated user
 * is rejected.
 */
async function isAsItWas(accounts: Accounts, { id, generation }: Account): Promise<boolean> {
  const now = await accounts.find(id);
  return now !== null && now.active && now.generation === generation;
}

/** The stored account, and the account after a right password. */
interface Checked {
  readonly before: Account;
  readonly after: Account;
}

/** Returns the result of a right password. */
function proved({ before, after }: Checked, now: number): ProvedPassword {
  return { account: after, proofs: [{ method: "pwd", at: now }], storedHash: before.passwordHash };
}

function buildAsker(call: Call | null, caller: Pick<Asker, "account" | "isKnown">): Asker {
  const address = call?.client.address ?? "";
  return { site: formatSite(address), address: formatNetwork(address), ...caller };
}

/** The conditions of a check, in addition to the password. */
interface Checking {
  readonly cost: PasswordCost;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly purpose: Purpose;
}

/** The use of a password: with every request, for a login, or to prove the identity again. */
type Purpose = "verify" | "login" | "prove";

async function checkAccount(account: Account | null, password: string, checking: Checking): Promise<Account | null> {
  const matches = await matchesAccount(account, password, checking);
  return matches && account !== null ? upgraded(account, password, checking.cost) : null;
}

/**
 * Compares the password with the account's hash. A hash is always computed, so the time does not reveal which accounts
 * exist.
 */
async function matchesAccount(
  account: Account | null,
  password: string,
  { cost, now, purpose }: Checking,
): Promise<boolean> {
  const stored = account?.passwordHash ?? null;
  const isUsable = stored !== null && isKnownFormat(stored);
  const matches = await verifyPassword(isUsable ? stored : decoyHash(cost), password);
  return (
    matches && isUsable && account !== null && account.active && !isTooLate(account, now) && isFor(purpose, account)
  );
}

/** True if a generated password was not used within its lifetime. */
function isTooLate({ passwordUntil }: Account, now: number): boolean {
  return passwordUntil !== null && Date.parse(passwordUntil) <= now;
}

function isFor(purpose: Purpose, { passwordOnce = null }: Account): boolean {
  return passwordOnce === null || purpose === "prove" || (purpose === "login" && passwordOnce === "unused");
}

async function upgraded(account: Account, password: string, cost: PasswordCost): Promise<Account> {
  const { passwordHash: stored, factors = 0 } = account;
  if (stored === null) return account;
  const hash = needsUpgrade(stored, cost) ? await hashPassword(password, cost) : stored;
  return { ...account, passwordHash: markHash(hash, factors) };
}

const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/;

/**
 * Returns the mistake in a new password, or null if there is none. `serviceNames` are the names of the service. The
 * pointer is `/password`.
 */
export function checkNewPassword(
  password: string,
  account: { readonly username: string; readonly email: string | null },
  serviceNames: readonly string[] = [],
): Issue | null {
  const issue = (code: string, detail: string): Issue => ({ pointer: "/password", code, detail });
  // Counts code points, as every text field does. More than 512 code units always have more than 256 code points.
  const length = password.length > 512 ? password.length : [...password].length;
  if (length < 8) return issue("too_short", "The password must have at least 8 characters.");
  if (length > 256) return issue("too_long", "The password must have at most 256 characters.");
  if (controlCharacter.test(password) || !password.isWellFormed())
    return issue("invalid", "The password must not contain control characters.");
  if (isCommonPassword(password)) return issue("too_common", "The password is one of the most common ones.");
  const isSame = (other: string): boolean => fold(password) === fold(other);
  if (isSame(account.username)) return issue("same_as_username", "The password must not be the username.");
  if (account.email !== null && isSame(account.email))
    return issue("same_as_email", "The password must not be the e-mail.");
  if (serviceNames.some(isSame)) return issue("same_as_service", "The password must not be the service's name.");
  return null;
}
