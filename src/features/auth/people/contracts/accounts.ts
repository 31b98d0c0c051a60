import type { Role, Identity } from "../../../../core/identity.ts";
import type { Context } from "../../../../http/request/exchange.ts";
import type { Change } from "../../../../store/store.ts";
import type { Account, ServiceAccounts, UsernameOrigin } from "../../records/accounts.ts";
import type { Bindings } from "../../records/bindings.ts";
import type { ShownUser, UsersMount } from "../../records/users.ts";

/** Finds and creates users and their accounts. */
export interface AccountsContract extends ServiceAccounts {
  /** Returns the account whose id is in the path. Ends the request with 404 if there is none. */
  requireAccount(context: Context): Promise<Account>;
  /**
   * Returns a user as the user sees the own record, by the rules of fields. `identity` is that user: the caller, or the
   * login that begins. Without it, fields with rules are missing, apart from the name and the address. Ends the request
   * with 404 if there is no such user.
   */
  requireUser(id: number, identity?: Identity | null): Promise<ShownUser>;
  /** Returns the changes that make a user and the account of the same id. `at` is their position in the transaction. */
  insertUser(user: NewUser, at?: number): readonly Change[];
  /** The mounted resource of the users. */
  readonly users: UsersMount;
  /** The identities of proxies and outside issuers, each bound to an account. */
  readonly bindings: Bindings;
  /** The names that credentials carry or read, from the options of `accounts()`. */
  readonly declared: DeclaredNames;
  /**
   * Announces that an outside party decides who logs in. Only administrators then choose usernames, because accounts
   * are bound by name. Called in `setUp`.
   */
  announceOutsideLogins(): void;
}

/** The names that credentials carry or read, from the options of `accounts()`. */
export interface DeclaredNames {
  /** The roles that a user may have. */
  readonly roles: readonly Role[];
  /** The names of the users' custom fields that are in the identity. */
  readonly identityFields: readonly string[];
  /** The name of the service in the tokens that it signs: their `iss`. */
  readonly issuer: string;
  /** The prefix of API tokens and keys. */
  readonly tokenPrefix: string;
}

/** A user that the service makes itself, not a caller. */
export interface NewUser {
  readonly name: string;
  readonly email: string;
  readonly username: string;
  readonly role: Role;
  /** Null if the user cannot log in with a password. */
  readonly passwordHash: string | null;
  /**
   * `chosen` if the user decides about the username, so that no login from outside may claim the account by it.
   * Default: `given`.
   */
  readonly usernameOrigin?: UsernameOrigin;
  /**
   * `vouched` if the caller of `insertUser` vouches that the address is the user's, for example because an
   * administrator entered it. Otherwise, the first proof of the address ends every other login method. Default:
   * `chosen`.
   */
  readonly emailOrigin?: "vouched" | "chosen";
  /** The time until which the password is valid, unless it is used before (RFC 3339). Default: no limit. */
  readonly passwordUntil?: string;
  /** The time at which the user proved the address (RFC 3339). Default: never. */
  readonly emailVerifiedAt?: string | null;
  /** Default: true. */
  readonly active?: boolean;
  /** RFC 3339. Default: `now`. */
  readonly createdAt?: string;
  /** RFC 3339. */
  readonly lastLoginAt?: string | null;
  /** Milliseconds since the epoch. */
  readonly now: number;
}
