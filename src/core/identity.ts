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
  /** Those of the user's own fields that `accounts({ identity })` names, as they are now; left out where it names none. */
  readonly fields?: IdentityFields;
  /** The issuer elsewhere that vouched for the caller, where one did. */
  readonly issuer?: string;
}

/** Fields of a user, by their names. */
export type IdentityFields = Readonly<Record<string, string | number | boolean | null>>;

/** Whether it is an object of plain values. */
export function isIdentityFields(value: unknown): value is IdentityFields {
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.values(value).every(isPlain);
}

function isPlain(value: unknown): boolean {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

/** What a user may be: `user`, `admin`, or another that is declared. */
export type Role = "user" | "admin" | (string & {});

/** The roles that there are where none are declared. */
export const usualRoles: readonly Role[] = ["user", "admin"];
