import { makeSideBySide } from "../../../../access/throttle/side-by-side.ts";
import type { LoginThrottle } from "../../../../access/throttle/throttle.ts";
import type { Call } from "../../../../core/call/call.ts";
import { formatNetwork, formatSite } from "../../../../core/call/trusted-proxies.ts";
import { aFunction, anObject, optional, orNull, wholeFrom } from "../../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../../core/checking/options.ts";
import { isCommonPassword } from "../../../../core/crypto/common-passwords.ts";
import {
  decoyHash,
  hashPassword,
  isKnownFormat,
  needsUpgrade,
  usualCost,
  verifyPassword,
  type PasswordCost,
} from "../../../../core/crypto/password-hash.ts";
import type { Proof } from "../../../../core/identity.ts";
import type { Issue } from "../../../../core/problem/problem.ts";
import { aTracer } from "../../../../core/tracer.ts";
import type { Tracer } from "../../../../core/tracer.ts";
import { fold } from "../../../../store/fold.ts";
import { StoreUnavailable, type Change, type Store, type WrittenValues } from "../../../../store/store.ts";
import { equals } from "../../conditions.ts";
import { accountsCollection, isPossibleName, type Account, type Accounts } from "../stored-accounts.ts";
import { makeHashQueue, type Asker } from "./hash-queue.ts";

/** Checks and makes passwords. Every hash of the process is computed here, so that they can be counted. */
export interface Passwords {
  /**
   * The active account with this name and password; null for every reason why there is none, in the same time: also for a one-time
   * password, which is for logins. Counts what is wrong, and replaces a hash of another format. Throws 429 before any hash, and 503 where too many wait.
   */
  verify(call: Call, username: string, password: string): Promise<Account | null>;
  /** The same for somebody who is logged in and shows again who they are: a one-time password is good for it after its login too. */
  prove(call: Call, username: string, password: string): Promise<Account | null>;
  /**
   * The same as the first step of a login, which writes nothing but a failure: `people.beginLogin` writes the rest when the login is
   * complete. A one-time password is good for it once.
   */
  login(call: Call, username: string, password: string): Promise<ProvedPassword | null>;
  /**
   * Hashes a new password, in turn with the other hashes of the caller's address; `account` is whoever asks, where that is known. Null: the
   * service itself asks. Throws 503 where too many wait.
   */
  hash(call: Call | null, password: string, account?: string): Promise<string>;
  /** How many hashes are computed and how many wait for their turn. */
  load(): { readonly running: number; readonly waiting: number };
}

/** An account whose password was right. */
export interface ProvedPassword {
  /** With its password hash in the service's own format. */
  readonly account: Account;
  readonly proofs: readonly [Proof];
  /** The hash as it is stored, which differs from the account's if it has another format. */
  readonly storedHash: string | null;
}

/** What `makePasswords()` is made of, and what a hash costs. */
export interface PasswordsOptions {
  readonly accounts: Accounts;
  readonly store: Store;
  readonly throttle: LoginThrottle;
  /** How many hashes are computed at once. */
  readonly cores: number;
  /** What a hash costs; as OWASP asks for it where it is left out. Other hashes are replaced at the next login. */
  readonly cost?: PasswordCost;
  /** Whether a password alone is not enough for the account. Then a right one writes nothing. False if it is left out. */
  readonly needsMore?: (account: Account) => boolean;
  /** Sees each hash, with the wait for its turn. */
  readonly tracer?: Tracer | null;
}

/** How many hashes may wait for their turn. */
const MAX_WAITING = 64;
/** How many of them are kept for logins from addresses that their account has used. */
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

/** Makes the one place of a process where passwords are checked. */
export function makePasswords(options: PasswordsOptions): Passwords {
  requireOptions(options, checks, { of: "makePasswords" });
  const { accounts, store, throttle, cores, cost = usualCost, tracer = null, needsMore = () => false } = options;
  const queue = makeHashQueue({ running: cores, waiting: MAX_WAITING, reserved: RESERVED_FOR_KNOWN });
  const hold: typeof queue.hold =
    tracer === null ? queue.hold : (asker, work) => tracer.part("hash", {}, () => queue.hold(asker, work));
  const sideBySide = makeSideBySide();

  async function check(call: Call, username: string, password: string, purpose: Purpose): Promise<Checked | null> {
    const isKnown = await throttle.isKnown(call, username);
    const asker = askerOf(call, { account: fold(username), isKnown });
    queue.requirePlace(asker);
    const account = isPossibleName(username) ? await accounts.findByUsername(username) : null;
    // Counted under the stored spelling: what the store takes for the same name is one account.
    const name = account?.username ?? username;
    const rooms = () => throttle.look(call, name);
    await rooms();
    // Asked again, for what was tried while this one waited: a burst gets no further than the limit.
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

  /** A password outside of a login. It writes what it has taught, unless the account needs more than a password. */
  async function verify(call: Call, username: string, password: string, purpose: Purpose): Promise<Account | null> {
    const checked = await check(call, username, password, purpose);
    if (checked === null) return null;
    if (!needsMore(checked.after)) await keep(call, checked);
    return checked.after;
  }

  /** Writes what a good password has taught: when it was used, from where, and its hash in our own format. */
  async function keep(call: Call, { before, after }: Checked): Promise<void> {
    const values: WrittenValues = {
      ...(after.passwordHash === before.passwordHash ? {} : { password_hash: after.passwordHash }),
      // Its user has it now.
      ...(before.passwordUntil === null || (before.passwordOnce ?? null) !== null ? {} : { password_until: null }),
    };
    const passed = await throttle.pass(call, before.username);
    if (Object.keys(values).length === 0 && passed.length === 0) return;
    // Only while the password is the one that was checked: a change of it that came in between stands.
    const where = { all: [equals("id", before.id), equals("password_hash", before.passwordHash)] };
    try {
      const learned: Change = { kind: "updateAll", collection: accountsCollection, where, values };
      await store.write({ changes: Object.keys(values).length === 0 ? passed : [learned, ...passed] });
    } catch (error) {
      // Nobody is kept out by a disk that is full: what could not be kept is learned the next time, and the store has told the log.
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }

  /** A write that is made anew, because another was faster, needs no other hash. They go with their calls. */
  const newest = new WeakMap<Call, { readonly password: string; readonly hash: Promise<string> }>();

  return {
    verify: (call, username, password) => verify(call, username, password, "verify"),
    prove: (call, username, password) => verify(call, username, password, "prove"),
    async login(call, username, password) {
      const checked = await check(call, username, password, "login");
      return checked === null ? null : proved(checked, call.now);
    },
    hash(call, password, account = "") {
      const made = call === null ? undefined : newest.get(call);
      if (made?.password === password) return made.hash;
      const hash = hold(askerOf(call, { account, isKnown: false }), (place) =>
        place.run(() => hashPassword(password, cost)),
      );
      if (call !== null) newest.set(call, { password, hash });
      return hash;
    },
    load: queue.load,
  };
}

/** Its turn may have come late: a password that was changed meanwhile is a wrong one, and whoever was deactivated stays out. */
async function isAsItWas(accounts: Accounts, { id, generation }: Account): Promise<boolean> {
  const now = await accounts.find(id);
  return now !== null && now.active && now.generation === generation;
}

/** An account as it is stored, and as a right password shows it. */
interface Checked {
  readonly before: Account;
  readonly after: Account;
}

/** The service itself has no address. */
function proved({ before, after }: Checked, now: number): ProvedPassword {
  return { account: after, proofs: [{ method: "pwd", at: now }], storedHash: before.passwordHash };
}

function askerOf(call: Call | null, caller: Pick<Asker, "account" | "isKnown">): Asker {
  const address = call?.client.address ?? "";
  return { site: formatSite(address), address: formatNetwork(address), ...caller };
}

/** What a check depends on beside the password. */
interface Checking {
  readonly cost: PasswordCost;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly purpose: Purpose;
}

/** A password that comes with every request, one that logs in, and one that proves again who has logged in. */
type Purpose = "verify" | "login" | "prove";

async function checkAccount(account: Account | null, password: string, checking: Checking): Promise<Account | null> {
  const matches = await matchesAccount(account, password, checking);
  return matches && account !== null ? upgraded(account, password, checking.cost) : null;
}

/** A hash is always computed, so that the time does not tell which accounts there are. */
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

/** A password that was drawn and never used is good for a time. */
function isTooLate({ passwordUntil }: Account, now: number): boolean {
  return passwordUntil !== null && Date.parse(passwordUntil) <= now;
}

function isFor(purpose: Purpose, { passwordOnce = null }: Account): boolean {
  return passwordOnce === null || purpose === "prove" || (purpose === "login" && passwordOnce === "unused");
}

async function upgraded(account: Account, password: string, cost: PasswordCost): Promise<Account> {
  if (account.passwordHash === null || !needsUpgrade(account.passwordHash, cost)) return account;
  return { ...account, passwordHash: await hashPassword(password, cost) };
}

const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/;

/** What is wrong with a new password; null where nothing is. `serviceNames` is what the service is called. The pointer is `/password`. */
export function checkNewPassword(
  password: string,
  account: { readonly username: string; readonly email: string | null },
  serviceNames: readonly string[] = [],
): Issue | null {
  const issue = (code: string, detail: string): Issue => ({ pointer: "/password", code, detail });
  // Code points, as everywhere; whoever sends more than 512 code units has more than 256 of them.
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
