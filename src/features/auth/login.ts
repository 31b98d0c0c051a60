import type { LoginThrottle } from "../../access/throttle/throttle.ts";
import type { Reply } from "../../core/call/call.ts";
import type { Identity, Proof, Role } from "../../core/identity.ts";
import type { Feature } from "../../feature/feature.ts";
import type { Context } from "../../http/exchange.ts";
import type { Change, Collection } from "../../store/store.ts";
import type { Passwords, ProvedPassword } from "./accounts/passwords/passwords.ts";
import type { Account, Accounts } from "./accounts/stored-accounts.ts";
import type { Bindings } from "./bindings.ts";
import type { Admission } from "./gate/admission.ts";
import type {
  Beginning,
  BeginningOptions,
  FactorKind,
  FirstProof,
  FirstProofBody,
  FirstStep,
  LoginAttempt,
  Notify,
  StoredFactor,
} from "./gate/contract.ts";
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
  /**
   * The first proof of a login: the account with this name and password. Writes nothing but a failure. Ends the request: 401 for every
   * reason why there is none, 429, 503. Hand the result on: `beginLogin(context, { ...proved, begin, options })`.
   */
  requireLogin(context: Context, username: string, password: string): Promise<ProvedPassword>;
  /**
   * Starts a login if its proofs are enough for its account, and returns the response of `begin`. Otherwise ends the request with 401
   * `factor_required`. Nothing is written before the proofs are enough. With `vouch`, the only maker of an `Admission`.
   *
   * @example
   * ```ts part
   * return people.beginLogin(context, { account, proofs: [{ method: "hwk", at: context.call.now }], begin: sessions.begin, options: {} });
   * ```
   */
  beginLogin<O extends BeginningOptions>(context: Context, attempt: LoginAttempt<O>): Promise<Reply>;
  /**
   * Makes an `Admission` for a token or a key from the caller's own login, which must be fresh, and confirmed with a second factor if the
   * account needs one. `password` is the caller's own; it replaces a fresh login of an account without a factor. Ends the request
   * otherwise (400, 401 `confirmation_required`, 403).
   */
  vouch(context: Context, account: Account, password?: string): Promise<Admission>;
  /** Registers a kind of login. Called in `setUp`. Throws `DeclarationError` if its name is taken. */
  begins<O extends BeginningOptions>(beginning: Beginning<O>): Beginning<O>;
  /** Registers a first proof other than a password, for the bodies of logins. Called in `setUp`. */
  firstProof(proof: FirstProof): void;
  /** The first proof of a login: a name and a password, or another that a feature has registered. Ends the request otherwise. */
  prove(context: Context, body: LoginBody): Promise<FirstStep>;
  /** Returns the active factor of this handle, for logins without a username. Returns null if there is none. */
  findFactor(handle: string): Promise<StoredFactor | null>;
  /** Registers a kind of second factor. Called in `setUp`. Throws `DeclarationError` if its name is taken. */
  factorKind(kind: FactorKind): void;
  /** Registers a sender of notices. Called in `setUp`. */
  notices(notify: Notify): void;
  /** Ends the request unless the caller's login is fresh, as `vouch` does. */
  requireFreshLogin(context: Context, password: string | undefined): Promise<void>;
  /** True if these proofs are enough for the account. */
  isEnough(account: Account, proofs: readonly Proof[]): boolean;
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

/** The body of a login: a name and a password, or the members of another first proof. */
export interface LoginBody extends FirstProofBody {
  readonly username: string | null;
  readonly password: string | null;
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
