import type { Identity } from "../../../../core/identity.ts";
import type { Context } from "../../../../http/request/exchange.ts";
import type { Collection, Where } from "../../../../store/store.ts";
import type { ListedLogin, LoginPage } from "../../records/logins.ts";
import type { Revocations } from "../../records/revocation.ts";

/** Ends credentials: with a password or an account, one at a time, or at their expiry. */
export interface EndingsContract extends Pick<
  Revocations,
  "isRevoked" | "endFamily" | "endAccess" | "endAccount" | "endLogins"
> {
  /**
   * Registers a collection with a `user_id` whose rows the service deletes. `password`: when the password changes, and
   * with the account. `account`: only with the account. `ended` is the condition of the rows that end with a password.
   * Default: all rows. The table must be in the feature's collections. Called in `setUp`. Throws `DeclarationError` if
   * the table has no integer column `user_id`.
   */
  registerTable(when: "password" | "account", collection: Collection, ended?: Where): void;
  /** Adds logins of one kind to `/users/{id}/sessions`. Called in `setUp`. */
  registerLoginSource(source: LoginSource): void;
  /**
   * Registers the longest lifetime of credentials that only revocations can end. Revocations are stored for that time.
   * Called in `setUp`.
   */
  rememberRevocations(seconds: number): void;
  /**
   * Returns the expiry of a credential that a login by an outside party makes, in milliseconds since the epoch. Returns
   * null if it needs none. Ends the request with 403 if such a login may not make credentials.
   */
  outsideEnd(context: Context): number | null;
}

/** The logins of one kind. Each login can be ended separately. */
export interface LoginSource {
  /** Returns the active logins of a user. `caller` is the caller's identity. The caller's own login is `current`. */
  list(userId: number, page: LoginPage, caller: Identity): Promise<readonly ListedLogin[]>;
  /** Ends one login. Returns false if the user has none with that id. `now` in milliseconds since the epoch. */
  endOne(userId: number, id: string, now: number): Promise<boolean>;
}
