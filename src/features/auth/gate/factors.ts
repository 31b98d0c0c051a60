import type { Proof } from "../../../core/identity.ts";
import {
  insert,
  jsonOf,
  storedOf,
  table,
  update,
  type ChangeOf,
  type StoredIn,
} from "../../../http/declarations/table.ts";
import { boolean, dateTime, text } from "../../../resource/kinds/fields.ts";
import type { Change, JSONValue, Row, Store, Where } from "../../../store/store.ts";
import { ofAccount } from "../records/accounts.ts";
import { equals, ofUser, timeText, until } from "../records/conditions.ts";
import type { FactorSuccess, StoredFactor } from "./contract.ts";

/** Second factors and passkeys of every kind. Only an active factor can be used. */
export const factorsCollection = table({
  name: "factors",
  fields: {
    user_id: ofAccount,
    kind: text(),
    label: text(),
    active: boolean(),
    /** The data of the factor, in the form of its kind. Secrets in it are encrypted under the server's secret. */
    data: jsonOf<JSONValue>(),
    /** A name that identifies a factor without its user: the id of a passkey. */
    handle: text({ optional: true, unique: true }),
    /** The waiting login that adds this factor, if there is one. */
    pending: text({ optional: true }),
    /** Until this time, the factor confirms no change of factors, because a login by recovery code added it. */
    held_until: dateTime({ optional: true }),
    created_at: dateTime(),
    last_used_at: dateTime({ optional: true }),
  },
  indexes: [["user_id", "id"], ["created_at"]],
});

/** The largest number of factors of an account, active or not. */
export const MOST_FACTORS = 20;

/** The lifetime of an unconfirmed factor, in milliseconds. */
const UNCONFIRMED_MS = 3_600_000;

/** The same if a waiting login adds the factor. Longer than the lifetime of the login. */
const OF_PENDING_MS = 600_000;

/** For how long a factor confirms no change of factors if a login by recovery code added it, in milliseconds. */
const HELD_MS = 86_400_000;

/** The kind of the row with the recovery codes of an account. The row alone does not count as a second factor. */
export const RECOVERY = "recovery";

/** The factors of a store. */
export interface Factors {
  /**
   * Returns the active factors of an account, with the row of its recovery codes, and the factors that the waiting
   * login `pending` adds. Oldest first.
   */
  list(userId: number, pending?: string): Promise<readonly StoredFactor[]>;
  /** Returns the changes that refuse a further factor of an account with too many. */
  keepRoom(userId: number, pending: string | null): readonly Change[];
  /** Returns a factor of this account. Returns null if the account has none with this id. */
  find(userId: number, id: number): Promise<StoredFactor | null>;
  /** Returns the active factor with this handle, of any account. Returns null if there is none. */
  findByHandle(handle: string): Promise<StoredFactor | null>;
  insert(factor: NewFactor, now: number): ChangeOf<typeof factorsCollection>;
  /**
   * Returns the change that stores the data of an accepted answer. The outcome is stale if the factor has changed since
   * it was read.
   */
  use(factor: StoredFactor, data: JSONValue, now: number): Change;
  activate(factor: StoredFactor, data: JSONValue, handle: string | null, now: number): Change;
  delete(factor: StoredFactor): Change;
  due(now: number): readonly Change[];
}

/** A factor to insert. */
export interface NewFactor extends Pick<StoredFactor, "userId" | "kind" | "label" | "active" | "data"> {
  readonly pending?: string | null;
  /** True if a login by recovery code adds the factor. Default: false. */
  readonly isHeld?: boolean;
}

/** Returns the factors of a store. */
export function makeFactors(store: Store): Factors {
  const collection = factorsCollection;
  return {
    async list(userId, pending) {
      const sort = [{ column: "id", descending: false }];
      const usable: Where = pending === undefined ? isActive : { any: [isActive, equals("pending", pending)] };
      const where = { all: [ofUser(userId), usable] };
      // The codes have a row of their own.
      const rows = await store.list({ collection, where, sort, limit: 2 * MOST_FACTORS + 2 });
      return rows.map(read);
    },
    keepRoom(userId, pending) {
      const own: Where =
        pending === null ? { column: "pending", operator: "null", value: true } : equals("pending", pending);
      // The factors that other waiting logins add do not count. Otherwise a caller who knows only the password could
      // use all places up.
      const counted: Where = { any: [isActive, own] };
      const where: Where = { all: [ofUser(userId), { column: "kind", operator: "ne", value: RECOVERY }, counted] };
      return [{ kind: "require", collection, where, atMost: MOST_FACTORS - 1, name: "too_many" }];
    },
    async find(userId, id) {
      const row = await store.find(collection, id);
      return row !== null && storedOf(row).user_id === userId ? read(row) : null;
    },
    async findByHandle(handle) {
      const row = await store.findBy(collection, "handle", handle);
      return row === null || !storedOf(row).active ? null : read(row);
    },
    insert: ({ userId, kind, label, active, data, pending = null, isHeld = false }, now) =>
      insert(collection, {
        values: {
          user_id: userId,
          kind,
          label,
          active,
          data,
          handle: null,
          pending,
          held_until: isHeld ? timeText(now + HELD_MS) : null,
          created_at: timeText(now),
          last_used_at: null,
        },
      }),
    use: ({ id: key, revision }, data, now) =>
      update(collection, { key, revision, values: { data, last_used_at: timeText(now) } }),
    activate: ({ id: key, revision, heldUntil }, data, handle, now) =>
      update(collection, {
        key,
        revision,
        values: {
          data,
          handle,
          active: true,
          pending: null,
          held_until: heldUntil === null ? null : timeText(now + HELD_MS),
          last_used_at: timeText(now),
        },
      }),
    delete: ({ id: key, revision }) => ({ kind: "delete", collection, key, revision }),
    due: (now) => [
      deleteUnconfirmed([until("created_at", now - UNCONFIRMED_MS)]),
      deleteUnconfirmed([
        until("created_at", now - OF_PENDING_MS),
        { column: "pending", operator: "null", value: false },
      ]),
    ],
  };
}

const isActive = equals("active", true);

function deleteUnconfirmed(conditions: readonly Where[]): Change {
  return { kind: "deleteAll", collection: factorsCollection, where: { all: [equals("active", false), ...conditions] } };
}

/** Returns the proof of a right answer of a factor. `now` in milliseconds. */
export function proofOf({ id, heldUntil }: StoredFactor, proof: FactorSuccess["proof"], now: number): Proof {
  const isHeld = heldUntil !== null && Date.parse(heldUntil) > now;
  return { ...proof, at: now, factor: String(id), ...(isHeld ? { isHeld } : {}) };
}

function read(row: Row<StoredIn<typeof factorsCollection>>): StoredFactor {
  const { id, user_id, kind, label, active, created_at, last_used_at, data, pending, held_until } = storedOf(row);
  return {
    id,
    userId: user_id,
    kind,
    label,
    active,
    createdAt: created_at,
    lastUsedAt: last_used_at,
    data,
    pending,
    heldUntil: held_until,
    revision: row.revision,
  };
}
