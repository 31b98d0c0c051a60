import { randomBytes } from "node:crypto";
import type { LoginThrottle } from "../../../access/throttle/throttle.ts";
import type { Call } from "../../../core/call/call.ts";
import { formatBlock, formatNetwork } from "../../../core/call/trusted-proxies.ts";
import { digest } from "../../../core/crypto/secret.ts";
import type { Proof } from "../../../core/identity.ts";
import { problem } from "../../../core/problem/problem.ts";
import { insert, jsonOf, storedOf, table, update, type StoredIn } from "../../../http/declarations/table.ts";
import { dateTime, enumeration, integer, json, text } from "../../../resource/kinds/fields.ts";
import type { Change, Row, Store, Value, Where } from "../../../store/store.ts";
import { ofAccount, type Account } from "../records/accounts.ts";
import { equals, later, ofUser, timeText, until } from "../records/conditions.ts";
import { formatProofs, parseProofs } from "../records/proofs.ts";
import type { BeginningOptions } from "./contract.ts";
import { factorsCollection } from "./factors.ts";

/**
 * Logins that wait for another proof. The key is a hash of the name that the client got, so a row cannot be used to log
 * in.
 */
export const pendingLoginsCollection = table({
  name: "pending_logins",
  id: "text",
  fields: {
    user_id: ofAccount,
    /** The account's generation at the first proof. A login of an older generation is invalid. */
    generation: integer(),
    /** `login` or `confirm`. */
    purpose: enumeration(["login", "confirm"]),
    proofs: json(),
    /** The kind of login that starts after the last proof, and its options. */
    beginning: text(),
    options: jsonOf<BeginningOptions>(),
    /** The login that is confirmed: the key of a session, or a token family. */
    holder: text({ optional: true }),
    tries: integer(),
    created_at: dateTime(),
    expires_at: dateTime(),
    /**
     * The client's network, with a mark if the account logged in from it before. Null in rows that are older than this
     * column.
     */
    network: text({ optional: true }),
  },
  indexes: [["user_id", "created_at"], ["expires_at"]],
});

type PendingRecord = StoredIn<typeof pendingLoginsCollection>;

/** A login that waits for another proof. */
export interface PendingLogin {
  /** The key of its row: a hash of its name. Factors bind their challenges to this key. */
  readonly key: string;
  readonly userId: number;
  readonly generation: number;
  readonly purpose: "login" | "confirm";
  readonly proofs: readonly Proof[];
  readonly beginning: string;
  readonly options: BeginningOptions;
  readonly holder: string | null;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly tries: number;
}

/** The data of a new waiting login. */
export type NewPending = Pick<PendingLogin, "purpose" | "proofs" | "beginning" | "options" | "holder">;

/** The time for which a login waits. */
export const LIFE_MS = 300_000;
const MOST_TRIES = 5;
const MOST_OF_A_NETWORK = 10;
const MOST_OF_AN_ACCOUNT = 200;
const KNOWN = "known ";
const nameForm = /^[\w-]{43}$/;

/** The waiting logins of a store. Times in milliseconds since the epoch. */
export interface PendingLogins {
  /**
   * Stores a waiting login. `name` is for the client and is not stored. If the account has more than ten waiting logins
   * from the client's network, ends the oldest one of this network. So a caller elsewhere who knows the password does
   * not end the login of the owner.
   */
  create(
    account: Account,
    login: NewPending,
    call: Call,
  ): Promise<{ readonly name: string; readonly login: PendingLogin }>;
  /**
   * Returns the waiting login with this name. Returns null if it is unknown, completed or expired, or has no tries
   * left.
   */
  find(name: string, now: number): Promise<PendingLogin | null>;
  /** Returns the waiting login with this key, like `find`. Only for a key that the service has signed. */
  findByKey(key: string, now: number): Promise<PendingLogin | null>;
  /** True if the waiting login with this key is still stored. */
  isWaiting(key: string): Promise<boolean>;
  /**
   * Counts a try, before its answer is checked. Returns the number of tries so far. Returns null if the login has none
   * left.
   */
  count(login: PendingLogin): Promise<number | null>;
  /** Returns the changes that end a waiting login. The transaction is refused if another request ended it first. */
  end(login: PendingLogin): readonly Change[];
  /**
   * Returns the changes that add a proof to a waiting login. The transaction is refused if another request ended it
   * first.
   */
  prove(login: PendingLogin, proof: Proof): readonly Change[];
  due(now: number): readonly Change[];
}

/** The name of the refusal of a transaction if another request has already ended the waiting login. */
export const PENDING_ENDED = "pending_ended";

/** Returns the waiting logins of a store. */
export function makePendingLogins(store: Store, throttle: Pick<LoginThrottle, "isKnown">): PendingLogins {
  const collection = pendingLoginsCollection;

  /** Returns the network of a client, as the waiting logins of an account count it. */
  async function findNetwork(call: Call, { username }: Account): Promise<string> {
    const { address } = call.client;
    return (await throttle.isKnown(call, username)) ? KNOWN + formatNetwork(address) : formatBlock(address);
  }

  const findByKey = async (key: string, now: number) => readLive(await store.find(collection, key), now);

  return {
    async create(account, { purpose, proofs, beginning, options, holder }, call) {
      const { id: user_id, generation } = account;
      const { now } = call;
      const network = await findNetwork(call, account);
      const name = randomBytes(32).toString("base64url");
      const expiresAt = now + LIFE_MS;
      const values = {
        user_id,
        generation,
        purpose,
        proofs: formatProofs(proofs),
        beginning,
        options,
        holder,
        tries: 0,
        created_at: timeText(now),
        expires_at: timeText(expiresAt),
        network,
      };
      const key = hashName(name);
      const outcome = await store.write({ changes: [insert(collection, { key, values })] });
      // The account was deleted after its first proof.
      if (outcome.kind === "dangling") throw problem("invalid_credentials");
      if (outcome.kind !== "written") throw new Error(`The store answered ${outcome.kind} to a waiting login.`);
      await endOldest(store, user_id, { key, network }, now);
      const login = {
        key,
        userId: user_id,
        generation,
        purpose,
        proofs,
        beginning,
        options,
        holder,
        expiresAt,
        tries: 0,
      };
      return { name, login };
    },
    find: async (name, now) => (nameForm.test(name) ? findByKey(hashName(name), now) : null),
    findByKey,
    isWaiting: async (key) => (await store.find(collection, key)) !== null,
    async count({ key }) {
      // An attempt usually fails because another request has counted a try at the same time. So after this many
      // attempts, no try is left.
      for (let round = 0; round <= MOST_TRIES; round++) {
        const row = await store.find(collection, key);
        const tries = row === null ? MOST_TRIES : storedOf(row).tries;
        if (row === null || tries >= MOST_TRIES) return null;
        const counted = update(collection, { key, revision: row.revision, values: { tries: tries + 1 } });
        if ((await store.write({ changes: [counted] })).kind === "written") return tries + 1;
      }
      return null;
    },
    end: ({ key }) => [requireWaiting(key), { kind: "delete", collection, key }],
    prove: addProof,
    due: (now) => [{ kind: "deleteAll", collection, where: until("expires_at", now) }],
  };
}

/** Ends the oldest waiting logins of a network with too many, and of an account with too many. */
async function endOldest(
  store: Store,
  userId: number,
  stored: { readonly key: string; readonly network: string },
  now: number,
): Promise<void> {
  const where = { all: [ofUser(userId), later("expires_at", now)] };
  const sort = [
    { column: "created_at", descending: true },
    { column: "id", descending: true },
  ];
  const rows = await store.list({ collection: pendingLoginsCollection, where, sort, limit: MOST_OF_AN_ACCOUNT * 2 });
  // Never ends the new login, which can look like the oldest one if the clock of this process is slow.
  const others = rows.map(storedOf).filter(({ id }) => id !== stored.key);
  const ended = new Set(others.filter(({ network }) => network === stored.network).slice(MOST_OF_A_NETWORK - 1));
  const left = others.filter((each) => !ended.has(each));
  const isKnown = ({ network }: PendingRecord): boolean => network?.startsWith(KNOWN) === true;
  const byWorth = [...left.filter(isKnown), ...left.filter((each) => !isKnown(each))];
  const value = [...ended, ...byWorth.slice(MOST_OF_AN_ACCOUNT - 1)].map(({ id }) => id);
  if (value.length === 0) return;
  await store.write({ changes: [...endOfEach(userId, value)] });
}

/** Returns the changes that end waiting logins, with the factors that they have not confirmed. */
function endOfEach(userId: number, value: readonly Value[]): readonly Change[] {
  const unconfirmed: Where = { all: [ofUser(userId), { column: "pending", operator: "in", value }] };
  return [
    { kind: "deleteAll", collection: pendingLoginsCollection, where: { column: "id", operator: "in", value } },
    { kind: "deleteAll", collection: factorsCollection, where: unconfirmed },
  ];
}

function addProof({ key, proofs }: PendingLogin, proof: Proof): readonly Change[] {
  const values = { proofs: formatProofs([...proofs, proof]) };
  return [requireWaiting(key), update(pendingLoginsCollection, { key, values })];
}

function requireWaiting(key: string): Change {
  const where = equals("id", key);
  return { kind: "require", collection: pendingLoginsCollection, where, atLeast: 1, name: PENDING_ENDED };
}

function readLive(row: Row<PendingRecord> | null, now: number): PendingLogin | null {
  const login = row === null ? null : read(row);
  return login === null || login.expiresAt <= now || login.tries >= MOST_TRIES ? null : login;
}

function read(row: Row<PendingRecord>): PendingLogin | null {
  const { id: key, user_id, generation, purpose, beginning, options, holder, tries, ...more } = storedOf(row);
  const proofs = parseProofs(more.proofs);
  if (proofs === null) return null;
  const expiresAt = Date.parse(more.expires_at);
  return { key, userId: user_id, generation, purpose, proofs, beginning, options, holder, expiresAt, tries };
}

function hashName(name: string): string {
  return digest(name).toString("base64url");
}
