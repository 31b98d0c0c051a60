import type { Related } from "../../core/call/call.ts";
import type { Eventually } from "../../core/eventually.ts";
import type { Issue } from "../../core/problem/problem.ts";
import type { View } from "./view.ts";

/** The query parameter that stands for an `Accept` where something is read: a link of a page can send no header. */
export const FORMAT_PARAMETER = "format";

/** Part of every record's tag. Raise it when a format of ours begins to write the same record otherwise. */
export const FORMATS_VERSION = 1;

/** One representation: how data is written, and how a body is read. Add one of your own by making such an object. */
export interface Format {
  /** What stands in `Content-Type` and is asked for in `Accept`; lower case, without parameters. */
  readonly mediaType: string;
  /** The same for problems. */
  readonly problemMediaType: string;
  /** Put behind a tag, so that each representation has a strong ETag of its own (RFC 9110 §8.8.3); empty for JSON. */
  readonly tagSuffix: string;
  /** `lists`: it can show nothing else, as CSV. It is offered where the action is `list` alone, so that no change is made that cannot be answered. */
  readonly shows?: "lists";
  /** Said in `Content-Type`; JSON and XML need none. */
  readonly charset?: "utf-8";
  /** The Content-Security-Policy of what it writes; left out, a browser may run and load nothing. */
  readonly contentSecurityPolicy?: string;
  /** It tells of more than the data, such as who asked: the ETag is then made of what was written. */
  readonly tagged?: "by content";
  /** Challenges that it does not send, because its page asks for the credential itself: a browser would put a window of its own before the page. */
  asksInPlaceOf?(challenge: string): boolean;
  /** Text, or octets of a format that is none. */
  write(body: DataBody, view: View): Eventually<string | Uint8Array>;
  /** Shows JSON text as it is. Left out: it is parsed and written. */
  writeJSON?(json: string): string;
  writeProblem(document: ProblemDocument, view: View): Eventually<string | Uint8Array>;
  /** Reads a body: records, patches and what is sent to actions. Throws the problem `malformed`, whose detail names the place; giving no body is a fault. Left out: the format only writes. */
  read?(bytes: Uint8Array): Eventually<ReadBody>;
}

/** Data to be shown. */
export interface DataBody {
  readonly value: unknown;
  /** The name of the whole: `user`, `users`. */
  readonly element: string;
  /** The name of each, where it is a list. */
  readonly items?: string;
  /** The members of a record that hold any JSON value: a format without JSON's types carries them as JSON text. */
  readonly jsonMembers?: readonly string[];
  /** What else stands in a record, by the name of its member: other records, which are of another kind. */
  readonly related?: Readonly<Record<string, Related>>;
}

/** A body that was read. */
export interface ReadBody {
  readonly value: unknown;
  /** False where every leaf is text and fields have to read their type from it (XML). */
  readonly typed: boolean;
  /** The name that the body gives itself, in formats that have one. */
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
  /** The extension members of the problem (RFC 9457 §3.2), behind the standard ones. */
  readonly [extension: string]: unknown;
}
