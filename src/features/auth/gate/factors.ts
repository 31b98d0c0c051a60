import type { Change, Collection, JSONValue, Row, Store } from "../../../store/store.ts";
import { equals, ofUser, timeText } from "../conditions.ts";
import type { StoredFactor } from "./contract.ts";

/** Second factors and passkeys of every kind. Only an active factor can be used. */
export const factorsCollection: Collection = {
  name: "factors",
  key: "integer",
  columns: [
    { name: "user_id", type: "integer", references: { collection: "accounts", onDelete: "cascade" } },
    { name: "kind", type: "text" },
    { name: "label", type: "text" },
    { name: "active", type: "boolean" },
    /** The data of the factor, in the form of its kind. Secrets in it are encrypted under the server's secret. */
    { name: "data", type: "json" },
    /** A name that identifies a factor without its user: the id of a passkey. */
    { name: "handle", type: "text", nullable: true, unique: true },
    /** The waiting login that adds this factor, if there is one. */
    { name: "pending", type: "text", nullable: true },
    { name: "created_at", type: "date-time" },
    { name: "last_used_at", type: "date-time", nullable: true },
  ],
  indexes: [["user_id", "id"], ["created_at"]],
};

/** The largest number of factors of an account, active or not. */
export const MOST_FACTORS = 20;

/** The lifetime of an unconfirmed factor, in milliseconds. */
const UNCONFIRMED_MS = 3_600_000;

/** The kind of the row with the recovery codes of an account. The row alone does not count as a second factor. */
export const RECOVERY = "recovery";

/** The factors of a store. */
export interface Factors {
  /** Returns every factor of an account, active or not, and the row of its recovery codes. Oldest first. */
  list(userId: number): Promise<readonly StoredFactor[]>;
  /** Returns a factor of this account. Returns null if the account has none with this id. */
  find(userId: number, id: number): Promise<StoredFactor | null>;
  /** Returns the active factor with this handle, of any account. Returns null if there is none. */
  findByHandle(handle: string): Promise<StoredFactor | null>;
  insert(factor: NewFactor, now: number): Change;
  /** Returns the change that stores the data of an accepted answer. The outcome is stale if the factor has changed since it was read. */
  use(factor: StoredFactor, data: JSONValue, now: number): Change;
  activate(factor: StoredFactor, data: JSONValue, handle: string | null, now: number): Change;
  delete(factor: StoredFactor): Change;
  due(now: number): readonly Change[];
}

/** A factor to insert. */
export interface NewFactor extends Pick<StoredFactor, "userId" | "kind" | "label" | "active" | "data"> {
  readonly pending?: string | null;
}

/** Returns the factors of a store. */
export function makeFactors(store: Store): Factors {
  const collection = factorsCollection;
  return {
    async list(userId) {
      const sort = [{ column: "id", descending: false }];
      const rows = await store.list({ collection, where: ofUser(userId), sort, limit: MOST_FACTORS + 2 });
      return rows.map(read);
    },
    async find(userId, id) {
      const row = await store.find(collection, id);
      return row?.record["user_id"] === userId ? read(row) : null;
    },
    async findByHandle(handle) {
      const row = await store.findBy(collection, "handle", handle);
      return row === null || row.record["active"] !== true ? null : read(row);
    },
    insert: ({ userId, kind, label, active, data, pending = null }, now) => ({
      kind: "insert",
      collection,
      values: {
        user_id: userId,
        kind,
        label,
        active,
        data,
        handle: null,
        pending,
        created_at: timeText(now),
        last_used_at: null,
      },
    }),
    use: ({ id: key, revision }, data, now) => ({
      kind: "update",
      collection,
      key,
      revision,
      values: { data, last_used_at: timeText(now) },
    }),
    activate: ({ id: key, revision }, data, handle, now) => ({
      kind: "update",
      collection,
      key,
      revision,
      values: { data, handle, active: true, pending: null, last_used_at: timeText(now) },
    }),
    delete: ({ id: key, revision }) => ({ kind: "delete", collection, key, revision }),
    due: (now) => [
      {
        kind: "deleteAll",
        collection,
        where: {
          all: [
            equals("active", false),
            { column: "created_at", operator: "lte", value: timeText(now - UNCONFIRMED_MS) },
          ],
        },
      },
    ],
  };
}

function read({ record, revision }: Row): StoredFactor {
  return {
    id: record["id"] as number,
    userId: record["user_id"] as number,
    kind: record["kind"] as string,
    label: record["label"] as string,
    active: record["active"] as boolean,
    createdAt: record["created_at"] as string,
    lastUsedAt: record["last_used_at"] as string | null,
    data: record["data"] as JSONValue,
    pending: record["pending"] as string | null,
    revision,
  };
}
