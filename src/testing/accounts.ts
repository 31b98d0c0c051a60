import { throttleCollections } from "../access/throttle/throttle.ts";
import { hashPassword } from "../core/crypto/password-hash.ts";
import { accountsCollection, storeAccounts, type Accounts } from "../features/auth/records/accounts.ts";
import { bindingsCollection } from "../features/auth/records/bindings.ts";
import type { Store, WrittenValues } from "../store/store.ts";

/** A user with an account, in the form that a test writes. */
export interface Person {
  readonly username: string;
  readonly password?: string;
  /** The hash, instead of a password. */
  readonly passwordHash?: string | null;
  readonly active?: boolean;
  readonly role?: "user" | "admin";
}

/** Opens a store and inserts accounts. Their ids are 1, 2, 3 … in the given order. The store may be open already. */
export async function accountsIn(store: Store, people: readonly Person[]): Promise<Accounts> {
  await store.open([accountsCollection, bindingsCollection, ...throttleCollections]);
  for (const person of people) {
    const values: WrittenValues = {
      username: person.username,
      username_follows_email: false,
      role: person.role ?? "user",
      active: person.active ?? true,
      password_hash:
        person.password === undefined ? (person.passwordHash ?? null) : await hashPassword(person.password),
      generation: 1,
      created_at: "2026-01-01T00:00:00.000Z",
      last_login_at: null,
      username_origin: "given",
    };
    await store.write({ changes: [{ kind: "insert", collection: accountsCollection, values }] });
  }
  return storeAccounts(store);
}
