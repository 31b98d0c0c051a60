import type { AssuranceCheck } from "../../../access/scheme/scheme.ts";
import type { LoginThrottle } from "../../../access/throttle/throttle.ts";
import type { Call, Reply } from "../../../core/call/call.ts";
import type { Proof } from "../../../core/identity.ts";
import type { Context } from "../../../http/request/exchange.ts";
import type { Change, Store } from "../../../store/store.ts";
import type { Passwords } from "../passwords/passwords.ts";
import type { Account, Accounts } from "../records/accounts.ts";
import type { Revocations } from "../records/revocation.ts";
import type { Admission } from "./admission.ts";
import type {
  Beginning,
  BeginningOptions,
  FactorKind,
  FindOutsideConfirmations,
  FirstProof,
  FirstProofBody,
  LoginAttempt,
  MailStep,
  Notify,
  OutsideLogin,
  SecondFactorRule,
} from "./contract.ts";
import type { Factors } from "./factors.ts";
import type { PendingLogin, PendingLogins } from "./pending.ts";
import type { RecoveryCodes } from "./recovery.ts";
import type { FactorTries } from "./tries.ts";

/** The parts of one service that the gate and the endpoints of factors need. */
export interface GateParts {
  readonly store: Store;
  readonly accounts: Accounts;
  readonly passwords: Passwords;
  readonly throttle: LoginThrottle;
  readonly revocations: Revocations;
  /** The accounts that must have a second factor. */
  readonly rule: SecondFactorRule;
  /** The name of the cookie of a waiting login. */
  readonly cookie: string;
  readonly pending: PendingLogins;
  readonly factors: Factors;
  readonly tries: FactorTries;
  readonly gate: Gate;
  /** Returns the changes that send a notice to the user. */
  readonly notify: Notify;
  /** The rows by which another party vouches for accounts. Features add theirs. */
  readonly outsideLogins: OutsideLogin[];
  /** Finds the pages of other parties that confirm a login, one function for each feature that has some. */
  readonly outsideConfirmations: FindOutsideConfirmations[];
  /** Makes and checks recovery codes. Null if no kind of factor is registered. */
  recovery(): RecoveryCodes | null;
  /** Returns the page that asks for a second factor, without the base path. Returns null if the service has none. */
  factorPage(): string | null;
  /** True if users prove their own address by a mail (`POST /users/{id}/email`). */
  verifiesAddresses(): boolean;
  /** Returns the challenge of a 401 for this call. */
  challenge(call: Call): string;
}

/** A login that waits for another proof, and the name that its client receives. */
export interface WaitingLogin {
  readonly account: Account;
  readonly name: string;
  readonly login: PendingLogin;
  readonly carriedIn: "cookie" | "text";
}

/** A login whose proofs are known, in the form that its admission needs. */
export interface ProvedLogin extends Pick<LoginAttempt, "account" | "storedHash"> {
  readonly proofs: readonly Proof[];
}

/** Decides for every login whether the proofs are enough. Writes nothing before that. */
export interface Gate {
  /**
   * Starts the login if its proofs are enough for its account. Otherwise ends the request with 401 `factor_required`,
   * which names the waiting login, or with 401 `invalid_credentials` if the account may not log in.
   */
  beginLogin<O extends BeginningOptions>(context: Context, attempt: LoginAttempt<O>): Promise<Reply>;
  /**
   * Admits a waiting login after its last proof. `more` are changes for the same transaction. The account of `login` is
   * the account after these changes. Returns null if another request has used the same proof first. Ends the request
   * with 401 `factor_required` if the proofs are not enough for the account.
   */
  admitLogin(call: Call, login: ProvedLogin, more: readonly Change[]): Promise<Admission | null>;
  /**
   * Makes the admission of a confirmed login, and writes the changes that use up its proof. Returns null if another
   * request has used the same proof first. Ends the request with 401 `factor_required` if the proofs are not enough for
   * the account.
   */
  admitConfirmed(call: Call, login: ProvedLogin, changes: readonly Change[]): Promise<Admission | null>;
  /** Decides whether an accepted credential proves enough for its account. */
  readonly checkAssurance: AssuranceCheck;
  /** True if these proofs are enough for the account. */
  isEnough(account: Account, proofs: readonly Proof[]): boolean;
  /** Registers a kind of login and returns it. Throws `DeclarationError` if its name is taken. */
  registerLogin<O extends BeginningOptions>(kind: Beginning<O>): Beginning<O>;
  /** Registers a first proof other than a password. */
  registerFirstProof(proof: FirstProof): void;
  /** Returns the registered first proof whose members are all in this body. Returns null if there is none. */
  findFirstProof(body: FirstProofBody): FirstProof | null;
  /** Registers a kind of factor. Throws `DeclarationError` if its name is taken. */
  registerFactorKind(kind: FactorKind): void;
  /** The proof by mail before a first factor is added. Its member `step` is null if mail is off. */
  readonly mail: { step: MailStep | null };
  readonly beginnings: ReadonlyMap<string, Beginning>;
  readonly kinds: ReadonlyMap<string, FactorKind>;
}
