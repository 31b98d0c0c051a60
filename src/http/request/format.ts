import type { Related } from "../../core/call/call.ts";
import type { Eventually } from "../../core/eventually.ts";
import type { Issue } from "../../core/problem/problem.ts";
import type { View } from "./view.ts";

/** The query parameter that replaces `Accept` on reads, because a link of a page cannot send a header. */
export const FORMAT_PARAMETER = "format";

/** The query parameter that asks for a form: `?form=new` on a list, `?form=edit` on a record. Only pages have forms. */
export const FORM_PARAMETER = "form";

/** A part of every record's ETag. Increase it if a built-in format changes how it writes a record. */
export const FORMATS_VERSION = 1;

/** One representation: it writes data and reads bodies. To add a format, create an object of this type. */
export interface Format {
  /** The media type for `Content-Type` and `Accept`, in lower case, without parameters. */
  readonly mediaType: string;
  /** The media type for problems. */
  readonly problemMediaType: string;
  /** Appended to a tag, so each representation has a different strong ETag (RFC 9110 §8.8.3). Empty for JSON. */
  readonly tagSuffix: string;
  /**
   * `lists`: the format can show only lists, as CSV does. It is offered only for the action `list`. Otherwise the
   * service could make a change and then be unable to write the response.
   */
  readonly shows?: "lists";
  /** The charset in `Content-Type`. JSON and XML need none. */
  readonly charset?: "utf-8";
  /**
   * True if its output has forms, which a browser sends as it sends every form. The service then reads such forms, and
   * browsers may send the origin of the page with them, also over cleartext (`Referrer-Policy: same-origin`).
   */
  readonly hasForms?: true;
  /** The Content-Security-Policy of its output. Left out: a browser may run and load nothing. */
  readonly contentSecurityPolicy?: string;
  /**
   * `by content`: the output depends on more than the data, for example on the caller. The ETag is then made from the
   * output.
   */
  readonly tagged?: "by content";
  /**
   * The fields that it shows on purpose, although a permission hides them from some callers: `["people.salary"]`.
   * `latchkey prove` reports all others.
   */
  readonly reveals?: readonly `${string}.${string}`[];
  /**
   * Returns true for a challenge that is not sent because the page of this format asks for the credential itself.
   * Otherwise a browser would open its own dialog first.
   */
  asksInPlaceOf?(challenge: string): boolean;
  /** Returns text, or octets for a binary format. */
  write(body: DataBody, view: View): Eventually<string | Uint8Array>;
  /** Writes a body that is already JSON text. Left out: the text is parsed and passed to `write`. */
  writeJSON?(json: string): string;
  writeProblem(document: ProblemDocument, view: View): Eventually<string | Uint8Array>;
  /**
   * Reads a body: records, patches and the input of actions. Throws the problem `malformed`, whose detail names the
   * place. Any other result is a fault (500). Left out: the format only writes.
   */
  read?(bytes: Uint8Array, numbers?: NumberReading): Eventually<ReadBody>;
}

/** How typed numbers are read. */
export interface NumberReading {
  /** True if the fields of a resource read the body. A number whose digits a double loses is then an `ExactNumber`. */
  readonly exactNumbers: boolean;
}

/** The data to show. */
export interface DataBody {
  readonly value: unknown;
  /** The name of the root element: `user` for a record, `users` for a list. */
  readonly element: string;
  /** The name of each item, for a list. */
  readonly items?: string;
  /** The members of a record that hold any JSON value. A format without JSON's types writes them as JSON text. */
  readonly jsonMembers?: readonly string[];
  /** The names for the records inside a record (`expand`), by the name of the member that contains them. */
  readonly related?: Readonly<Record<string, Related>>;
}

/** A body that was read. */
export interface ReadBody {
  readonly value: unknown;
  /** False if every leaf is text, which the fields convert to their types (XML). */
  readonly typed: boolean;
  /** The name of the body's root, in formats that have one. */
  readonly element?: string;
}

/** A problem as the caller sees it (RFC 9457). */
export interface ProblemDocument {
  /** A reference to the page that explains it: `/problems/not_found`. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly request_id: string;
  readonly errors?: readonly Issue[];
  /** The extension members of the problem (RFC 9457 §3.2), after the standard members. */
  readonly [extension: string]: unknown;
}
