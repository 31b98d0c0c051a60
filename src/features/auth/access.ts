import { administrator, allOf, anyOf, self, unlimited, type Permission } from "../../access/permission/permission.ts";
import { made } from "../../core/copy.ts";

/** Denies an administrator who acts for a user. */
const notActing: Permission = made({
  name: "not acting",
  decide: ({ identity }) => (identity?.actor === undefined ? "allow" : "deny"),
});

/** Allows the user whose id is in the path, and administrators. Used for the record of a user. */
export const ownRecord = anyOf(administrator, self());

/** Like `ownRecord`, but denies a credential with limited scopes, because it could extend its own rights. */
export const ownRecordUnlimited = allOf(unlimited, ownRecord);

/**
 * Allows the user whose id is in the path, and administrators. Denies an administrator who acts for the user. Used for the account and
 * its credentials.
 */
export const ownOrAny = allOf(notActing, ownRecord);

/**
 * Like `ownOrAny`, but denies a credential with limited scopes. Used for endpoints that create, change or end a way to log in, because a
 * limited key could extend its own rights there.
 */
export const ownOrAnyUnlimited = allOf(unlimited, ownOrAny);
