// The common parts of the documentation of several endpoints.
export { ifNoneMatch, notModified } from "../../door/http.ts";

/** A user, in the schema of the users' own paths. */
export const userSchema = { $ref: "#/components/schemas/User" } as const;
