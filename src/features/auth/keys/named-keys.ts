import { requireOptions } from "../../../core/checking/options.ts";
import { tokenIssuer } from "../../../core/crypto/issued-tokens.ts";
import { makeLookup, opaqueTokenPrefix, type OpaqueToken } from "../../../core/crypto/opaque-token.ts";
import { after, type Eventually } from "../../../core/eventually.ts";
import { problem } from "../../../core/problem/problem.ts";
import { insert, storedOf, table, type StoredIn } from "../../../http/declarations/table.ts";
import { dateTime, text } from "../../../resource/kinds/fields.ts";
import { array } from "../../../resource/kinds/lists.ts";
import type { Row, Store, Value, Change, Outcome } from "../../../store/store.ts";
import type { CheckedKey } from "../api-tokens/scheme.ts";
import { Admission } from "../gate/admission.ts";
import { NOT_ACTIVE, notActive, ofAccount, requireActive } from "../records/accounts.ts";
import { ofUser, timeText } from "../records/conditions.ts";
import { tokenChecks, type TokensOptions } from "../records/token-prefix.ts";
import { makeTouch } from "../records/touch.ts";

/** Named keys. The key of a row is the lookup id. The secret is stored as a digest that only this server can make. */
export const namedKeysCollection = table({
  name: "named_keys",
  id: "text",
  fields: {
    user_id: ofAccount,
    name: text(),
    digest: text(),
    /** Null if the key is not limited. */
    scopes: array(text(), { optional: true }),
    created_at: dateTime(),
    expires_at: dateTime({ optional: true }),
    last_used_at: dateTime({ optional: true }),
  },
  indexes: [["user_id", "created_at"]],
});

type KeyRecord = StoredIn<typeof namedKeysCollection>;

/** The public data of a key. */
export interface ListedKey {
  readonly id: string;
  readonly name: string;
  /** The prefix of the service's tokens, and the lookup id. */
  readonly prefix: string;
  readonly scopes: readonly string[] | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
}

/** The requested properties of a new key. */
export interface NewKey {
  readonly name: string;
  readonly scopes: readonly string[] | null;
  /** RFC 3339. Null if the key does not expire. */
  readonly expiresAt: string | null;
}

/** A page of a user's keys, oldest first. */
export interface KeyPage {
  /** Returns only the keys after this one, given by its `created_at` and `id`. */
  readonly after: readonly Value[] | null;
  /** Reverses the order: newest first. */
  readonly backwards: boolean;
  readonly limit: number;
}

/** The named keys of a store. `now` in milliseconds. */
export interface NamedKeys {
  /** Makes a new key. Only this result contains the secret. Each admission allows one key. */
  create(
    admission: Admission,
    newKey: NewKey,
    now: number,
  ): Promise<{ readonly listed: ListedKey; readonly key: string }>;
  /** Returns the keys of a user, oldest first. If `page` is left out, returns all keys. */
  list(userId: number, page?: KeyPage): Promise<readonly ListedKey[]>;
  /** Returns a key of the user by its id. Returns null if the user has none with that id. */
  find(userId: number, id: string): Promise<ListedKey | null>;
  /** Revokes a key of the user. Returns false if the user has none with that id. */
  revoke(userId: number, id: string): Promise<boolean>;
  /** Returns the user and the scopes of a key, and records its use. */
  check(key: OpaqueToken, now: number): Eventually<CheckedKey>;
}

const maxKeys = 100;
const idForm = /^[0-9A-Za-z]{14}$/;

/** Returns the named keys of a store. */
export function storeNamedKeys(options: TokensOptions): NamedKeys {
  requireOptions(options, tokenChecks, { of: "storeNamedKeys" });
  const { store, secret, observe, prefix } = options;
  const issuer = tokenIssuer(secret, "named-key", prefix);
  const touch = makeTouch({ store, collection: namedKeysCollection, column: "last_used_at", everyMs: 60_000, observe });

  return {
    async create(admission, { name, scopes, expiresAt }, now) {
      const account = Admission.spend(admission);
      const { id: userId } = account;
      const lookup = makeLookup();
      const { token, digest } = issuer.issue(lookup, userId);
      const values = {
        user_id: userId,
        name,
        digest,
        scopes,
        created_at: timeText(now),
        expires_at: expiresAt,
        last_used_at: null,
      };
      const outcome = await store.write({
        changes: [
          requireRoom(userId),
          insert(namedKeysCollection, { key: lookup, values }),
          requireActive(account),
          ...admission.notices,
        ],
      });
      return { listed: listed(requireRows(outcome)[1]!, prefix), key: token };
    },
    async list(userId, { after: place, backwards, limit } = { after: null, backwards: false, limit: maxKeys }) {
      const sort = ["created_at", "id"].map((column) => ({ column, descending: backwards }));
      const pageStart = place === null ? {} : { after: place };
      const query = { collection: namedKeysCollection, where: ofUser(userId), sort, limit, ...pageStart };
      return (await store.list(query)).map((row) => listed(row, prefix));
    },
    async find(userId, id) {
      const row = await findRow(store, userId, id);
      return row === null ? null : listed(row, prefix);
    },
    async revoke(userId, id) {
      if ((await findRow(store, userId, id)) === null) return false;
      const outcome = await store.write({ changes: [{ kind: "delete", collection: namedKeysCollection, key: id }] });
      return outcome.kind === "written";
    },
    check: (token, now) =>
      after(store.find(namedKeysCollection, token.lookup), (row): CheckedKey => {
        if (row === null) return { kind: issuer.wasIssued(token) ? "revoked" : "unknown" };
        const { user_id: userId, digest, scopes, expires_at, last_used_at } = storedOf(row);
        if (!issuer.isGenuine(token, userId, digest)) return { kind: "forged" };
        const expiresAt = expires_at === null ? null : Date.parse(expires_at);
        // Reported only to a caller who knows the key.
        if (expiresAt !== null && now >= expiresAt) return { kind: "expired" };
        touch(token.lookup, last_used_at, now);
        return { kind: "genuine", userId, scopes, expiresAt, keyId: token.lookup };
      }),
  };
}

async function findRow(store: Store, userId: number, id: string): Promise<Row<KeyRecord> | null> {
  const row = idForm.test(id) ? await store.find(namedKeysCollection, id) : null;
  return row !== null && storedOf(row).user_id === userId ? row : null;
}

function requireRoom(userId: number): Change {
  const where = ofUser(userId);
  return { kind: "require", collection: namedKeysCollection, where, atMost: maxKeys - 1, name: "keys" };
}

/** Returns the rows of a new key. Ends the request if the key cannot be made. */
function requireRows(outcome: Outcome): readonly (Row | null)[] {
  switch (outcome.kind) {
    case "written":
      return outcome.rows;
    case "dangling":
      throw problem("not_found");
    case "refused": {
      const tooMany = `A user has at most ${maxKeys} keys. Delete one first.`;
      throw problem("conflict", { detail: outcome.name === NOT_ACTIVE ? notActive : tooMany });
    }
    default:
      throw new Error(`The store answered ${outcome.kind} to a new key.`);
  }
}

function listed(row: Row<KeyRecord>, prefix: string | undefined): ListedKey {
  const { id, name, scopes, created_at, expires_at, last_used_at } = storedOf(row);
  return { id, name, prefix: opaqueTokenPrefix(id, prefix), scopes, created_at, expires_at, last_used_at };
}
