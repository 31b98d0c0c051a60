import { accountsCollection, firstGeneration, keyOf, type Change, type Mount, type Role } from "../index.ts";

/** A user who is made by the service itself and not by a caller. */
export interface NewUser {
  readonly name: string;
  readonly email: string;
  readonly username: string;
  readonly role: Role;
  /** Null: cannot log in with a password. */
  readonly passwordHash: string | null;
  /** RFC 3339: unless it is used, the password is good until then; left out: for as long as nobody changes it. */
  readonly passwordUntil?: string;
  /** True where it is left out. */
  readonly active?: boolean;
  /** RFC 3339; `now` where it is left out. */
  readonly createdAt?: string;
  /** RFC 3339 */
  readonly lastLoginAt?: string | null;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The changes that make a user and the account of the same id. `at` is where they stand in the transaction. */
export function insertUser(
  users: Mount,
  { name, email, username, role, passwordHash, now, ...more }: NewUser,
  at = 0,
): readonly Change[] {
  const account = {
    username,
    username_follows_email: username === email,
    role,
    active: more.active ?? true,
    password_hash: passwordHash,
    password_until: more.passwordUntil ?? null,
    generation: firstGeneration(now),
    created_at: more.createdAt ?? new Date(now).toISOString(),
    last_login_at: more.lastLoginAt ?? null,
    username_origin: "given",
  };
  return [
    { kind: "insert", collection: users.collection, values: { name, email } },
    { kind: "insert", collection: accountsCollection, key: keyOf(at), values: account },
  ];
}
