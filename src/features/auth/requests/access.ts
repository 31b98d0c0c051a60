import {
  administrator,
  allOf,
  anyOf,
  self,
  unlimited,
  type Permission,
} from "../../../access/permission/permission.ts";
import { made } from "../../../core/copy.ts";
import type { Identity } from "../../../core/identity.ts";

/** Denies an administrator who acts for a user. */
export const notActing: Permission = made({
  name: "not acting",
  description: "no administrator acts for the user",
  decide: ({ identity }) => (identity?.actor === undefined ? "allow" : "deny"),
});

/** Allows the user whose id is in the path, and administrators. Used for the record of a user. */
export const ownRecord = anyOf(administrator, self());

/** The scope with which a key of an administrator changes the logins of other users. The key also needs `write`. */
export const CREDENTIALS_SCOPE = "users:credentials";

/** True if the caller is a key of an administrator that may change the logins of other users. */
export function mayChangeLogins({ role, scopes, keyId }: Identity): boolean {
  if (role !== "admin" || keyId === undefined || scopes === null) return false;
  return scopes.includes("write") && scopes.includes(CREDENTIALS_SCOPE);
}

/** Allows a key with the scope for logins, but not for its own user, because it could extend its own rights. */
const keyForOthers: Permission = made({
  name: "key for the logins of others",
  description: `the credential is a key with the scope ${CREDENTIALS_SCOPE} and the user is another one`,
  decide: ({ identity, params }) =>
    identity !== null && mayChangeLogins(identity) && params["id"] !== identity.id ? "allow" : "deny",
});

/**
 * Like `ownRecord`, but denies a credential with limited scopes, because it could extend its own rights. Allows a key
 * for the logins of others.
 */
export const ownRecordUnlimited = anyOf(allOf(unlimited, ownRecord), allOf(keyForOthers, administrator));

/** Like `ownRecordUnlimited`, with another permission in place of `ownRecord`. */
export function changingUsers(permission: Permission<string>): Permission<string> {
  return allOf(anyOf(unlimited, keyForOthers), permission);
}

/** Like `ownOrAnyUnlimited`, with another permission in place of `ownRecord`. */
export function removingUsers(permission: Permission<string>): Permission<string> {
  return allOf(unlimited, notActing, permission);
}

/**
 * Allows the user whose id is in the path, and administrators. Denies an administrator who acts for the user. Used for
 * the account and its credentials.
 */
export const ownOrAny = allOf(notActing, ownRecord);

/**
 * Like `ownOrAny`, but denies a credential with limited scopes. Used for endpoints that create, change or end a way to
 * log in, because a limited key could extend its own rights there.
 */
export const ownOrAnyUnlimited = allOf(unlimited, ownOrAny);

/** Like `ownOrAnyUnlimited`, but allows a key for the logins of others. Used for changes of an account. */
export const changesAccount = anyOf(ownOrAnyUnlimited, allOf(notActing, keyForOthers, administrator));
