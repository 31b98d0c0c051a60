import { administrator, allOf, anyOf, self, unlimited } from "../../access/permission/permission.ts";

/** The user of the path, and administrators. */
export const ownOrAny = anyOf(administrator, self());

/** The same for endpoints that create, change or end a way to log in: a limited key must not extend its own rights. */
export const ownOrAnyUnlimited = allOf(unlimited, ownOrAny);
