import type { Call } from "../../core/call/call.ts";
import { formatNetwork, formatSite } from "../../core/call/trusted-proxies.ts";
import { hmac } from "../../core/crypto/secret.ts";
import { after, type Eventually } from "../../core/eventually.ts";
import { fold } from "../../store/fold.ts";
import type { Change, Store } from "../../store/store.ts";
import { guessStreaksCollection, knownAddressesCollection, streakOf, type Streak } from "./records.ts";
import type { GuessWindow, Room } from "./window.ts";

/** The networks of a site together may fail so many times as often as one of them. */
const NETWORKS_OF_A_SITE = 10;

/** The things that are counted for an address: wrong credentials and probes. */
export type CountedKind = "address" | "probe";

/** A subject that failures count against, and how many of them a window has room for. */
interface Place {
  readonly subject: string;
  readonly limit: number;
}

/** How an account and an address are counted together. */
export interface Subject {
  /** The account, from every address. */
  readonly general: string;
  /** The account at this address. */
  readonly own: string;
  /** The time of its last login from here; null if that is too long ago. */
  readonly knownAt: number | null;
  /** The one of the two that counts. */
  readonly counted: string;
}

/** Under this subject the failures of all addresses are forgiven. */
export const everyAddress = "address";

/** The allowances of addresses and accounts. */
export interface Rooms {
  streakFor(subject: string): Eventually<Streak>;
  /** The allowance of an account; ends the request (429) if it is used up. */
  ofAccount(subject: Subject, now: number): Eventually<Room>;
  /** The allowance of the caller's address; ends the request (429) if it is used up. */
  ofAddress(kind: CountedKind, call: Call): Eventually<Room>;
  /** The allowance of the caller's site, if that is more than the address. */
  ofSite(kind: CountedKind, call: Call): Eventually<readonly Room[]>;
  /** Counts a failure of the caller's address, and of its site. */
  count(kind: CountedKind, call: Call): readonly Change[];
}

/** Reads the allowances. `limit` is that of one address or account; after `ceiling` failures in a row an account has one try. */
export function roomsOf(store: Store, window: GuessWindow, limit: number, ceiling: number): Rooms {
  function streakFor(subject: string): Eventually<Streak> {
    return after(store.find(guessStreaksCollection, subject), streakOf);
  }

  /** `unlock` forgives an account at all addresses. */
  function ofAccount({ general, counted }: Subject, now: number): Eventually<Room> {
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

/** An IPv6 caller owns a /64 and could take a new address for each try. */
function addressPlace(kind: CountedKind, { client }: Call, limit: number): Place {
  return { subject: `${kind} ${formatNetwork(client.address)}`, limit };
}

/** A site has many networks and could take a new one for each try; null if the address is all of it. */
function sitePlace(kind: CountedKind, { client }: Call, limit: number): Place | null {
  const site = formatSite(client.address);
  if (site === formatNetwork(client.address)) return null;
  return { subject: `${kind} ${site}`, limit: NETWORKS_OF_A_SITE * limit };
}

/** Finds what failures of accounts are counted under. */
export interface Subjects {
  subjectOf(call: Call, name: string): Eventually<Subject>;
  accountSubject(username: string): string;
}

/** Makes it. `key` keeps the names out of the store; a login is known for `knownMs`. */
export function subjectsOf(store: Store, key: Uint8Array, knownMs: number): Subjects {
  /** A try counts against the account, or against the account at this address. */
  function subjectOf(call: Call, name: string): Eventually<Subject> {
    const general = accountSubject(name);
    const own = knownKey(call, general);
    return after(store.find(knownAddressesCollection, own), (row) => {
      const knownAt = row === null ? null : Number(row.record["at"]);
      const isKnown = knownAt !== null && knownAt > call.now - knownMs;
      return { general, own, knownAt: isKnown ? knownAt : null, counted: isKnown ? own : general };
    });
  }

  /**
   * As a keyed digest: people type their password into the wrong field. Folded as the store folds names, or the count would tell
   * by two spellings of a name whether there is an account of it.
   */
  function accountSubject(username: string): string {
    return `account ${hmac(key, fold(username)).toString("base64url")}`;
  }

  /** Begins with the account, so that everything of it can be found. */
  function knownKey(call: Call, account: string): string {
    const network = formatNetwork(call.client.address);
    return `${account} ${hmac(key, `${account} at ${network}`).toString("base64url")}`;
  }

  return { subjectOf, accountSubject };
}
