import { hmac, type Secret } from "../crypto/secret.ts";
import { after, type Eventually } from "../eventually.ts";
import type { Call } from "../http/call.ts";
import { problem } from "../problem/problem.ts";
import { fold } from "../store/fold.ts";
import type { Change, Collection, Row, Store, Where } from "../store/store.ts";
import { formatNetwork } from "./trusted-proxies.ts";

/** Wrong credentials of the last minute, a row each. All processes on a store count together. */
export const guessesCollection: Collection = {
  name: "guesses",
  key: "integer",
  columns: [
    /** Whom the guess counts against: an account or an address. */
    { name: "subject", type: "text" },
    /** In milliseconds since the epoch. */
    { name: "at", type: "integer" },
  ],
  indexes: [["subject", "at"], ["at"]],
};

/** Counts wrong credentials, per address and per account. */
export interface Guessing {
  /**
   * How many more may be wrong, from this address and for this account; ends the request (429) where none may. To be asked
   * before any hash.
   */
  check(call: Call, account?: string): Eventually<number>;
  /** Counts a wrong credential: in memory before it returns, in the store when it resolves. */
  fail(call: Call, account?: string): Eventually<void>;
}

export interface GuessingOptions {
  readonly store: Store;
  /** The server's own, so that the store does not tell what was typed as a name. Processes that share a store share it. */
  readonly secret?: Secret;
  /** Wrong credentials in any window before the next try is refused. */
  readonly limit?: number;
  readonly windowSeconds?: number;
}

/** Subjects whose latest guesses are kept in memory; the store knows all of them. */
const maxSubjects = 10_000;

/**
 * A true sliding window: what counts are the guesses of the last `windowSeconds`, whenever they began. Memory counts
 * what is still on its way to the store, so a burst does not slip through before its first failure is written.
 */
export function makeGuessing({ store, secret, limit = 10, windowSeconds = 60 }: GuessingOptions): Guessing {
  const key = secret?.derive("guess") ?? noKey;
  const windowMs = windowSeconds * 1000;
  const recent = new Map<string, number[]>();
  let prunedAt = 0;

  function check(call: Call, account?: string): Eventually<number> {
    return after(checkSubject(addressSubject(call), call.now), (room) =>
      account === undefined
        ? room
        : after(checkSubject(accountSubject(account, key), call.now), (other) => Math.min(room, other)),
    );
  }

  function checkSubject(subject: string, now: number): Eventually<number> {
    const room = requireFew(recent.get(subject) ?? [], now);
    const where: Where = {
      all: [
        { column: "subject", operator: "eq", value: subject },
        { column: "at", operator: "gt", value: now - windowMs },
      ],
    };
    const sort = [
      { column: "at", descending: true },
      { column: "id", descending: true },
    ];
    return after(store.list({ collection: guessesCollection, where, sort, limit }), (rows) =>
      Math.min(room, requireFew(rows.map(timeOf).reverse(), now)),
    );
  }

  /** How many more there is room for. `times` are the latest ones, the oldest first. */
  function requireFew(times: readonly number[], now: number): number {
    const oldest = times.at(-limit);
    if (oldest === undefined || oldest <= now - windowMs)
      return limit - times.filter((time) => time > now - windowMs).length;
    // When the oldest of them leaves the window there is room for one more try.
    const seconds = Math.min(windowSeconds, Math.max(1, Math.ceil((oldest + windowMs - now) / 1000)));
    throw problem("too_many_attempts", { headers: [["Retry-After", String(seconds)]] });
  }

  function fail(call: Call, account?: string): Eventually<void> {
    const changes: Change[] = [];
    for (const subject of subjectsOf(call, account, key)) {
      remember(subject, call.now);
      changes.push({ kind: "insert", collection: guessesCollection, values: { subject, at: call.now } });
    }
    if (call.now - prunedAt >= windowMs) {
      prunedAt = call.now;
      changes.push({
        kind: "deleteAll",
        collection: guessesCollection,
        where: { column: "at", operator: "lte", value: call.now - windowMs },
      });
    }
    return store.write({ changes }).then(() => undefined);
  }

  function remember(subject: string, now: number): void {
    const times = [...(recent.get(subject) ?? []), now].slice(-limit);
    // Taken out and put back, so that the first in the map is the one that failed least recently.
    recent.delete(subject);
    recent.set(subject, times);
    if (recent.size <= maxSubjects) return;
    for (const oldest of recent.keys()) {
      recent.delete(oldest);
      return;
    }
  }

  return { check, fail };
}

function timeOf({ record }: Row): number {
  return Number(record["at"]);
}

const noKey = new Uint8Array();

/** Whom a try counts against. Without a key, for memory only. */
export function subjectsOf(call: Call, account?: string, key: Uint8Array = noKey): readonly string[] {
  return [addressSubject(call), ...(account === undefined ? [] : [accountSubject(account, key)])];
}

/** An IPv6 caller owns a /64 and could take a new address for each try. */
function addressSubject(call: Call): string {
  return `address ${formatNetwork(call.client.address)}`;
}

/**
 * As a keyed digest: people type their password into the wrong field. Folded as the store folds names, or the count would tell
 * by two spellings of a name whether there is an account of it.
 */
function accountSubject(username: string, key: Uint8Array): string {
  return `account ${hmac(key, fold(username)).toString("base64url")}`;
}
