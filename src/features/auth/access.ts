import { administrator, allOf, anyOf, self, unlimited, type Permission } from "../../access/permission/permission.ts";
import { made } from "../../core/copy.ts";

/** Denies an administrator who acts for a user. */
const notActing: Permission = made({
  name: "not acting",
  decide: ({ identity }) => (identity?.actor === undefined ? "allow" : "deny"),
});

/** The user of the path, and administrators. For the record of a user. */
export const ownRecord = anyOf(administrator, self());

/** The same, except for a credential with limited scopes, which must not extend its own rights. */
export const ownRecordUnlimited = allOf(unlimited, ownRecord);

/** The user of the path, and administrators, but no administrator who acts for the user. For the account and its credentials. */
export const ownOrAny = allOf(notActing, ownRecord);

/** The same for endpoints that create, change or end a way to log in: a limited key must not extend its own rights. */
export const ownOrAnyUnlimited = allOf(unlimited, ownOrAny);
