import type { AssuranceCheck } from "../../../access/scheme/scheme.ts";
import type { LoginThrottle } from "../../../access/throttle/throttle.ts";
import type { Reply } from "../../../core/call/call.ts";
import type { Identity, Proof, Role } from "../../../core/identity.ts";
import type { Feature } from "../../../feature/feature.ts";
import type { Context } from "../../../http/request/exchange.ts";
import type { Change, Collection, Outcome, Where } from "../../../store/store.ts";
import type { Admission } from "../gate/admission.ts";
import type {
  Beginning,
  BeginningOptions,
  FactorKind,
  FindOutsideWays,
  FirstProof,
  FirstProofBody,
  FirstStep,
  HeldLogin,
  LoginAttempt,
  MailStep,
  Notify,
  StoredFactor,
  WaitingConfirmation,
} from "../gate/contract.ts";
import type { LeavingWay, OutsideLogin } from "../gate/ways.ts";
import type { Passwords, ProvedPassword } from "../passwords/passwords.ts";
import type { Account, ServiceAccounts, UsernameOrigin } from "../records/accounts.ts";
import type { Bindings } from "../records/bindings.ts";
import type { ListedLogin, LoginPage } from "../records/logins.ts";
import type { Revocations } from "../records/revocation.ts";
import type { ShownUser, UsersMount } from "../records/users.ts";
import type { AddressVerifier, Newcomer } from "../records/verifying.ts";

// The contract of logins: the members that `accounts()` offers to every login feature and to your own code.

/** The accounts that may log in, as the feature `accounts()` offers them. */
export interface People {
  readonly accounts: ServiceAccounts;
  readonly bindings: Bindings;
  readonly passwords: Passwords;
  /** Counts wrong credentials, with one count for the whole service. */
  readonly throttle: LoginThrottle;
  readonly revocations: Revocations;
  /** The mounted resource of the users. */
  readonly users: UsersMount;
  /** The roles that a user may have. */
  readonly roles: readonly Role[];
  /** The names of the users' custom fields that are in the identity. */
  readonly identityFields: readonly string[];
  /** The name of the service in the tokens that it signs: their `iss`. */
  readonly issuer: string;
  /** The prefix of API tokens and keys. */
  readonly tokenPrefix: string;
  /** Returns a user in the form that callers see. Ends the request with 404 if there is none. */
  requireUser(id: number): Promise<ShownUser>;
  /** Returns the account whose id is in the path. Ends the request with 404 if there is none. */
  requireAccount(context: Context): Promise<Account>;
  /**
   * Checks the first proof of a login: returns the account with this name and password. Writes only failures. Ends the request with 401 for
   * every reason to refuse the login, with 429 after too many wrong credentials, and with 503 if too many passwords wait for their hash.
   * Pass the result to `beginLogin(context, { ...proved, begin, options })`.
   */
  requireLogin(context: Context, username: string, password: string): Promise<ProvedPassword>;
  /**
   * Starts a login if its proofs are enough for its account, and returns the response of `begin`. Otherwise ends the request with 401
   * `factor_required`. Writes nothing before the proofs are enough. Only this function and `vouch` make an `Admission`.
   *
   * @example
   * ```ts part
   * return people.beginLogin(context, { account, proofs: [{ method: "hwk", at: context.call.now }], begin: sessions.begin, options: {} });
   * ```
   */
  beginLogin<O extends BeginningOptions>(context: Context, attempt: LoginAttempt<O>): Promise<Reply>;
  /**
   * Makes an `Admission` for a token or a key from the caller's own login. The login must be fresh, and confirmed with a second factor if
   * the caller's account needs one. For an account without a factor, `password`, the caller's own, replaces a fresh login. Ends the request
   * (400, 401 `confirmation_required`, 403) if one of these conditions is not fulfilled. Only an administrator may make an admission for
   * another user, and not for another administrator (403). Ends the request with 409 if the account is not active.
   */
  vouch(context: Context, account: Account, password?: string): Promise<Admission>;
  /** Registers a kind of login. Called in `setUp`. Throws `DeclarationError` if its name is taken. */
  begins<O extends BeginningOptions>(beginning: Beginning<O>): Beginning<O>;
  /** Registers a first proof other than a password, for the bodies of logins. Called in `setUp`. */
  firstProof(proof: FirstProof): void;
  /**
   * Checks the first proof of a login: a name and a password, or another one that a feature has registered. Ends the request if it is
   * wrong.
   */
  prove(context: Context, body: LoginBody): Promise<FirstStep>;
  /** Returns the active factor with this handle (the id of a passkey), for logins without a username. Returns null if there is none. */
  findFactor(handle: string): Promise<StoredFactor | null>;
  /** Registers a kind of second factor. Called in `setUp`. Throws `DeclarationError` if its name is taken. */
  factorKind(kind: FactorKind): void;
  /** Registers the proof by mail that comes before a user adds the first factor during a login. Called in `setUp`. */
  mailStep(step: MailStep): void;
  /** Registers a sender of notices. Called in `setUp`. */
  notices(notify: Notify): void;
  /** Returns the changes that send a notice by every registered sender, for the transaction of the event. */
  readonly notify: Notify;
  /** Registers the pages of another party where users confirm a login. Called in `setUp`. */
  outsideConfirmation(find: FindOutsideWays): void;
  /** Returns the confirmation that the cookie of a request names. Ends the request (401 `login_expired`) if there is none. */
  requireConfirmation(context: Context): Promise<WaitingConfirmation>;
  /** Confirms a login with the proof of another party, and returns the response that renews the login. Ends the request (401) if it has ended. */
  confirmFromOutside(context: Context, waiting: WaitingConfirmation, proof: Proof): Promise<Reply>;
  /** Returns the login of the caller's request. Returns null if its credential is not a login, for example Basic. */
  findHeldLogin(context: Context): HeldLogin | null;
  /** True if a login has not ended. `now` in milliseconds since the epoch. */
  isLiveLogin(login: HeldLogin, now: number): Promise<boolean>;
  /**
   * Ends the request if the caller's login is not fresh, as `vouch` does. `allowsRecovery: false` is for changes that end or replace a
   * factor: a login by recovery code, or by a factor that such a login added less than a day ago, then confirms nothing.
   */
  requireFreshLogin(
    context: Context,
    password: string | undefined,
    options?: { readonly allowsRecovery?: boolean },
  ): Promise<void>;
  /** True if these proofs are enough for the account. */
  isEnough(account: Account, proofs: readonly Proof[]): boolean;
  /** Decides whether an accepted credential proves enough for its account. The service calls it for the credentials of every request. */
  readonly standing: AssuranceCheck;
  /**
   * Returns the expiry of a credential that a login by an outside party makes, in milliseconds since the epoch. Returns null if it needs
   * none. Ends the request with 403 if such a login may not make credentials.
   */
  outsideEnd(context: Context): number | null;
  /** Returns the changes that make a user and the account of the same id. `at` is their position in the transaction. */
  insertUser(user: NewUser, at?: number): readonly Change[];
  /**
   * Sets a password safely. Checks it as `/users` does (length, common and breached passwords, the user's and the service's names), ends
   * every session, token family, access token, pending login, link and code of the account, and sends a notice. `endKeys` also ends the API
   * token and the keys. Ends the request with 400 at `/password` if the password is not acceptable, and with 409 if the account has changed
   * since it was read. Check the caller first.
   */
  changePassword(account: Account, password: string, options?: { readonly endKeys?: boolean }): Promise<void>;
  /**
   * Returns the changes of `changePassword`, for your own transaction. The store refuses the transaction as `OVERTAKEN` if the account has
   * changed.
   */
  passwordChanges(context: Context, newPassword: NewPassword): Promise<readonly Change[]>;
  /**
   * Returns the changes after a proof that the user reads the mailbox of the account's address. Another person may have signed up with this
   * address and prepared the account. In this case, the first proof ends every other way to log in: password, logins, factors, passkeys,
   * identities, API token and keys.
   */
  proveAddress(account: Account, now: number): Promise<readonly Change[]>;
  /**
   * Registers the sender of the mails of sign-ups and invitations. Called in `setUp`, by one feature. Users then change their own address
   * only by proving it. Throws `DeclarationError` if there is one already.
   */
  verifyAddresses(verifier: AddressVerifier): void;
  /**
   * Creates a user who has proved an address, with a password and a username of their choice (null: the address), like `POST /users`.
   * `also` are more changes for the transaction. Ends the request if the password or a field does not fit (400), a name is taken (409), or
   * the registration is closed (400 `invalid_link`). The first row of the outcome is the user.
   */
  createUser(
    context: Context,
    newcomer: Newcomer & { readonly password: string; readonly username: string | null },
    also: readonly Change[],
  ): Promise<Outcome>;
  /**
   * Gives a user a new address that is proved. If the username is only the default (the old address), it changes too. Returns null if the
   * user does not exist. The first row of the outcome is the user.
   */
  changeAddress(
    context: Context,
    user: { readonly account: Account; readonly email: string },
    also: readonly Change[],
  ): Promise<Outcome | null>;
  /**
   * Ends the request if the caller may not change the password, the e-mail or the username of the account now. Users prove their identity
   * again with their password (400 at `/current_password`), or with a confirmed login if the account needs a second factor or has no
   * password (401 `confirmation_required`). For another user, the caller must be an administrator with a login of the last ten minutes, and
   * the user no administrator (403).
   */
  requireProof(context: Context, account: Account, password: string | undefined): Promise<void>;
  /**
   * Registers a collection with a `user_id` whose rows the service deletes. `password`: when the password changes, and with the account.
   * `account`: only with the account. `ended` is the condition of the rows that end with a password. Default: all rows. The table must be in the feature's collections. Called in `setUp`. Throws `DeclarationError` if the
   * table has no integer column `user_id`.
   */
  endsWith(when: "password" | "account", collection: Collection, ended?: Where): void;
  /**
   * Registers rows by which another party vouches for accounts, for example identities at a provider. These rows count as a way to log in.
   * Called in `setUp`.
   */
  outsideLogin(login: OutsideLogin): void;
  /**
   * Returns the changes that refuse a transaction if it removes the last way to log in to the account. Ends the request (409 `last_login`)
   * if there is no other way. Put these changes before the change that removes the way to log in.
   */
  keepOtherLogin(account: Account, leaving: LeavingWay): Promise<readonly Change[]>;
  /** Adds logins of one kind to `/users/{id}/sessions`. Called in `setUp`. */
  listLogins(source: LoginSource): void;
  /**
   * Registers the longest lifetime of credentials that only `revocations` can end. Revocations are stored for that time. Called in `setUp`.
   */
  rememberRevocations(seconds: number): void;
  /**
   * Announces that an outside party decides who logs in. Only administrators then choose usernames, because accounts are bound by name.
   * Called in `setUp`.
   */
  takeOutsideLogins(): void;
  /** Announces that mails prove addresses. Accounts then show `email_verified_at`. Called in `setUp`. */
  takeMailProofs(): void;
}

/** A new password of an account. */
export interface NewPassword {
  readonly account: Account;
  readonly password: string;
  /** True if the API token and the keys end too. Default: false. */
  readonly endKeys?: boolean;
  /** True if the user has just proved to read the mailbox of the account's address. Default: false. */
  readonly provesAddress?: boolean;
}

/** The body of a login: a name and a password, or the members of another first proof. */
export interface LoginBody extends FirstProofBody {
  readonly username: string | null;
  readonly password: string | null;
}

/** The feature that every login feature needs. */
export type AccountsFeature = Feature<People>;

/** The logins of one kind. Each login can be ended separately. */
export interface LoginSource {
  /** Returns the active logins of a user. `caller` is the caller's identity. The caller's own login is `current`. */
  list(userId: number, page: LoginPage, caller: Identity): Promise<readonly ListedLogin[]>;
  /** Ends one login. Returns false if the user has none with that id. `now` in milliseconds since the epoch. */
  endOne(userId: number, id: string, now: number): Promise<boolean>;
}

/** A user that the service makes itself, not a caller. */
export interface NewUser {
  readonly name: string;
  readonly email: string;
  readonly username: string;
  readonly role: Role;
  /** Null if the user cannot log in with a password. */
  readonly passwordHash: string | null;
  /** `chosen` if the user decides about the username, so that no login from outside may claim the account by it. Default: `given`. */
  readonly usernameOrigin?: UsernameOrigin;
  /**
   * `vouched` if the caller of `insertUser` vouches that the address is the user's, for example because an administrator entered it.
   * Otherwise, the first proof of the address ends every other way to log in. Default: `chosen`.
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

/** The options of every login feature. */
export interface LoginOptions {
  /**
   * Default: true. If false, the service refuses the credentials of this feature, and no login creates new ones. A changed password still
   * ends existing credentials, they still expire, and users still see them. So a credential that ended in the meantime stays invalid when
   * the option is turned on again.
   */
  readonly enabled?: boolean;
}
