import type { Call } from "../../core/call/call.ts";
import { anObject, optional, wholeFrom } from "../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../core/checking/options.ts";
import { made } from "../../core/copy.ts";
import { aSecret, type Secret } from "../../core/crypto/secret.ts";
import { after, type Eventually } from "../../core/eventually.ts";
import type { Change, Collection, Store } from "../../store/store.ts";
import {
  addLogin,
  addToStreak,
  endStreak,
  forgive,
  guessStreaksCollection,
  knownAddressesCollection,
  pruneRecords,
} from "./records.ts";
import { everyAddress, createRooms, createSubjects, type CountedKind } from "./rooms.ts";
import { makeSideBySide } from "./side-by-side.ts";
import { guessesCollection, makeGuessWindow, type Room } from "./window.ts";

/** The tables of the throttles. */
export const throttleCollections: readonly Collection[] = [
  guessesCollection,
  guessStreaksCollection,
  knownAddressesCollection,
];

/** Counts wrong credentials, per address and per account. */
export interface Throttle {
  /**
   * Returns how many more failures are allowed from this address and for this account. Ends the request (429) if there
   * are none left. Called before a password is hashed, because a hash takes much time.
   */
  check(call: Call, account?: string): Eventually<number>;
  /**
   * Counts a wrong credential. It is counted in memory when the function returns, and in the store when the promise
   * resolves.
   */
  fail(call: Call, account?: string): Eventually<void>;
  /**
   * Returns the changes that delete entries that have expired at `now` (milliseconds since the epoch). The service
   * applies them every minute.
   */
  due?(now: number): readonly Change[];
}

/** A throttle for password checks. `account` is the login name, even if no account has this name. */
export interface LoginThrottle extends Throttle {
  /**
   * Returns the remaining failures of each subject that a failure would be counted for: the address, its /48 (IPv6) and
   * the account. Ends the request (429) if one has none left.
   */
  look(call: Call, account: string): Eventually<readonly Room[]>;
  /** Returns true if the account recently logged in from this address. */
  isKnown(call: Call, account: string): Eventually<boolean>;
  /** Returns the changes after a right password. They end the streak of failures and make the address known. */
  pass(call: Call, account: string): Eventually<readonly Change[]>;
  /** Returns how many more probes this address may make. Ends the request (429) if there are none left. */
  checkProbes(call: Call): Eventually<number>;
  /**
   * Runs a task that reveals whether a name is taken, or creates an account. The result of the task says whether it
   * counts. Ends the request (429) if this address has made too many probes. Probes do not block logins.
   */
  probe<T>(call: Call, task: () => Promise<Probed<T>>): Promise<T>;
  /**
   * Forgives all failures of an account. Also forgives the failures of the current window of every address, because the
   * service does not know which address the user has.
   */
  unlock(account: string, now: number): Promise<void>;
}

/** The result of a probe, and whether it counts. */
export interface Probed<T> {
  readonly counts: boolean;
  readonly result: T;
}

/** Options of `loginThrottle()`: how many wrong credentials are allowed, and in how many seconds. */
export interface LoginThrottleOptions {
  readonly store: Store;
  /** The server's secret. It hides the typed names in the store. Processes with the same store need the same secret. */
  readonly secret?: Secret;
  /** The number of wrong credentials in any window before the next try is refused (429). Default: 10. */
  readonly limit?: number;
  /** The length of the sliding window, in seconds. Default: 60. */
  readonly windowSeconds?: number;
  /**
   * The number of consecutive failures of one account after which only one try per window is allowed. A right password
   * ends this. Default: 100.
   */
  readonly ceiling?: number;
  /** How long an address remains known after a login, in seconds. Default: 30 days. */
  readonly knownSeconds?: number;
}

/**
 * The maximum number of known addresses of one account. A person uses fewer. The least recently used addresses are
 * deleted.
 */
const maxKnownAddresses = 32;
/** A login is recorded once a day for each address. */
const noteEveryMs = 24 * 3600 * 1000;

const checks: ChecksOf<LoginThrottleOptions> = {
  store: anObject,
  secret: optional(aSecret),
  limit: optional(wholeFrom(1)),
  windowSeconds: optional(wholeFrom(1)),
  ceiling: optional(wholeFrom(1)),
  knownSeconds: optional(wholeFrom(0)),
};

/**
 * Creates the throttle. Failures count against the address, its /48 (IPv6, with ten times the limit) and the account.
 * An address from which the account recently logged in has a separate count, and its /48 does not block its logins. So
 * attackers at other addresses cannot lock a user out.
 */
export function loginThrottle(options: LoginThrottleOptions): LoginThrottle {
  requireOptions(options, checks, { of: "loginThrottle" });
  const { store, secret, limit = 10, windowSeconds = 60, ceiling = 100, knownSeconds = 30 * 24 * 3600 } = options;
  const key = secret?.deriveOldest("guess") ?? new Uint8Array();
  const window = makeGuessWindow(store, windowSeconds);
  const sideBySide = makeSideBySide();
  const knownMs = knownSeconds * 1000;
  const { loadSubject, accountSubject } = createSubjects(store, key, knownMs);
  const rooms = createRooms(store, window, limit, ceiling);

  function look(call: Call, name: string): Eventually<readonly Room[]> {
    return after(rooms.ofAddress("address", call), (here) =>
      after(loadSubject(call, name), (subject) =>
        after(subject.knownAt === null ? rooms.ofSite("address", call) : [], (around) =>
          after(rooms.ofAccount(subject, call.now), (there) => [here, ...around, there]),
        ),
      ),
    );
  }

  function lookAt(kind: CountedKind, call: Call): Eventually<readonly Room[]> {
    return after(rooms.ofAddress(kind, call), (here) => after(rooms.ofSite(kind, call), (around) => [here, ...around]));
  }

  function fail(call: Call, account?: string): Eventually<void> {
    const counted = rooms.count("address", call);
    if (account === undefined) return write(counted);
    return after(loadSubject(call, account), (subject) =>
      write([...counted, window.count(subject.counted, call.now, limit), ...addToStreak(subject.counted, call.now)]),
    );
  }

  function pass(call: Call, account: string): Eventually<readonly Change[]> {
    return after(loadSubject(call, account), ({ general, own, knownAt, counted }) => {
      const isNoted = knownAt !== null && knownAt > call.now - noteEveryMs;
      const noted = isNoted ? [] : addLogin(own, general, call.now);
      const crowd = knownAt === null ? dropLeastRecent(store, general) : [];
      return after(rooms.streakFor(counted), ({ count }) =>
        after(crowd, (dropped) => [...dropped, ...noted, ...(count === 0 ? [] : [endStreak(counted)])]),
      );
    });
  }

  function probe<T>(call: Call, task: () => Promise<Probed<T>>): Promise<T> {
    return sideBySide(
      () => lookAt("probe", call),
      async () => {
        const { counts, result } = await task();
        if (counts) await write(rooms.count("probe", call));
        return result;
      },
    );
  }

  function due(now: number): readonly Change[] {
    return [...window.prune(now), ...pruneRecords(now, ceiling, knownMs)];
  }

  async function unlock(account: string, now: number): Promise<void> {
    await store.write({ changes: [...forgive(accountSubject(account), now), ...forgive(everyAddress, now)] });
  }

  function write(changes: readonly Change[]): Promise<void> {
    return store.write({ changes }).then(() => undefined);
  }

  return made({
    check: (call, account) => after(account === undefined ? lookAt("address", call) : look(call, account), least),
    isKnown: (call, account) => after(loadSubject(call, account), ({ knownAt }) => knownAt !== null),
    fail,
    look,
    pass,
    checkProbes: (call) => after(lookAt("probe", call), least),
    probe,
    unlock,
    due,
  });
}

function least(rooms: readonly Room[]): number {
  return Math.min(...rooms.map(({ left }) => left()));
}

/** Returns the changes that delete the least recently used addresses of the account if it has the maximum number. */
function dropLeastRecent(store: Store, account: string): Eventually<readonly Change[]> {
  const collection = knownAddressesCollection;
  const ofAccount = { column: "account", operator: "eq", value: account } as const;
  const sort = [
    { column: "at", descending: true },
    { column: "id", descending: true },
  ];
  return after(store.list({ collection, where: ofAccount, sort, limit: maxKnownAddresses }), (rows) => {
    const last = rows[maxKnownAddresses - 1];
    if (last === undefined) return [];
    const older = { column: "at", operator: "lte", value: last.record["at"]! } as const;
    return [{ kind: "deleteAll", collection, where: { all: [ofAccount, older] } }];
  });
}
