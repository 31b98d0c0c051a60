/** The caller: the result of a scheme, and everything that permissions may know. */
export interface Identity {
  /** The user's id. */
  readonly id: number;
  readonly username: string;
  readonly role: Role;
  /** The name of the scheme that accepted the credential. */
  readonly scheme: string;
  /** The scopes of the credential. Null if it is not limited. */
  readonly scopes: readonly string[] | null;
  /** The end of the credential, in milliseconds since the epoch. Null if it has none. */
  readonly expiresAt: number | null;
  /** The id under which the caller's session is stored, if there is one. */
  readonly sessionId?: string;
  /** The refresh family of the caller's access token, if there is one. */
  readonly family?: string;
  /** The caller's named key, if there is one. */
  readonly keyId?: string;
  /**
   * The time of the login, in milliseconds since the epoch. A refresh is not a login. Left out if it is unknown. An
   * unknown time never counts as fresh.
   */
  readonly authTime?: number;
  /** The current values of the user's fields that `accounts({ identity })` names. Left out if it names none. */
  readonly fields?: IdentityFields;
  /** The external issuer that vouched for the caller, if there was one. */
  readonly issuer?: string;
  /**
   * The proofs of the caller, oldest first. Missing for credentials of programs: API tokens, keys and the custom
   * header.
   */
  readonly proofs?: readonly Proof[];
  /** How strong these proofs are together. Missing if `proofs` is missing. */
  readonly level?: Level;
  /** The level that the account needs, as `identityOf` finds it. If it is missing, the service looks up the account. */
  readonly needs?: Level;
  /** The administrator who acts for this user, if one does (the `act` claim of RFC 8693). */
  readonly actor?: Actor;
}

/**
 * A method that proves an identity. Named as in RFC 8176 if that RFC lists the method: password, one-time code,
 * hardware key.
 */
export type ProofMethod = "pwd" | "otp" | "hwk" | "mail" | "recovery" | "fed" | "proxy" | "operator";

/** How strong the proofs of a login are: 0 without any, 1 with one kind, 2 with a second factor. */
export type Level = 0 | 1 | 2;

/** One proof of an identity. */
export interface Proof {
  readonly method: ProofMethod;
  /** The time of the proof, in milliseconds since the epoch. A refresh does not change it. */
  readonly at: number;
  /** The id of the factor. */
  readonly factor?: string;
  /** True if the passkey also checked the person (user verification). The proof then counts as two kinds of proof. */
  readonly verifiesUser?: boolean;
  /**
   * True if a login by recovery code added the factor less than a day before the proof. Such a proof confirms no change
   * of factors, as a recovery code confirms none.
   */
  readonly isHeld?: boolean;
  /**
   * Set if the configuration of an identity provider, an external issuer or a proxy says that it checks a second
   * factor.
   */
  readonly vouchesFor?: 2;
}

/** A user who acts for another user. */
export interface Actor {
  readonly id: number;
  readonly username: string;
}

/** Fields of a user, by their names. */
export type IdentityFields = Readonly<Record<string, string | number | boolean | null>>;

/** True if the value is an object of plain values. */
export function isIdentityFields(value: unknown): value is IdentityFields {
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.values(value).every(isPlain);
}

function isPlain(value: unknown): boolean {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

/** The role of a user: `user`, `admin`, or another declared role. */
export type Role = "user" | "admin" | (string & {});

/** The roles if none are declared. */
export const usualRoles: readonly Role[] = ["user", "admin"];
