/** The schema of a user, as the endpoints of users describe it. */
export const userSchema = { $ref: "#/components/schemas/User" } as const;

/** The schema of the caller's own password in a body. */
export const proofSchema = {
  type: "string",
  maxLength: 256,
  writeOnly: true,
  description: "The caller's own password, if the login is older than ten minutes.",
} as const;
