/** Who is calling: what a scheme found out, and all that permissions may know. */
export interface Identity {
  /** The user's id. */
  readonly id: number;
  readonly username: string;
  readonly role: Role;
  /** The name of the scheme that accepted the credential. */
  readonly scheme: string;
  /** What the credential is limited to; null where it is not limited. */
  readonly scopes: readonly string[] | null;
  /** When the credential ends, in milliseconds since the epoch; null where it does not. */
  readonly expiresAt: number | null;
  /** The id under which the session is stored, where the caller came with one. */
  readonly sessionId?: string;
  /** The issuer elsewhere that vouched for the caller, where one did. */
  readonly issuer?: string;
}

/** What a user may be. */
export type Role = "user" | "admin";
