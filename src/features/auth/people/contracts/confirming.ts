import type { Reply } from "../../../../core/call/call.ts";
import type { Proof } from "../../../../core/identity.ts";
import type { Context } from "../../../../http/request/exchange.ts";
import type {
  FindOutsideConfirmations,
  RemovedLoginMethod,
  Notify,
  OtherLogin,
  OutsideLogin,
  WaitingConfirmation,
} from "../../gate/contract.ts";
import type { Account } from "../../records/accounts.ts";
import type { Revocations } from "../../records/revocation.ts";

/**
 * Guards changes of how a user logs in: the caller proves who they are, another login method stays, and the user gets
 * a notice.
 */
export interface ConfirmingContract {
  /**
   * Ends the request if the caller's login is not fresh, as `vouch` does. `allowsRecovery: false` is for changes that
   * end or replace a factor: a login by recovery code, or by a factor that such a login added less than a day ago, then
   * confirms nothing.
   */
  requireFreshLogin(
    context: Context,
    password: string | undefined,
    options?: { readonly allowsRecovery?: boolean },
  ): Promise<void>;
  /**
   * Ends the request if the caller may not change the password, the e-mail or the username of the account now. Users
   * prove their identity again with their password (400 at `/current_password`), or with a confirmed login if the
   * account needs a second factor or has no password (401 `confirmation_required`). For another user, the caller must
   * be an administrator with a login of the last ten minutes, and the user no administrator (403).
   */
  requireProof(context: Context, account: Account, password: string | undefined): Promise<void>;
  /** Registers the pages of another party where users confirm a login. Called in `setUp`. */
  registerOutsideConfirmation(find: FindOutsideConfirmations): void;
  /**
   * Returns the confirmation that the cookie of a request names. Ends the request (401 `login_expired`) if there is
   * none.
   */
  requireConfirmation(context: Context): Promise<WaitingConfirmation>;
  /**
   * Confirms a login with the proof of another party, and returns the response that renews the login. Ends the request
   * (401) if the login was revoked.
   */
  confirmFromOutside(context: Context, waiting: WaitingConfirmation, proof: Proof): Promise<Reply>;
  /**
   * Registers rows by which another party vouches for accounts, for example identities at a provider. These rows count
   * as a login method. Called in `setUp`.
   */
  registerOutsideLogin(login: OutsideLogin): void;
  /**
   * Returns the changes that refuse a transaction if it removes the last login method of the account. Ends the request
   * (409 `last_login`) if there is no other way. Put these changes before the change that removes the login method.
   * `program`: the removed credential is for a program, so no person loses a login method.
   */
  keepOtherLogin(account: Account, leaving: RemovedLoginMethod | "program"): Promise<OtherLogin>;
  /** Returns the changes that end the logins that began with a removed login method. */
  readonly endLoginsBy: Revocations["endLoginsBy"];
  /** Registers a sender of notices. Called in `setUp`. */
  registerNotices(notify: Notify): void;
  /** Returns the changes that send a notice by every registered sender, for the transaction of the event. */
  readonly notify: Notify;
}
