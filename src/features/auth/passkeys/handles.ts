import { randomBytes } from "node:crypto";
import { problem } from "../../../core/problem/problem.ts";
import { insert, storedOf, table } from "../../../http/declarations/table.ts";
import { reference } from "../../../resource/kinds/fields.ts";
import type { Store } from "../../../store/store.ts";

/** The user handles of accounts. They are deleted with the account. */
export const userHandlesCollection = table({
  name: "passkey_users",
  id: "text",
  fields: { user_id: reference("accounts", { unique: true, onDelete: "cascade" }) },
});

/** The recommended length (WebAuthn §14.6.1). */
const HANDLE_BYTES = 64;

/**
 * The user handles of a store, in base64url. An authenticator keeps one passkey for each host and user handle. So the
 * handles of two services at one host must differ, and a handle says nothing about its user.
 */
export interface UserHandles {
  /** Returns the handle of an account. Returns null if it has none yet. */
  find(userId: number): Promise<string | null>;
  /**
   * Returns the handle of an account. Makes it if the account has none yet. Ends the request (404) if the account was
   * deleted.
   */
  require(userId: number): Promise<string>;
}

/** Returns the user handles of a store. */
export function makeUserHandles(store: Store): UserHandles {
  const collection = userHandlesCollection;

  async function find(userId: number): Promise<string | null> {
    const row = await store.findBy(collection, "user_id", userId);
    return row === null ? null : storedOf(row).id;
  }

  return {
    find,
    async require(userId) {
      const found = await find(userId);
      if (found !== null) return found;
      const key = randomBytes(HANDLE_BYTES).toString("base64url");
      const { kind } = await store.write({ changes: [insert(collection, { key, values: { user_id: userId } })] });
      if (kind === "written") return key;
      // Another request has made the handle at the same time.
      const other = await find(userId);
      if (other === null) throw problem("not_found");
      return other;
    },
  };
}

/** Returns the handle of passkeys that are older than random handles. It contains the id of the user. */
export function formatOldHandle(userId: number): string {
  return Buffer.from(`user:${userId}`).toString("base64url");
}
