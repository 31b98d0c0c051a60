// What the documentation of several endpoints of the service says alike.
export { ifNoneMatch, notModified, objectSchema, orNull, textSchema } from "../index.ts";

/** A user, as the users' own paths describe one. */
export const userSchema = { $ref: "#/components/schemas/User" } as const;
