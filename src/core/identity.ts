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
  /** What the caller has proved, oldest first. Missing for credentials of programs: API tokens, keys and the custom header. */
  readonly proofs?: readonly Proof[];
  /** How strong these proofs are together. Missing if `proofs` is. */
  readonly level?: Level;
  /** The level that the account needs, as `identityOf` finds it. If it is missing, the service looks up the account. */
  readonly needs?: Level;
  /** The administrator who acts for this user, if one does (the `act` claim of RFC 8693). */
  readonly actor?: Actor;
}

/** A method that proves an identity. The names of RFC 8176 if it has one: password, one-time code, hardware key. */
export type ProofMethod = "pwd" | "otp" | "hwk" | "mail" | "recovery" | "fed" | "proxy" | "operator";

/** How strong the proofs of a login are: 0 without any, 1 with one kind, 2 with a second factor. */
export type Level = 0 | 1 | 2;

/** One proof of an identity. */
export interface Proof {
  readonly method: ProofMethod;
  /** The time of the proof, in milliseconds since the epoch. A refresh does not change it. */
  readonly at: number;
  /** The id of the factor that gave it. */
  readonly factor?: string;
  /** The passkey checked the person too (user verification), so it counts as two kinds. */
  readonly verifiesUser?: boolean;
  /** The configuration of an identity provider, an outside issuer or a proxy says that it has checked a second factor. */
  readonly vouchesFor?: 2;
}

/** A user who acts for another one. */
export interface Actor {
  readonly id: number;
  readonly username: string;
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
