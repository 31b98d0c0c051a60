import { randomBytes } from "node:crypto";
import type { Call } from "../../../core/call/call.ts";
import { aFunction, anObject, wholeFrom } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { digest } from "../../../core/crypto/secret.ts";
import { after, type Eventually } from "../../../core/eventually.ts";
import type { Proof } from "../../../core/identity.ts";
import type { Observer } from "../../../core/observation.ts";
import { problem } from "../../../core/problem/problem.ts";
import { insert, storedOf, table, updateAll, type StoredIn } from "../../../http/declarations/table.ts";
import { dateTime, integer, json, text } from "../../../resource/kinds/fields.ts";
import type { Change, Row, Store, Where } from "../../../store/store.ts";
import { Admission } from "../gate/admission.ts";
import { ofAccount } from "../records/accounts.ts";
import { equals, later, ofUser, timeText, until } from "../records/conditions.ts";
import { listedLogin, loginPage, maxLogins, seenFrom, type ListedLogin, type LoginPage } from "../records/logins.ts";
import { formatProofs, parseProofs, passwordAt } from "../records/proofs.ts";
import { makeTouch } from "../records/touch.ts";

/** Sessions. The key is a hash of the id, so the stored data cannot log a user in. */
export const sessionsCollection = table({
  name: "sessions",
  id: "text",
  fields: {
    user_id: ofAccount,
    /** The id of the session in lists. */
    public_id: text({ unique: true }),
    /** The account's generation at login. A session of an older generation is invalid. */
    generation: integer(),
    created_at: dateTime(),
    last_seen_at: dateTime(),
    expires_at: dateTime(),
    address: text(),
    user_agent: text({ optional: true }),
    /**
     * The proofs of the login. Null in sessions that are older than this column. They count as proved by a password at
     * the login.
     */
    proofs: json({ optional: true }),
  },
  indexes: [["user_id", "created_at"], ["expires_at"], ["last_seen_at"]],
});

type SessionRecord = StoredIn<typeof sessionsCollection>;

/** A session that has not expired. */
export interface StoredSession {
  /** The key of its row: a hash of its id. */
  readonly key: string;
  readonly userId: number;
  readonly generation: number;
  /** The time of its login, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** The latest end, independent of its use, in milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly proofs: readonly Proof[];
}

/** The parts of `sessions()`. */
export interface SessionsOptions {
  readonly store: Store;
  /** The longest time that a session may be unused, in seconds. */
  readonly idleSeconds: number;
  /** The longest lifetime after the login, in seconds. */
  readonly lifetimeSeconds: number;
  readonly observe: Observer;
}

/** The sessions of a store. Times in milliseconds. */
export interface Sessions {
  /**
   * Creates a session with a new id, independent of the caller's cookie. Spends the admission. The id is for the cookie
   * and is not stored. Ends the session with the id `before`, because the browser replaces its cookie. Ends the oldest
   * sessions if the user has too many.
   */
  create(
    admission: Admission,
    call: Call,
    before?: string | null,
  ): Promise<{ readonly id: string; readonly expiresAt: number }>;
  /** Returns the live session of that id, and records its use. Returns null if there is none. */
  find(id: string, now: number): Eventually<StoredSession | null>;
  /** True if a session has not ended. `key` is `identity.sessionId`. */
  isLive(key: string, now: number): Promise<boolean>;
  /**
   * Makes a replaced session end at `at` or earlier. Until then, requests that the browser has already sent still
   * succeed.
   */
  endSoon(key: string, at: number): Promise<void>;
  /** Deletes the session. An unknown id is no error. */
  end(id: string): Promise<void>;
  /** Lists the live sessions of a user. `currentKey` is `identity.sessionId`. */
  list(userId: number, page: LoginPage, currentKey: string | null): Promise<readonly ListedLogin[]>;
  /** Ends a session of the user by its public id. Returns false if the user has no session with that id. */
  endOne(userId: number, publicId: string): Promise<boolean>;
  /** Returns the changes that delete expired sessions. Call it at intervals. */
  prune(now: number): Change[];
}

const idForm = /^[\w-]{43}$/;

const checks: ChecksOf<SessionsOptions> = {
  store: anObject,
  idleSeconds: wholeFrom(1),
  lifetimeSeconds: wholeFrom(1),
  observe: aFunction,
};

/** Returns the sessions of a store. */
export function sessions(options: SessionsOptions): Sessions {
  requireOptions(options, checks, { of: "sessions" });
  const { store, idleSeconds, lifetimeSeconds, observe } = options;
  const idleMs = idleSeconds * 1000;
  // At most a tenth of the idle time, so that a session in use never counts as idle.
  const everyMs = Math.min(60_000, idleMs / 10);
  const touch = makeTouch({ store, collection: sessionsCollection, column: "last_seen_at", everyMs, observe });

  function readLive(row: Row<SessionRecord> | null, now: number): StoredSession | null {
    if (row === null) return null;
    const stored = storedOf(row);
    const { id, expires_at, last_seen_at } = stored;
    const expiresAt = Date.parse(expires_at);
    if (now >= expiresAt || now >= Date.parse(last_seen_at) + idleMs) return null;
    touch(id, last_seen_at, now);
    return readSession(stored, expiresAt);
  }

  function buildLiveFilter(userId: number, now: number): Where {
    return { all: [ofUser(userId), later("expires_at", now), later("last_seen_at", now - idleMs)] };
  }

  return {
    async create(admission, call, before = null) {
      const { id: user_id, generation } = Admission.spend(admission);
      const id = randomBytes(32).toString("base64url");
      const expiresAt = call.now + lifetimeSeconds * 1000;
      const proofs = formatProofs(admission.proofs);
      const values = { user_id, generation, proofs, expires_at: timeText(expiresAt), ...placeIn(call) };
      const outcome = await store.write({
        changes: [
          insert(sessionsCollection, { key: hashId(id), values }),
          ...(before === null ? [] : [buildDeletion(before)]),
        ],
      });
      // The account was deleted after its password was checked.
      if (outcome.kind === "dangling") throw problem("invalid_credentials");
      if (outcome.kind !== "written") throw new Error(`The store answered ${outcome.kind} to a new session.`);
      await endOldest(store, buildLiveFilter(user_id, call.now), call.now);
      return { id, expiresAt };
    },
    find(id, now) {
      if (!idForm.test(id)) return null;
      return after(store.find(sessionsCollection, hashId(id)), (row) => readLive(row, now));
    },
    isLive: async (key, now) => readLive(await store.find(sessionsCollection, key), now) !== null,
    async endSoon(key, at) {
      const where: Where = { all: [equals("id", key), later("expires_at", at)] };
      await store.write({ changes: [updateAll(sessionsCollection, { where, values: { expires_at: timeText(at) } })] });
    },
    async end(id) {
      await store.write({ changes: [buildDeletion(id)] });
    },
    async list(userId, page, currentKey) {
      const where = buildLiveFilter(userId, page.now);
      const rows = await store.list({ ...loginPage(page, "public_id"), collection: sessionsCollection, where });
      return rows.map(storedOf).map((each) => listedLogin(each, "session", each.public_id, currentKey));
    },
    async endOne(userId, publicId) {
      const row = await store.findBy(sessionsCollection, "public_id", publicId);
      if (row === null || storedOf(row).user_id !== userId) return false;
      const key = storedOf(row).id;
      const outcome = await store.write({ changes: [{ kind: "delete", collection: sessionsCollection, key }] });
      return outcome.kind === "written";
    },
    // Uses one change for each index. For a single change with both conditions, a database may scan the table.
    prune: (now) =>
      [until("expires_at", now), until("last_seen_at", now - idleMs)].map((where) => ({
        kind: "deleteAll",
        collection: sessionsCollection,
        where,
      })),
  };
}

/**
 * Ends the oldest sessions of a user with too many. Concurrent logins each check after their own insert, and end the
 * same sessions.
 */
async function endOldest(store: Store, where: Where, now: number): Promise<void> {
  const page = { after: null, backwards: false, limit: maxLogins * 2, now };
  const rows = await store.list({ ...loginPage(page, "public_id"), collection: sessionsCollection, where });
  const value = rows.slice(maxLogins).map((row) => storedOf(row).id);
  if (value.length === 0) return;
  const tooMany: Where = { column: "id", operator: "in", value };
  await store.write({ changes: [{ kind: "deleteAll", collection: sessionsCollection, where: tooMany }] });
}

/** Returns the data of a session that has not expired. */
function readSession(stored: SessionRecord, expiresAt: number): StoredSession | null {
  const createdAt = Date.parse(stored.created_at);
  const proofs = stored.proofs === null ? passwordAt(createdAt) : parseProofs(stored.proofs);
  if (proofs === null) return null;
  return { key: stored.id, userId: stored.user_id, generation: stored.generation, createdAt, expiresAt, proofs };
}

/** Returns the time and the place where a session starts. */
function placeIn(call: Call) {
  const created_at = timeText(call.now);
  return {
    public_id: randomBytes(12).toString("base64url"),
    created_at,
    last_seen_at: created_at,
    ...seenFrom(call),
  };
}

function buildDeletion(id: string): Change {
  return { kind: "deleteAll", collection: sessionsCollection, where: equals("id", hashId(id)) };
}

function hashId(id: string): string {
  return digest(id).toString("base64url");
}
