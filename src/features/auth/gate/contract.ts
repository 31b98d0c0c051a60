import type { Call, Reply } from "../../../core/call/call.ts";
import type { Eventually } from "../../../core/eventually.ts";
import type { Proof, ProofMethod } from "../../../core/identity.ts";
import type { Context } from "../../../http/request/exchange.ts";
import type { Change, Collection, JSONValue, Key, Where } from "../../../store/store.ts";
import type { Account } from "../records/accounts.ts";
import type { Admission } from "./admission.ts";

// The contract of the gate: kinds of logins that it starts, and kinds of factors that it asks for.

/** Which accounts must have a second factor. `optional`: none, `admins`: administrators, `everyone`: all. */
export type SecondFactorRule = "optional" | "admins" | "everyone";

/** Options of a kind of login. They are stored with a login that waits for a factor, so they are JSON. */
export type BeginningOptions = Readonly<Record<string, JSONValue>>;

/**
 * A kind of login: a session, a token pair, an API token. It is registered by name in `setUp` (`logins.registerLogin`),
 * so that the gate can start it later if the login waits for a factor.
 */
export interface Beginning<O extends BeginningOptions = BeginningOptions> {
  /** In lower case with hyphens. Unique among the kinds of logins of the service. */
  readonly name: string;
  /**
   * Returns the place of the new credential in the response: a cookie, or text in the body. The name of a waiting login
   * (`pending`) is sent in the same place.
   */
  carriedIn(options: O): "cookie" | "text";
  /**
   * Starts the login and spends the admission. Returns the response that the first request would have had without the
   * second step.
   */
  start(context: Context, admission: Admission, options: O): Promise<Reply>;
  /**
   * Returns the login of this kind in the caller's request, which can then be confirmed. Returns null if there is none.
   */
  current?(context: Context): Current<O> | null;
  /**
   * Stores the new proofs of a confirmed login: a session gets a new id, and a token family gets a new access token.
   * Returns null if the login was revoked after its confirmation started.
   */
  renew?(context: Context, admission: Admission, current: Current<O>): Promise<Reply | null>;
  /**
   * True if the login with this id (`Current.id`) has not ended. `now` in milliseconds since the epoch. Left out: it
   * never counts as live.
   */
  isLive?(id: string, now: number): Promise<boolean>;
}

/** The login in a caller's request. */
export interface Current<O extends BeginningOptions = BeginningOptions> {
  /** The key of the session, or the id of the token family. */
  readonly id: string;
  readonly options: O;
}

/** A login after its first proof: the account, the proofs, and the kind of login to start. */
export interface LoginAttempt<O extends BeginningOptions = BeginningOptions> {
  readonly account: Account;
  readonly proofs: readonly [Proof, ...Proof[]];
  readonly begin: Beginning<O>;
  readonly options: O;
  /** The factor that was used as the first proof, and the data that it stores from now on. */
  readonly used?: { readonly factor: StoredFactor; readonly data: JSONValue };
  /** The password hash in the store, if `account.passwordHash` is a newer hash that is not stored yet. */
  readonly storedHash?: string | null;
}

/** A second factor or a passkey from the store. `D` is the type of its data, if its kind is known. */
export interface StoredFactor<D extends JSONValue = JSONValue> {
  readonly id: number;
  readonly userId: number;
  readonly kind: string;
  readonly label: string;
  readonly active: boolean;
  /** RFC 3339. */
  readonly createdAt: string;
  /** RFC 3339. Null if it was never used. */
  readonly lastUsedAt: string | null;
  /**
   * The data that its kind stores: a public key or an encrypted secret. The data alone must not be enough to log in.
   */
  readonly data: D;
  /**
   * The waiting login that adds this factor. Null if a user who is logged in adds it, and null for every active factor.
   */
  readonly pending: string | null;
  /**
   * RFC 3339: until then, the factor confirms no change of factors. Null for factors that no login by recovery code
   * added.
   */
  readonly heldUntil: string | null;
  readonly revision: number;
}

/** The result of the first step of a login, from which `beginLogin` continues. */
export type FirstStep = Pick<LoginAttempt, "account" | "proofs" | "used" | "storedHash">;

/** The members that the body of a login may have instead of a name and a password. */
export interface FirstProofBody {
  readonly pending: string | null;
  readonly credential: JSONValue;
  readonly email: string | null;
  readonly code: string | null;
  readonly token: string | null;
}

/**
 * A first proof other than a password, for `POST /api/session/` and `POST /api/token/`. Registered in `setUp`
 * (`logins.registerFirstProof`).
 */
export interface FirstProof {
  /** The members of the body that this proof needs. `prove` is called if all of them are present. */
  readonly members: readonly (keyof FirstProofBody)[];
  /** Returns the account and its proofs. Ends the request with 401 `invalid_credentials` if the proof is wrong. */
  prove(context: Context, body: FirstProofBody): Promise<FirstStep>;
}

/**
 * The proof by mail that the gate asks for before a user adds the first factor during a login. Otherwise a caller who
 * knows only the password could add a factor. Registered in `setUp` (`factors.registerMailStep`).
 */
export interface MailStep {
  /**
   * Returns false if no mailbox can have the account's address. Such an account adds its first factor without a code by
   * mail.
   */
  reaches(account: Account): Promise<boolean>;
  /** Sends a code to the account's address, within the limits of mails. */
  send(context: Context, account: Account, purpose: MailStepPurpose): Promise<void>;
  /** Checks a code. Returns the changes that use it up. Returns null if it is wrong. */
  check(context: Context, account: Account, code: string, purpose: MailStepPurpose): Promise<readonly Change[] | null>;
}

/**
 * The purpose of a code by mail: to add the first factor, or to confirm a login. A code of one purpose does not serve
 * the other.
 */
export type MailStepPurpose = "enrolment" | "confirmation";

/** The answer that a caller sends for a factor: `code` or `credential`. */
export interface FactorAnswer {
  readonly code: string | null;
  readonly credential: JSONValue;
}

/**
 * A right answer: its proof, and the data that the factor stores from now on. The answer is refused if the `data` of
 * the factor has changed in the meantime.
 */
export interface FactorSuccess<D extends JSONValue = JSONValue> {
  readonly proof: Omit<Proof, "at" | "factor">;
  readonly data: D;
  /**
   * A unique name of the factor, for kinds that log in without a username: the id of a passkey. Stored when the factor
   * is confirmed.
   */
  readonly handle?: string;
}

/** The data that starts the enrolment of a factor. */
export interface Enrolment<D extends JSONValue = JSONValue> {
  /** The data that is stored until the factor is confirmed. */
  readonly data: D;
  /** The members of the response in addition to `id` and `kind`: `{ secret, uri }` or `{ options }`. Shown once. */
  readonly shown: Readonly<Record<string, JSONValue>>;
}

/**
 * A kind of factor, registered in `setUp` (`factors.registerFactorKind`). A third party can write one. `D` is the type
 * of the data that it stores.
 */
export interface FactorKind<D extends JSONValue = JSONValue> {
  /** In lower case: `totp`, `passkey`. */
  readonly name: string;
  readonly method: ProofMethod;
  /** The member of the body that contains the answer. */
  readonly answeredBy: "code" | "credential";
  /** Starts a new factor of an account. `others` are the active factors of this kind. */
  enrol(call: Call, account: Account, label: string, others: readonly StoredFactor<D>[]): Eventually<Enrolment<D>>;
  /**
   * Checks the first answer of a new factor. Returns the data that the factor stores from now on. Returns null if the
   * answer is wrong.
   */
  confirm(
    call: Call,
    account: Account,
    factor: StoredFactor<D>,
    answer: FactorAnswer,
  ): Eventually<FactorSuccess<D> | null>;
  /**
   * Returns the data that the client needs for an answer with one of these factors, for example a WebAuthn challenge.
   * `pendingId` identifies the waiting login.
   */
  ask?(call: Call, account: Account, factors: readonly StoredFactor<D>[], pendingId: string): Eventually<JSONValue>;
  /** Checks an answer of an active factor. Returns null if it is wrong. */
  check(
    call: Call,
    account: Account,
    factor: StoredFactor<D>,
    answer: FactorAnswer,
    pendingId: string,
  ): Eventually<FactorSuccess<D> | null>;
  /**
   * Returns which of these active factors an answer belongs to, also if the caller named another one of this kind.
   * Returns null if there is none.
   */
  find?(factors: readonly StoredFactor<D>[], answer: FactorAnswer): StoredFactor<D> | null;
  /**
   * True if this factor is enough to log in without a password: a passkey that checks the person with a PIN or a
   * fingerprint.
   */
  logsInAlone?(factor: StoredFactor<D>): boolean;
}

/** A page of another party where the user of an account confirms a login: an identity provider. */
export interface OutsideConfirmation {
  /** Unique among the factors of an account: `provider-company`. */
  readonly id: string;
  readonly kind: string;
  readonly label: string;
  /** The path that a browser with the cookie of the waiting confirmation opens. */
  readonly start: string;
}

/**
 * Finds the pages of other parties that confirm a login of an account with neither a password nor a factor. Registered
 * in `setUp` (`confirming.registerOutsideConfirmation`).
 */
export type FindOutsideConfirmations = (context: Context, account: Account) => Promise<readonly OutsideConfirmation[]>;

/** A confirmation that waits, and whose login is in a cookie. */
export interface WaitingConfirmation {
  /** The key of its row. It opens nothing. */
  readonly key: string;
  readonly userId: number;
}

/** The login of a request. */
export interface HeldLogin {
  /** The kind of the login: `session` or `tokens`. */
  readonly beginning: string;
  /** The key of the session, or the id of the token family. */
  readonly id: string;
}

/** An event that the user of an account is notified of, separately from the request. */
export type Notice =
  | "factor_added"
  | "factor_removed"
  | "factor_guessed"
  | "recovery_codes_made"
  | "recovery_code_used"
  | "identity_linked"
  | "identity_unlinked"
  | "ways_ended"
  | "token_made"
  | "password_changed"
  | "email_changed"
  | "role_changed";

/**
 * Returns the changes that send a notice, for the transaction of the event. `to` is the receiver. Default: the address
 * that the user has after the event. The notice of a changed address is sent to the old address. `now` in milliseconds
 * since the epoch.
 */
export type Notify = (notice: Notice, account: Account, now: number, to?: string) => readonly Change[];

/**
 * Rows of a collection with a `user_id`, each of which lets its user log in because another party vouches for the user.
 */
export interface OutsideLogin {
  readonly collection: Collection;
  /** Only these rows. Default: all. */
  readonly where?: Where;
}

/** The login method that a request removes: a factor, or a row of an outside login. */
export type RemovedLoginMethod =
  | { readonly factor: StoredFactor }
  | { readonly collection: Collection; readonly id: Key };

declare const otherLogin: unique symbol;

/**
 * The changes that keep another login method, for the transaction that removes one. Only `keepOtherLogin` makes them.
 */
export type OtherLogin = readonly Change[] & { readonly [otherLogin]: true };
