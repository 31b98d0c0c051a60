import { administrator, allOf, anyOf, self, unlimited } from "../../access/permission/permission.ts";

/** The user of the path, and administrators. */
export const ownOrAny = anyOf(administrator, self());

/** The same for what makes, changes or ends a way of logging in: a key that is limited must not give itself more. */
export const ownOrAnyUnlimited = allOf(unlimited, ownOrAny);
