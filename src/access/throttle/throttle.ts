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
import { everyAddress, roomsOf, subjectsOf, type CountedKind } from "./rooms.ts";
import { makeSideBySide } from "./side-by-side.ts";
import { guessesCollection, makeGuessWindow, type Room } from "./window.ts";

/** The tables of whoever counts guesses. */
export const throttleCollections: readonly Collection[] = [
  guessesCollection,
  guessStreaksCollection,
  knownAddressesCollection,
];

/** Counts wrong credentials, per address and per account. */
export interface Throttle {
  /**
   * How many more may be wrong, from this address and for this account; ends the request (429) where none may. To be asked
   * before any hash.
   */
  check(call: Call, account?: string): Eventually<number>;
  /** Counts a wrong credential: in memory before it returns, in the store when it resolves. */
  fail(call: Call, account?: string): Eventually<void>;
  /** The changes that erase what counts no more by `now` (milliseconds since the epoch); the service makes them every minute. */
  due?(now: number): readonly Change[];
}

/** The same for those who check passwords. `account` is the name that somebody logs in with, whether anyone has it or not. */
export interface LoginThrottle extends Throttle {
  /** Every allowance that a failure would count against: of the address, its /48 (IPv6) and the account. Ends the request (429) if one is used up. */
  look(call: Call, account: string): Eventually<readonly Room[]>;
  /** Whether the account logged in from this address lately. */
  isKnown(call: Call, account: string): Eventually<boolean>;
  /** What a right password changes: the row of failures ends, and the address is known from now on. */
  pass(call: Call, account: string): Eventually<readonly Change[]>;
  /** How many more `probe` may count; ends the request (429) where none may. */
  checkProbes(call: Call): Eventually<number>;
  /**
   * Runs what tells which names are taken, or makes an account. It gives whether that counts. Ends the request (429) where
   * this address has done it too often; closes no logins.
   */
  probe<T>(call: Call, task: () => Promise<Probed<T>>): Promise<T>;
  /** Forgives every failure of an account, and the last minute of every address: nobody knows which of them was its user's. */
  unlock(account: string, now: number): Promise<void>;
}

/** What a probe gives, and whether it counts. */
export interface Probed<T> {
  readonly counts: boolean;
  readonly result: T;
}

/** Options of `loginThrottle()`: how many wrong credentials in how many seconds. */
export interface LoginThrottleOptions {
  readonly store: Store;
  /** The server's own, so that the store does not tell what was typed as a name. Processes that share a store share it. */
  readonly secret?: Secret;
  /** Wrong credentials in any window before the next try is refused (429); 10 where it is left out. */
  readonly limit?: number;
  /** The window, which slides; 60 where it is left out. */
  readonly windowSeconds?: number;
  /** Failures in a row for one account, after which one try in a window is left until one is right; 100 where it is left out. */
  readonly ceiling?: number;
  /** How long the address of a login is known, in seconds; 30 days where it is left out. */
  readonly knownSeconds?: number;
}

/** More addresses of one account than people have; the least recent ones go. */
const maxKnownAddresses = 32;
/** A login is noted once a day for each address. */
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
 * Failures count against the address, its /48 (IPv6, with ten times the limit) and the account. An address from which the account
 * logged in lately has a count of its own for it, and its /48 closes it no login, so that nobody is locked out from elsewhere.
 */
export function loginThrottle(options: LoginThrottleOptions): LoginThrottle {
  requireOptions(options, checks, { of: "loginThrottle" });
  const { store, secret, limit = 10, windowSeconds = 60, ceiling = 100, knownSeconds = 30 * 24 * 3600 } = options;
  const key = secret?.deriveOldest("guess") ?? new Uint8Array();
  const window = makeGuessWindow(store, windowSeconds);
  const sideBySide = makeSideBySide();
  const knownMs = knownSeconds * 1000;
  const { subjectOf, accountSubject } = subjectsOf(store, key, knownMs);
  const rooms = roomsOf(store, window, limit, ceiling);

  function look(call: Call, name: string): Eventually<readonly Room[]> {
    return after(rooms.ofAddress("address", call), (here) =>
      after(subjectOf(call, name), (subject) =>
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
    return after(subjectOf(call, account), (subject) =>
      write([...counted, window.count(subject.counted, call.now, limit), ...addToStreak(subject.counted, call.now)]),
    );
  }

  function pass(call: Call, account: string): Eventually<readonly Change[]> {
    return after(subjectOf(call, account), ({ general, own, knownAt, counted }) => {
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
    isKnown: (call, account) => after(subjectOf(call, account), ({ knownAt }) => knownAt !== null),
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

/** Makes room for one more address of the account. */
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
