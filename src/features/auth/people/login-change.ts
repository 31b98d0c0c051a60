import type { EmailOrigin, UsernameOrigin } from "../records/accounts.ts";

/** A part of a login: what the user logs in with, and as what. */
export type LoginPart = "password" | "email" | "username" | "role";

declare const brand: unique symbol;

/** The right to change parts of the login of one account. Only `allowChange` makes it, after the caller was checked. */
export interface LoginChange {
  readonly [brand]: "login change";
}

/** The columns of an account that decide about its login. */
type LoginColumns = {
  readonly password_hash?: string | null;
  readonly password_until?: string | null;
  readonly password_once?: "unused" | "used" | null;
  readonly username?: string;
  readonly username_follows_email?: boolean;
  readonly username_origin?: UsernameOrigin;
  readonly email_verified_at?: string | null;
  readonly email_origin?: EmailOrigin;
  readonly role?: string;
  readonly was_administrator_at?: string;
};

const partOf: Readonly<Record<keyof LoginColumns, LoginPart>> = {
  password_hash: "password",
  password_until: "password",
  password_once: "password",
  username: "username",
  username_follows_email: "username",
  username_origin: "username",
  email_verified_at: "email",
  email_origin: "email",
  role: "role",
  was_administrator_at: "role",
};

const rights = new WeakMap<object, { readonly userId: number; readonly parts: ReadonlySet<LoginPart> }>();

/**
 * Makes the right to change parts of a login. Call it only after the caller was checked:
 * `tests/project/login-changes.test.ts` has the list of files that may import it.
 */
export function allowChange(userId: number, parts: readonly LoginPart[]): LoginChange {
  const change = Object.freeze({}) as LoginChange;
  rights.set(change, { userId, parts: new Set(parts) });
  return change;
}

/**
 * Returns the columns of a changed login, for the row of the account. Throws `TypeError` if `change` is not the right
 * to change these columns of this account.
 */
export function loginColumns(change: LoginChange, userId: number, columns: LoginColumns): LoginColumns {
  const right = rights.get(change);
  const names = Object.keys(columns) as (keyof LoginColumns)[];
  if (right === undefined || right.userId !== userId || names.some((name) => !right.parts.has(partOf[name])))
    throw new TypeError(
      "This change of a login was not allowed. Only requireMayChange and proofs of its user allow it.",
    );
  return { ...columns };
}
