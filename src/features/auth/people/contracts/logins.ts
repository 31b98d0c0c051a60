import type { AssuranceCheck } from "../../../../access/scheme/scheme.ts";
import type { Reply } from "../../../../core/call/call.ts";
import type { Proof } from "../../../../core/identity.ts";
import type { Context } from "../../../../http/request/exchange.ts";
import type { Admission } from "../../gate/admission.ts";
import type {
  Beginning,
  BeginningOptions,
  FirstProof,
  FirstProofBody,
  FirstStep,
  HeldLogin,
  LoginAttempt,
} from "../../gate/contract.ts";
import type { Passwords } from "../../passwords/passwords.ts";
import type { Account } from "../../records/accounts.ts";

/** Checks the first proof of a login, and starts logins whose proofs are enough. */
export interface LoginsContract {
  /** Registers a kind of login. Called in `setUp`. Throws `DeclarationError` if its name is taken. */
  registerLogin<O extends BeginningOptions>(kind: Beginning<O>): Beginning<O>;
  /** Registers a first proof other than a password, for the bodies of logins. Called in `setUp`. */
  registerFirstProof(proof: FirstProof): void;
  /**
   * Checks the first proof of a login: a name and a password, or another one that a feature has registered. Writes only
   * failures. Ends the request with 401 for every reason to refuse the login, with 429 after too many wrong
   * credentials, and with 503 if too many passwords wait for their hash. Pass the result to `beginLogin(context, {
   * ...proved, begin, options })`.
   */
  prove(context: Context, body: Partial<LoginBody>): Promise<FirstStep>;
  /**
   * Starts a login if its proofs are enough for its account, and returns the response of `begin`. Otherwise ends the
   * request with 401 `factor_required`. Writes nothing before the proofs are enough. Only this function and `vouch`
   * make an `Admission`.
   *
   * @example
   * ```ts part
   * const proofs = [{ method: "hwk", at: context.call.now }] as const;
   * return logins.beginLogin(context, { account, proofs, begin: sessions.begin, options: {} });
   * ```
   */
  beginLogin<O extends BeginningOptions>(context: Context, attempt: LoginAttempt<O>): Promise<Reply>;
  /**
   * Makes an `Admission` for a token or a key from the caller's own login. The login must be fresh, and confirmed with
   * a second factor if the caller's account needs one. For an account without a factor, `password`, the caller's own,
   * replaces a fresh login. Ends the request (400, 401 `confirmation_required`, 403) if one of these conditions is not
   * fulfilled. Only an administrator may make an admission for another user, and not for another administrator (403).
   * Ends the request with 409 if the account is not active.
   */
  vouch(context: Context, account: Account, password?: string): Promise<Admission>;
  /** True if these proofs are enough for the account. */
  isEnough(account: Account, proofs: readonly Proof[]): boolean;
  /**
   * Decides whether an accepted credential proves enough for its account. The service calls it for the credentials of
   * every request.
   */
  readonly checkAssurance: AssuranceCheck;
  /** Returns the login of the caller's request. Returns null if its credential is not a login, for example Basic. */
  findHeldLogin(context: Context): HeldLogin | null;
  /** True if a login has not ended. `now` in milliseconds since the epoch. */
  isLiveLogin(login: HeldLogin, now: number): Promise<boolean>;
  /** Checks and hashes passwords. */
  readonly passwords: Passwords;
}

/** The body of a login: a name and a password, or the members of another first proof. */
export interface LoginBody extends FirstProofBody {
  readonly username: string | null;
  readonly password: string | null;
}
