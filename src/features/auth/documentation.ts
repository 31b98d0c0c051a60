/** A user, as the users' own paths describe one. */
export const userSchema = { $ref: "#/components/schemas/User" } as const;

/** The caller's own password, in a body. */
export const proofSchema = {
  type: "string",
  maxLength: 256,
  writeOnly: true,
  description: "The caller's own password, where the login is older than ten minutes.",
} as const;
