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
  /** The refresh family that the caller's access token came from, where there is one. */
  readonly family?: string;
  /** The named key that the caller came with, where it was one. */
  readonly keyId?: string;
  /** When the caller showed who they are, in milliseconds since the epoch: a login, not a refresh. Left out where that cannot be told, which is never fresh. */
  readonly authTime?: number;
  /** The issuer elsewhere that vouched for the caller, where one did. */
  readonly issuer?: string;
}

/** What a user may be. */
export type Role = "user" | "admin";
