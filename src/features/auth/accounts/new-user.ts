import { markHash } from "../../../core/crypto/password-hash.ts";
import type { Mount } from "../../../http/declarations/mount.ts";
import { insert } from "../../../http/declarations/table.ts";
import { isStored } from "../../../resource/declaration/field.ts";
import type { Fields } from "../../../resource/resource.ts";
import { keyOf, type Change, type Value, type WrittenValues } from "../../../store/store.ts";
import type { NewUser } from "../people/contracts/accounts.ts";
import { accountsCollection, firstGeneration } from "../records/accounts.ts";
import { giveName } from "../records/given-names.ts";
import { resolveDefault } from "./standard.ts";

/**
 * Returns the changes that create a user and the account with the same id. `at` is the position of the first change in
 * the transaction.
 */
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
    password_hash: passwordHash === null ? null : markHash(passwordHash, 0),
    password_until: more.passwordUntil ?? null,
    generation: firstGeneration(now),
    created_at: more.createdAt ?? new Date(now).toISOString(),
    last_login_at: more.lastLoginAt ?? null,
    username_origin: more.usernameOrigin ?? "given",
    email_verified_at: more.emailVerifiedAt ?? null,
    email_origin: more.emailOrigin ?? "chosen",
  };
  return [
    { kind: "insert", collection: users.collection, values: { name, email, ...ownValues(users.resource.fields, now) } },
    insert(accountsCollection, { key: keyOf(at), values: account }),
    ...giveName(keyOf(at), username),
  ];
}

/** Returns the default values of the custom fields, for a user who is created without a caller. */
function ownValues(fields: Fields, now: number): WrittenValues {
  const own = Object.entries(fields).filter(([name, field]) => name !== "name" && name !== "email" && isStored(field));
  const context = { identity: null, now, requireIdentity: noCaller };
  return Object.fromEntries(own.map(([name, field]) => [name, resolveDefault(field, context) as Value]));
}

function noCaller(): never {
  throw new TypeError("A field of users needs the caller, but this user is created without one.");
}
