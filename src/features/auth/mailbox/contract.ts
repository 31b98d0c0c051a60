import type { AccountPages } from "../../../feature/feature.ts";
import type { Context } from "../../../http/request/exchange.ts";
import type { Change, JSONValue, KeyOf } from "../../../store/store.ts";
import type { Account } from "../records/accounts.ts";

// The contract of proofs by mail: a link and a code in a mail that prove that the caller reads a mailbox.

/**
 * One purpose of proofs by mail, for example the reset of a password, a sign-up or an invitation. A feature registers
 * it in `setUp` with `mailbox.purpose`.
 */
export interface PurposeDeclaration {
  /** In lower case with hyphens. Unique among the purposes of the service. The option `links` uses this name. */
  readonly name: string;
  /** The lifetime of a link, in seconds. */
  readonly linkSeconds: number;
  /** True if the mail also has a code of eight digits, which lives for ten minutes. */
  readonly codes: boolean;
  /** The template of the mail. Its values are `link` and, with codes, `code`. */
  readonly template: string;
  /**
   * The page that the link leads to: a path below the base path of the service, or the name of a page of accounts,
   * whose path may be configured. Without it, the mail has only a code.
   */
  readonly path?: LinkPage;
  /**
   * A query that the link has before the token, for example `change=1`, so that the page knows the purpose of its link.
   * Default: none.
   */
  readonly query?: string;
  /**
   * `current`: a link is invalid after the user has another address. `new`: the mail goes to an address that the user
   * does not have yet. Default: `current`.
   */
  readonly address?: "current" | "new";
  /**
   * True if a changed password does not end the links of an account whose address was never proved. Otherwise a
   * stranger who signed up with the address of another person could end each link of its owner. Default: false.
   */
  readonly outlivesPassword?: boolean;
}

/** A page that a link leads to: a path below the base path of the service, or the name of a page of accounts. */
export type LinkPage = `/${string}` | keyof AccountPages;

/** A mail that a caller asks for. */
export interface MailRequest {
  /** The recipient: the address as the user's record has it, or as the caller sent it if no user has it. */
  readonly address: string;
  /**
   * The account that the mail is about, or a placeholder for an account that is created in the same transaction. Null
   * if there is none.
   */
  readonly user: Account | KeyOf | null;
  /**
   * The data to store until the proof is used, for example the fields of a new user. Without it and without a user, no
   * mail is sent.
   */
  readonly data?: JSONValue;
  /**
   * The template of a mail that only informs. The mail has neither a link nor a code, so the caller gets nothing to
   * redeem.
   */
  readonly notice?: string;
}

/** The proof that a caller sends: the token of a link, or a code with its address. */
export type GivenProof =
  | { readonly token: string }
  | {
      readonly email: string;
      readonly code: string;
    };

/** A proof that is right. */
export interface RedeemedProof {
  /** The name of the purpose for which it was requested. */
  readonly purpose: string;
  /** The address of the mailbox. */
  readonly address: string;
  /** The account that the mail was about. Null if there was none. */
  readonly user: Account | null;
  readonly data: JSONValue;
  /**
   * The changes that use the proof up, for the transaction of the calling code. If another request used it first, the
   * store refuses the transaction as `MAIL_PROOF_USED`. Then answer 400 `invalid_link` (`requireUnused`).
   */
  readonly changes: readonly Change[];
}

/** The proofs of one purpose. */
export interface Purpose {
  readonly name: string;
  /**
   * Returns the changes that store a proof and queue its mail, for the transaction of the calling code. They also count
   * the mail, because the number of mails is limited. If another request changes a count at the same time, the store
   * refuses the transaction as `OVERTAKEN`. Then call `request` again, as the writes of mounted resources do. Returns
   * no changes if a limit of the client is reached, and the response must be the same as for a queued mail. Without a
   * user and without `data`, and above the limit of the mailbox, equal rows are stored, but no mail is sent.
   */
  request(context: Context, mailRequest: MailRequest): Promise<readonly Change[]>;
  /** Requests a mail in its own transaction. */
  send(context: Context, mailRequest: MailRequest): Promise<void>;
  /**
   * Returns the proof of a link or of a code. Returns null if it is wrong, used or expired. Counts the tries of codes,
   * and none of links.
   */
  find(context: Pick<Context, "call">, givenProof: GivenProof): Promise<RedeemedProof | null>;
  /**
   * Returns the proof of a link or of a code. Ends the request with 400 `invalid_link` if it is wrong, used or expired.
   * Counts the tries of codes.
   */
  redeem(context: Context, givenProof: GivenProof): Promise<RedeemedProof>;
  /** Returns the changes that end every link and code of this purpose, for a user or for an address. */
  end(of: { readonly user: Pick<Account, "id"> } | { readonly address: string }): readonly Change[];
}

/** Proofs by mail, as `mailbox()` offers them. */
export interface Mailbox {
  /** Registers a purpose. Called in `setUp`. Throws `DeclarationError` if its name is taken. */
  purpose(declaration: PurposeDeclaration): Purpose;
  /** Redeems a proof of any of these purposes, as `Purpose.redeem`. */
  redeem(context: Context, purposes: readonly Purpose[], givenProof: GivenProof): Promise<RedeemedProof>;
  /** Returns the changes that end every link and code of a user, for example when the address changes. */
  end(user: Pick<Account, "id">): readonly Change[];
}

/** The name of the refusal of a transaction if another request has already used the proof. */
export const MAIL_PROOF_USED = "mail_proof_used";
