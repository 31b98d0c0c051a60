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

/** The events that are counted for an address: wrong credentials and probes. */
export type CountedKind = "address" | "probe";

/** What failures are counted for, with the maximum number of failures per window. */
interface Place {
  readonly subject: string;
  readonly limit: number;
}

/** The counters of an account and an address together. */
export interface ThrottleSubject {
  /** The account, from every address. */
  readonly general: string;
  /** The account at this address. */
  readonly own: string;
  /** The time of its last login from this address. Null if that is too long ago. */
  readonly knownAt: number | null;
  /** The counter for this try: `own` if `knownAt` is not null, otherwise `general`. */
  readonly counted: string;
}

/** The subject of the streak that `unlock` resets to forgive the failures of all addresses. */
export const everyAddress = "address";

/** The remaining failures of addresses and accounts. */
export interface Rooms {
  streakFor(subject: string): Eventually<Streak>;
  /** Returns the remaining failures of an account. Ends the request (429) if there are none. */
  ofAccount(subject: ThrottleSubject, now: number): Eventually<Room>;
  /** Returns the remaining failures of the caller's address. Ends the request (429) if there are none. */
  ofAddress(kind: CountedKind, call: Call): Eventually<Room>;
  /** Returns the remaining failures of the caller's site, if it is larger than the address. */
  ofSite(kind: CountedKind, call: Call): Eventually<readonly Room[]>;
  /** Counts a failure of the caller's address, and of its site. */
  count(kind: CountedKind, call: Call): readonly Change[];
}

/**
 * Reads the remaining failures. `limit` applies to one address or account. After `ceiling` consecutive failures, an account has one try
 * per window.
 */
export function createRooms(store: Store, window: GuessWindow, limit: number, ceiling: number): Rooms {
  function streakFor(subject: string): Eventually<Streak> {
    return after(store.find(guessStreaksCollection, subject), readStreak);
  }

  /** `since` is read from the row of the whole account, because `unlock` forgives its failures at all addresses. */
  function ofAccount({ general, counted }: ThrottleSubject, now: number): Eventually<Room> {
    return after(streakFor(general), (streak) =>
      after(counted === general ? streak : streakFor(counted), ({ count }) =>
        window.room(counted, now, { limit: count >= ceiling ? 1 : limit, since: streak.since }),
      ),
    );
  }

  function roomAt({ subject, limit: most }: Place, now: number): Eventually<Room> {
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

/** A caller with IPv6 owns a /64 and could use a new address for each try. */
function addressPlace(kind: CountedKind, { client }: Call, limit: number): Place {
  return { subject: `${kind} ${formatNetwork(client.address)}`, limit };
}

/** A site has many networks and could use a new one for each try. Returns null if the address is the whole site. */
function sitePlace(kind: CountedKind, { client }: Call, limit: number): Place | null {
  const site = formatSite(client.address);
  if (site === formatNetwork(client.address)) return null;
  return { subject: `${kind} ${site}`, limit: NETWORKS_OF_A_SITE * limit };
}

/** Finds the subjects for the failures of accounts. */
export interface Subjects {
  loadSubject(call: Call, name: string): Eventually<ThrottleSubject>;
  accountSubject(username: string): string;
}

/** Creates `Subjects`. `key` keeps the names out of the store. After a login, the address is known for `knownMs`. */
export function createSubjects(store: Store, key: Uint8Array, knownMs: number): Subjects {
  /** Returns the counter for a try: that of the account, or that of the account at this address. */
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
   * Returns a keyed digest of the name, because users sometimes type their password into the wrong field. The name is folded as in the
   * store. Otherwise the responses to two spellings of a name would show whether it has an account.
   */
  function accountSubject(username: string): string {
    return `account ${hmac(key, fold(username)).toString("base64url")}`;
  }

  /** Returns the key of a known address. It begins with the account, so that all addresses of the account can be found. */
  function knownKey(call: Call, account: string): string {
    const network = formatNetwork(call.client.address);
    return `${account} ${hmac(key, `${account} at ${network}`).toString("base64url")}`;
  }

  return { loadSubject, accountSubject };
}
