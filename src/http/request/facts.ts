import type { NarrowedTable } from "../../access/permission/narrowing.ts";
import type { Action, Permission } from "../../access/permission/permission.ts";
import type { Deprecated } from "../../core/deprecation.ts";
import type { Problem } from "../../core/problem/problem.ts";
import type { JSONSchema } from "../../resource/json-schema/types.ts";

/** A body that was read. `T` follows from the schema that the endpoint declares. */
export interface ReceivedBody<T = unknown> {
  readonly value: T;
  /** True if it is from XML or a form, where every leaf is text. */
  readonly leavesAreText: boolean;
  /** The name of the root element, for XML. */
  readonly element: string | null;
  /** The media type, without parameters. */
  readonly mediaType: string;
  /** The octets as they arrived. */
  readonly bytes: Uint8Array;
}

/** A body of any endpoint, or none. */
export type AnyBody = ReceivedBody | null;

/** How the body of an endpoint is read. */
export interface BodyReading {
  /** The schema for the API's documentation. Null if the library of the schema provides no JSON Schema. */
  readonly schema: JSONSchema | null;
  /** Returns the value that the schema produces. Throws the problem `invalid` with a pointer for each mistake. */
  read(body: ReceivedBody): unknown;
}

/**
 * The methods that an endpoint can declare. The service itself answers HEAD where GET is declared, and OPTIONS at every
 * path.
 */
export type Method = "GET" | "QUERY" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The header fields that show which media types a method accepts. */
export const acceptFields: ReadonlyMap<string, string> = new Map([
  ["POST", "Accept-Post"],
  ["PATCH", "Accept-Patch"],
  ["QUERY", "Accept-Query"],
]);

/** The facts about an endpoint. They decide what is checked, read and sent. */
export interface EndpointFacts {
  readonly method: Method;
  /** The action for permissions. Default: `call`. */
  readonly action?: Action;
  /**
   * The callers that may use it. `open`: credentials are not read, so an expired credential cannot lock a caller out.
   */
  readonly access: Permission<string> | "open";
  /**
   * `reported`: a rejected credential does not end the request, and the permission is not checked. The handler finds
   * the reason in `context.refusal`. For an endpoint that answers every caller and shows only the caller's own data.
   */
  readonly refusals?: "reported";
  /**
   * The query parameters: `read` by the handler, `secret` (read by the handler, and shown in no page, link or log), or
   * `ignored`. Left out: any parameter is refused.
   */
  readonly query?: "read" | "secret" | "ignored";
  /** The media types of bodies that it reads. Left out: the body is not read. */
  readonly consumes?: readonly string[];
  /**
   * True if it refuses forms from browsers, although `consumes` includes forms. A page of any site can make a browser
   * send a form.
   */
  readonly refusesBrowserForms?: boolean;
  /**
   * The media types for which the handler redirects, if the caller's `Accept` prefers one of them. No format needs to
   * write them. Example: `text/html`, which a browser prefers when it sends a form.
   */
  readonly redirectsFor?: readonly string[];
  /**
   * True if it takes a password or issues a credential. A request from another host then requires TLS, or a service
   * that allows cleartext logins.
   */
  readonly logsIn?: boolean;
  /**
   * True if its handler stores the outcome under an `Idempotency-Key`. Left out: POST and PATCH with this header are
   * refused.
   */
  readonly repeatable?: boolean;
  /**
   * True if a page may send it as a form, whose body names the method (`_method`). The endpoints of mounted resources
   * always take such forms.
   */
  readonly takesForms?: boolean;
  /** True if a request may have no body. */
  readonly bodyOptional?: boolean;
  /** The largest body, in bytes, if it is less than the default of 1 MiB. */
  readonly maxBodyBytes?: number;
  /**
   * `handler`: the handler checks `If-Match` and `If-None-Match` of a call that may change something. Left out: the
   * service checks them before it calls the handler. It assumes that the target exists and has no ETag: `If-Match: *`
   * is true, `If-None-Match: *` is false, and no ETag matches.
   */
  readonly preconditions?: "handler";
  /** The media type of a response that is not negotiated. */
  readonly produces?: string;
}

/** The additional facts about an endpoint of a mounted resource. */
export interface MountedFacts extends EndpointFacts {
  /** The form of a page that it answers with (`?form=`). Left out: no form. */
  readonly form?: "new" | "edit";
  /** The reader of its body, if it declares a schema. */
  readonly reading?: BodyReading;
  /** The table whose rows the permission may narrow. */
  readonly rows?: NarrowedTable;
  /** Its deprecations. */
  readonly deprecations?: readonly Deprecated[];
}

/** The reason why a credential was rejected, for an endpoint that shows it and still answers. */
export interface Refusal {
  readonly problem: Problem;
  /** The rejected cookies, by name without `__Host-`. */
  readonly cookies: readonly string[];
}
