import type { Context } from "../../../../http/request/exchange.ts";
import type { Change, Outcome } from "../../../../store/store.ts";
import type { Account } from "../../records/accounts.ts";
import type { AddressVerifier, Newcomer } from "../../records/verifying.ts";

/** Changes passwords and addresses safely, after the caller or a proof by mail was checked. */
export interface ChangingContract {
  /** Forgives the wrong passwords of an account, and of every address in the last minute. */
  unlock(username: string, now: number): Promise<void>;
  /**
   * Sets a password safely. Checks it as `/users` does (length, common and breached passwords, the user's and the
   * service's names), ends every session, token family, access token, pending login, link and code of the account, and
   * sends a notice. `endKeys` also ends the API token and the keys. Ends the request with 400 at `/password` if the
   * password is not acceptable, and with 409 if the account has changed since it was read. Check the caller first.
   */
  changePassword(account: Account, password: string, options?: { readonly endKeys?: boolean }): Promise<void>;
  /**
   * Returns the changes of `changePassword`, for your own transaction. The store refuses the transaction as `OVERTAKEN`
   * if the account has changed.
   */
  passwordChanges(context: Context, newPassword: NewPassword): Promise<readonly Change[]>;
  /**
   * Returns the changes after a proof that the user reads the mailbox of the account's address. Another person may have
   * signed up with this address and prepared the account. In this case, the first proof ends every other login method:
   * password, logins, factors, passkeys, identities, API token and keys.
   */
  proveAddress(account: Account, now: number): Promise<readonly Change[]>;
  /**
   * Registers the sender of the mails of sign-ups and invitations. Called in `setUp`, by one feature. Users then change
   * their own address only by proving it. Throws `DeclarationError` if there is one already.
   */
  registerAddressVerifier(verifier: AddressVerifier): void;
  /** True if callers may sign up. False if only administrators create users. */
  readonly acceptsSignUps: boolean;
  /**
   * Creates a user who has proved an address, with a password and a username of their choice (null: the address), like
   * `POST /users`. `also` are more changes for the transaction. Ends the request if the password or a field does not
   * fit (400), a name is taken (409), or the registration is closed (400 `invalid_link`). The first row of the outcome
   * is the user.
   */
  createUser(
    context: Context,
    newcomer: Newcomer & { readonly password: string; readonly username: string | null },
    also: readonly Change[],
  ): Promise<Outcome>;
  /**
   * Gives a user a new address that is proved. If the username is only the default (the old address), it changes too.
   * Returns null if the user does not exist. The first row of the outcome is the user.
   */
  changeAddress(
    context: Context,
    user: { readonly account: Account; readonly email: string },
    also: readonly Change[],
  ): Promise<Outcome | null>;
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
