import type { JSONValue, Change, Store } from "../../store/store.ts";

// The contract of mail: a message, the function that sends it, and the mailer that other features queue mails with.

/** A message to one mailbox, as a sender gets it. All texts of headers are without control characters. */
export interface Mail {
  /** The same for each try of one mail, so that a provider can detect a repeated one. */
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

/**
 * Sends a mail. It is sent when the promise resolves. After any error it is sent again, later each time. `signal` is aborted when its time is
 * over, or when the service stops.
 */
export type SendMail = (mail: Mail, options: { readonly signal: AbortSignal }) => Promise<void>;

/** The content of a mail: a template and its values. */
export interface Composed {
  /** One address. */
  readonly to: string;
  /** The name of a template: `password_reset`. */
  readonly template: string;
  /**
   * The values of the template. `link` is a URL and `code` has eight digits. They never contain a text that a caller chose, not even a name:
   * otherwise a caller could send their own message to any address, in the name of the service.
   */
  readonly values: Readonly<Record<string, string>>;
  /** The language of the template. Default: the option `language` of `mail()`. */
  readonly language?: string;
}

/** A kind of mail, registered with `Mailer.kind`. */
export interface MailKind<A extends JSONValue> {
  /** Lower-case words joined by hyphens. The worker in the outbox is `mail-` with this name. */
  readonly name: string;
  /**
   * Composes a mail when it is sent, never within a request. `about` was queued and contains no secret: links and codes are derived here.
   * Returns null if there is nothing to send: the link has expired, or no user has the address. `now` in milliseconds since the epoch.
   */
  compose(about: A, delivery: { readonly store: Store; readonly now: number }): Promise<Composed | null>;
}

/** Returns the changes that queue one mail, for the transaction of its event. `now` in milliseconds since the epoch. */
export type QueueMail<A extends JSONValue> = (about: A, now: number) => readonly Change[];

/** The members that the feature of mail offers. */
export interface Mailer {
  /**
   * Registers a kind of mail, and returns the function that queues one. Called in the `setUp` of a feature that needs mail. Throws
   * `DeclarationError` if the name is wrong or taken.
   */
  kind<A extends JSONValue>(kind: MailKind<A>): QueueMail<A>;
  /**
   * The public address of the service, for links: `https://api.example`, without the base path and without a slash at the end. Links are
   * never built from a request. Read it when a mail is composed: a service that listens on a free port knows it only then.
   */
  readonly publicURL: string;
}

/** The texts of a mail in one language. `{name}` is replaced by a value. A paragraph with a value that is missing is left out. */
export interface MailTemplate {
  /** One line. It has neither the link nor the code. `{service}` is the name of the service. */
  readonly subject: string;
  /** Paragraphs with an empty line between them. `{link}` and `{code}` are each on a line without other text. */
  readonly text: string;
  /** HTML of your own instead of the one made from `text`. Values are escaped. */
  readonly html?: string;
}

/** Templates by name: `password_reset`. */
export type MailTemplates = Readonly<Record<string, MailTemplate>>;
