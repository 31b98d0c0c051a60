// What the documentation of several endpoints of the service says alike.
export { ifNoneMatch, notModified, objectSchema, nullable, textSchema } from "../../door/http.ts";

/** A user, as the users' own paths describe one. */
export const userSchema = { $ref: "#/components/schemas/User" } as const;
