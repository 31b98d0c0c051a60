import type { JSONValue, Change, Store } from "../../store/store.ts";

// The contract of mail: a message, the function that sends it, and the mailer with which other features queue mails.

/** A message to one mailbox, as `SendMail` gets it. The texts for headers contain no control characters. */
export interface Mail {
  /** Each try of one mail has the same id, so that a provider can detect a repeated mail. */
  readonly id: string;
  /** The sender, as the option `from` has it: `no-reply@example.com` or `Example <no-reply@example.com>`. */
  readonly from: string;
  /** One address. */
  readonly to: string;
  readonly subject: string;
  /** The content as plain text. Lines end with `\n`. */
  readonly text: string;
  /** The same content as HTML. */
  readonly html: string;
  /** The time of this try, in milliseconds since the epoch. */
  readonly at: number;
}

/** The arguments of `SendMail` in addition to the mail. */
export interface SendMailOptions {
  /** Aborted when the time of the try is over, or when the service stops. */
  readonly signal: AbortSignal;
  /**
   * Reports that the provider has the whole mail and has not answered yet. The try may then take ten more minutes. The
   * mail counts as sent if the service stops in this time.
   */
  handedOver?(): void;
}

/**
 * Sends a mail. The mail is sent when the promise resolves. After an error it is tried again, after a longer pause each
 * time, or as a `JobError` says.
 */
export type SendMail = (mail: Mail, options: SendMailOptions) => Promise<void>;

/** The content of a mail: a template and its values. */
export interface Composed {
  /** One address. */
  readonly to: string;
  /** The name of a template: `password_reset`. */
  readonly template: string;
  /**
   * The values of the template. `link` is a URL, and `code` has eight digits. No value may contain a text that a caller
   * chose, not even a name. Otherwise the caller could send a message to any address in the name of the service.
   */
  readonly values: Readonly<Record<string, string>>;
  /** The language of the template. Default: the option `language` of `mail()`. */
  readonly language?: string;
}

/** A kind of mail, registered with `Mailer.kind`. */
export interface MailKind<A extends JSONValue> {
  /** Lower-case words joined by hyphens. The name of the worker in the outbox is `mail-` followed by this name. */
  readonly name: string;
  /**
   * Composes a queued mail just before it is sent, never within a request. `about` contains no secret, so this function
   * derives the link or the code. Returns null if there is nothing to send, for example because the link has expired or
   * no user has the address. `now` is in milliseconds since the epoch.
   */
  compose(about: A, delivery: { readonly store: Store; readonly now: number }): Promise<Composed | null>;
}

/**
 * Returns the changes that queue one mail, for the transaction of its event. `now` is in milliseconds since the epoch.
 */
export type QueueMail<A extends JSONValue> = (about: A, now: number) => readonly Change[];

/** The members that the mail feature offers to other features. */
export interface Mailer {
  /**
   * Registers a kind of mail, and returns the function that queues one. Called in the `setUp` of a feature that needs
   * mail. Throws `DeclarationError` if the name is wrong or taken.
   */
  kind<A extends JSONValue>(kind: MailKind<A>): QueueMail<A>;
  /**
   * The public address of the service, for links: `https://api.example`, without the base path and without a slash at
   * the end. Links are never built from a request. Read it when a mail is composed, because a service that listens on
   * any free port does not know it earlier.
   */
  readonly publicURL: string;
}

/**
 * The texts of a mail in one language. `{name}` is replaced by the value `name`. A paragraph is left out if one of its
 * values is missing.
 */
export interface MailTemplate {
  /** One line. It may contain neither the link nor the code. `{service}` is the name of the service. */
  readonly subject: string;
  /** Paragraphs with an empty line between them. `{link}` and `{code}` are each on a line without other text. */
  readonly text: string;
  /** The content as HTML. Values are escaped. Default: HTML made from `text`. */
  readonly html?: string;
}

/** Templates by name: `password_reset`. */
export type MailTemplates = Readonly<Record<string, MailTemplate>>;
