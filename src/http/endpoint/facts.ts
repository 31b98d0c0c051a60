import type { Action, Permission } from "../../access/permission/permission.ts";
import type { Deprecated } from "../../core/deprecation.ts";
import type { Problem } from "../../core/problem/problem.ts";
import type { JSONSchema } from "../../resource/json-schema/types.ts";
import type { Collection } from "../../store/store.ts";

/** A body that was read. `T` follows from the schema that the endpoint declares. */
export interface ReceivedBody<T = unknown> {
  readonly value: T;
  /** It came as XML or as a form: every leaf is text. */
  readonly leavesAreText: boolean;
  /** The name of the root element, where it came as XML. */
  readonly element: string | null;
  /** Its media type, without parameters. */
  readonly mediaType: string;
  /** As it arrived. */
  readonly bytes: Uint8Array;
}

/** A body of any endpoint, or none. */
export type AnyBody = ReceivedBody | null;

/** How the body of an endpoint is read. */
export interface BodyReading {
  /** For the API's documentation. Null if the library of the schema gives no JSON Schema. */
  readonly schema: JSONSchema | null;
  /** Returns the value that the schema gives. Throws the problem `invalid` with a pointer for each mistake. */
  read(body: ReceivedBody): unknown;
}

/** The methods of an endpoint of one's own. HEAD goes with GET, and OPTIONS with any. */
export type Method = "GET" | "QUERY" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The header fields that tell which types of bodies a method reads. */
export const acceptFields: ReadonlyMap<string, string> = new Map([
  ["POST", "Accept-Post"],
  ["PATCH", "Accept-Patch"],
  ["QUERY", "Accept-Query"],
]);

/** What is true of an endpoint; what is checked, read and sent follows from it. */
export interface EndpointFacts {
  readonly method: Method;
  /** What permissions are asked about; `call` where it is left out. */
  readonly action?: Action;
  /** Who may. `open`: credentials are not even looked at, so that a stale one cannot lock anyone out. */
  readonly access: Permission<string> | "open";
  /**
   * `told`: neither a rejected credential nor the permission ends the request. The handler finds in `refusal` why it was rejected. For an
   * endpoint that answers every caller and shows nothing but the caller's own.
   */
  readonly refusals?: "told";
  /** Query parameters: none are known where it is left out, `read` by the handler, or `ignored`. */
  readonly query?: "read" | "ignored";
  /** The media types of bodies that it reads; left out, a body is not looked at. */
  readonly consumes?: readonly string[];
  /** Where `consumes` names forms, none that a browser sends: any site can make one send a form. */
  readonly refusesBrowserForms?: boolean;
  /** The media types, besides those of the formats, that a caller may ask for because it is sent elsewhere: a form of a page is answered with a redirect. */
  readonly redirectsFor?: readonly string[];
  /** It takes a password or gives a credential: from another host only over TLS, unless the service allows cleartext. */
  readonly logsIn?: boolean;
  /** Its handler stores the outcome under an `Idempotency-Key`; left out, the header is refused on POST and PATCH, and never ignored. */
  readonly repeatable?: boolean;
  /** A body may be left out. */
  readonly bodyOptional?: boolean;
  /** The largest body, in bytes, where it is less than the 1 MiB of every endpoint. */
  readonly maxBodyBytes?: number;
  /**
   * Who weighs `If-Match` and `If-None-Match` of a call that may change something. Left out, they are weighed before the handler is
   * asked, against something that is there and has no tag: `If-Match: *` holds, `If-None-Match: *` does not, and no tag is known.
   */
  readonly preconditions?: "handler";
  /** The media type of an answer that is not negotiated. */
  readonly produces?: string;
}

/** What is true of an endpoint of a mounted resource besides. */
export interface MountedFacts extends EndpointFacts {
  /** How its body is read, if it declares a schema. */
  readonly reading?: BodyReading;
  /** The rows that its handler narrows as the permission says. */
  readonly rows?: Collection;
  /** That it will go. */
  readonly deprecations?: readonly Deprecated[];
}

/** Why a credential was rejected, at an endpoint that shows it and answers. */
export interface Refusal {
  readonly problem: Problem;
  /** The rejected cookies, by their names without `__Host-`. */
  readonly cookies: readonly string[];
}
