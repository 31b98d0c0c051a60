import type { Call } from "../../core/call/call.ts";
import { formatNetwork, formatSite } from "../../core/call/trusted-proxies.ts";
import { hmac } from "../../core/crypto/secret.ts";
import { after, type Eventually } from "../../core/eventually.ts";
import { fold } from "../../store/fold.ts";
import type { Change, Store } from "../../store/store.ts";
import { guessStreaksCollection, knownAddressesCollection, readStreak, type Streak } from "./records.ts";
import type { GuessWindow, Room } from "./window.ts";

/** The limit of a whole site is the limit of one network, multiplied by this number. */
const NETWORKS_OF_A_SITE = 10;

/**
 * The events that are counted for an address. `address`: a wrong credential. `probe`: a request that reveals whether a
 * name is taken.
 */
export type CountedKind = "address" | "probe";

/** A subject that failures are counted for, with its maximum number of failures per window. */
interface LimitedSubject {
  readonly subject: string;
  readonly limit: number;
}

/** The counters for the tries of one account from one address. */
export interface ThrottleSubject {
  /** The counter of the account for all unknown addresses. */
  readonly general: string;
  /** The counter of the account at this address. */
  readonly own: string;
  /** The time of the account's last login from this address. Null if there was none, or if it is too long ago. */
  readonly knownAt: number | null;
  /** The counter for this try: `own` if `knownAt` is not null, otherwise `general`. */
  readonly counted: string;
}

/** The subject of the streak that `unlock` resets to forgive the failures of all addresses. */
export const everyAddress = "address";

/** Reads how many failures are still allowed (the room) for addresses and accounts, and counts failures. */
export interface Rooms {
  streakFor(subject: string): Eventually<Streak>;
  /** Returns the remaining failures of an account. Ends the request (429) if there are none. */
  ofAccount(subject: ThrottleSubject, now: number): Eventually<Room>;
  /** Returns the remaining failures of the caller's address. Ends the request (429) if there are none. */
  ofAddress(kind: CountedKind, call: Call): Eventually<Room>;
  /**
   * Returns the remaining failures of the caller's site (the /48 of an IPv6 address). Returns an empty list for an IPv4
   * address, which has no larger site. Ends the request (429) if there are none.
   */
  ofSite(kind: CountedKind, call: Call): Eventually<readonly Room[]>;
  /** Counts a failure of the caller's address, and of its site. */
  count(kind: CountedKind, call: Call): readonly Change[];
}

/**
 * Reads the remaining failures. `limit` applies to one address or account. After `ceiling` consecutive failures, an
 * account has one try per window.
 */
export function createRooms(store: Store, window: GuessWindow, limit: number, ceiling: number): Rooms {
  function streakFor(subject: string): Eventually<Streak> {
    return after(store.find(guessStreaksCollection, subject), readStreak);
  }

  /**
   * `unlock` forgives the failures of an account at all addresses, so `since` is always read from the general row of
   * the account.
   */
  function ofAccount({ general, counted }: ThrottleSubject, now: number): Eventually<Room> {
    return after(streakFor(general), (streak) =>
      after(counted === general ? streak : streakFor(counted), ({ count }) =>
        window.room(counted, now, { limit: count >= ceiling ? 1 : limit, since: streak.since }),
      ),
    );
  }

  function roomAt({ subject, limit: most }: LimitedSubject, now: number): Eventually<Room> {
    return after(streakFor(everyAddress), ({ since }) => window.room(subject, now, { limit: most, since }));
  }

  return {
    streakFor,
    ofAccount,
    ofAddress: (kind, call) => roomAt(addressPlace(kind, call, limit), call.now),
    ofSite(kind, call) {
      const site = sitePlace(kind, call, limit);
      return site === null ? [] : after(roomAt(site, call.now), (room) => [room]);
    },
    count(kind, call) {
      const places = [addressPlace(kind, call, limit), sitePlace(kind, call, limit)].filter((each) => each !== null);
      return places.map((place) => window.count(place.subject, call.now, place.limit));
    },
  };
}

/**
 * Returns the counter of the network of an address: its /64 in IPv6, because a caller has a whole /64 and could use a
 * new address for each try.
 */
function addressPlace(kind: CountedKind, { client }: Call, limit: number): LimitedSubject {
  return { subject: `${kind} ${formatNetwork(client.address)}`, limit };
}

/**
 * Returns the counter of the site of an address (its /48 in IPv6). A site has many networks and could use a new network
 * for each try. Returns null if the network is the whole site, as in IPv4.
 */
function sitePlace(kind: CountedKind, { client }: Call, limit: number): LimitedSubject | null {
  const site = formatSite(client.address);
  if (site === formatNetwork(client.address)) return null;
  return { subject: `${kind} ${site}`, limit: NETWORKS_OF_A_SITE * limit };
}

/** Returns the keys under which the failures of accounts are counted. */
export interface Subjects {
  loadSubject(call: Call, name: string): Eventually<ThrottleSubject>;
  accountSubject(username: string): string;
}

/**
 * Creates `Subjects`. The digests use `key`, so the store does not contain the names. After a login, the address is
 * known for `knownMs` milliseconds.
 */
export function createSubjects(store: Store, key: Uint8Array, knownMs: number): Subjects {
  /** Returns the counters for a try. A known address has a separate counter. */
  function loadSubject(call: Call, name: string): Eventually<ThrottleSubject> {
    const general = accountSubject(name);
    const own = knownKey(call, general);
    return after(store.find(knownAddressesCollection, own), (row) => {
      const knownAt = row === null ? null : Number(row.record["at"]);
      const isKnown = knownAt !== null && knownAt > call.now - knownMs;
      return { general, own, knownAt: isKnown ? knownAt : null, counted: isKnown ? own : general };
    });
  }

  /**
   * Returns a keyed digest of the name, because users sometimes type their password into the wrong field. The name is
   * folded as in the store. Without folding, two spellings of a name would share a counter only if the account exists,
   * which would reveal the account.
   */
  function accountSubject(username: string): string {
    return `account ${hmac(key, fold(username)).toString("base64url")}`;
  }

  /**
   * Returns the key of a known address. It begins with the account, so that all addresses of the account can be found.
   */
  function knownKey(call: Call, account: string): string {
    const network = formatNetwork(call.client.address);
    return `${account} ${hmac(key, `${account} at ${network}`).toString("base64url")}`;
  }

  return { loadSubject, accountSubject };
}
