import type { LoginThrottle } from "../../access/throttle/throttle.ts";
import type { Identity, Role } from "../../core/identity.ts";
import type { Feature } from "../../feature/feature.ts";
import type { Context } from "../../http/exchange.ts";
import type { Change, Collection } from "../../store/store.ts";
import type { Passwords } from "./accounts/passwords/passwords.ts";
import type { Account, Accounts } from "./accounts/stored-accounts.ts";
import type { Bindings } from "./bindings.ts";
import type { ListedLogin, LoginPage } from "./logins.ts";
import type { Revocations } from "./tokens/revocation.ts";
import type { ShownUser, UsersMount } from "./users.ts";

// The contract of logins: what `accounts()` offers to every way of logging in, and to one's own code.

/** Who may log in: what the feature `accounts()` offers. */
export interface People {
  readonly accounts: Accounts;
  readonly bindings: Bindings;
  readonly passwords: Passwords;
  /** Counts wrong credentials, the same for everybody in the service. */
  readonly throttle: LoginThrottle;
  readonly revocations: Revocations;
  /** The users' resource as it is served. */
  readonly users: UsersMount;
  /** What a user may be. */
  readonly roles: readonly Role[];
  /** The user's own fields that stand in the identity, by their names. */
  readonly identityFields: readonly string[];
  /** What the service calls itself in what it signs: the `iss` of its tokens. */
  readonly issuer: string;
  /** What API tokens and keys begin with. */
  readonly tokenPrefix: string;
  /** A user as others see it. Ends the request (404) where there is none. */
  requireUser(id: number): Promise<ShownUser>;
  /** The account whose id stands in the path. Ends the request (404) where there is none. */
  requireAccount(context: Context): Promise<Account>;
  /** The account with this name and password, which remembers the login. Ends the request: 401 for every reason why there is none, 429, 503. */
  requireLogin(context: Context, username: string, password: string): Promise<Account>;
  /** Ends the request (400) unless the caller logged in within ten minutes, or `proof` is their password: a credential must not make others that outlive it. */
  requireFreshLogin(context: Context, proof: string | undefined): Promise<void>;
  /** Writes down when an account has logged in (`last_login_at`), by other means than its password. `start` of a login does it. */
  noteLogin(context: Context, account: Account): Promise<void>;
  /**
   * The end of a credential that is made through a login that others vouch for, in milliseconds since the epoch; null where it needs
   * none. Ends the request (403) where nothing may be made through such a login.
   */
  outsideEnd(context: Context): number | null;
  /** The changes that make a user and the account of the same id. `at` is where they stand in the transaction. */
  insertUser(user: NewUser, at?: number): readonly Change[];
  /**
   * Rows with a `user_id` that end with a changed password and with the account, or only with the account ("account"). The table is to
   * be among the feature's collections. Called in `setUp`. Throws `DeclarationError` if the table has no integer column `user_id`.
   */
  endsWith(when: "password" | "account", collection: Collection): void;
  /** Puts logins of one kind into `/users/{id}/sessions`. Called in `setUp`. */
  listLogins(source: LoginSource): void;
  /** Credentials that only `revocations` can end live so long at most: what was revoked is remembered until then. Called in `setUp`. */
  rememberRevocations(seconds: number): void;
  /** Somebody else says who comes in: usernames are then given by administrators, since they are claimed by name. Called in `setUp`. */
  takeOutsideLogins(): void;
}

/** The feature that every way of logging in needs. */
export type AccountsFeature = Feature<People>;

/** Logins of one kind that can be ended one by one. */
export interface LoginSource {
  /** The living ones of a user; `caller` is who asks, whose own is `current`. */
  list(userId: number, page: LoginPage, caller: Identity): Promise<readonly ListedLogin[]>;
  /** Ends one; false where the user has none of that id. `now` in milliseconds since the epoch. */
  endOne(userId: number, id: string, now: number): Promise<boolean>;
}

/** A user who is made by the service itself and not by a caller. */
export interface NewUser {
  readonly name: string;
  readonly email: string;
  readonly username: string;
  readonly role: Role;
  /** Null: cannot log in with a password. */
  readonly passwordHash: string | null;
  /** RFC 3339: until then the password is good, unless it is used before; for ever where it is left out. */
  readonly passwordUntil?: string;
  /** True where it is left out. */
  readonly active?: boolean;
  /** RFC 3339; `now` where it is left out. */
  readonly createdAt?: string;
  /** RFC 3339 */
  readonly lastLoginAt?: string | null;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What every way of logging in can be told. */
export interface LoginOptions {
  /**
   * True where it is left out. False: its credentials are not taken, and nobody logs in for them. What there is of them is kept in order
   * all the same: a changed password ends it, it runs out, users see it. So nothing comes back to life when it is turned on again.
   */
  readonly enabled?: boolean;
}
