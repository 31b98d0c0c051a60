import type { Action } from "../../access/permission/contract.ts";
import type { Call, Reply } from "../../core/call/call.ts";
import type { Deprecated } from "../../core/deprecation.ts";
import type { Eventually } from "../../core/eventually.ts";
import type { Identity } from "../../core/identity.ts";
import type { Resource } from "../../resource/resource.ts";
import type { Key } from "../../store/store.ts";
import type { BodyShape } from "./body-shape.ts";
import type { Method } from "./facts.ts";
import type { SentForm } from "./sent-form.ts";

/**
 * What a format may show in addition to the data of a response: its URL, the caller, and what the caller may do next.
 * It contains nothing that the caller could not find out by other requests.
 */
export interface View {
  /** The request. */
  readonly call: Call;
  /**
   * The query of the request without credentials, safe to show and to use in links. Empty if the endpoint keeps it
   * secret.
   */
  readonly query: string;
  readonly status: number;
  /** The header fields of this response beyond those of every response: `Link`, `Location`, `WWW-Authenticate`. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The ETag of the shown state, for `If-Match`. Null if there is none. */
  readonly tag: string | null;
  /** The path below which the service is mounted, without a slash at its end. Empty for the root. */
  readonly basePath: string;
  /** The requested endpoint. Null if the request ended before it was known. */
  readonly place: RequestedEndpoint | null;
  /** The deprecated parts that the request uses. */
  readonly deprecations: readonly Deprecated[];
  /** The request data, as far as it was read. */
  readonly sent: unknown;
  /** The form of a page, if the request is one. Null for any other request. */
  readonly sentForm: SentForm | null;
  /**
   * The caller's identity. Null if the request has no accepted credential. No shared cache stores a response for which
   * this was read.
   */
  readonly identity: Identity | null;
  /**
   * True if the credentials were checked. False for open endpoints, and if the request ended earlier (404 for an
   * unknown path).
   */
  readonly wasIdentified: boolean;
  /** Returns what the caller may do at a path of the service, without its base path. Default: the requested path. */
  offers(path?: string): Eventually<readonly Offer[]>;
  /**
   * Returns the reply to a GET by the same caller. `target` is a path with its query, without the base path. Returns
   * null if the reply is a problem.
   */
  ask(target: string): Eventually<Reply | null>;
  /**
   * Returns the value of one field in several records of a resource, by id, with one query. Includes only records that
   * the caller may read. Returns null if the field cannot be shown, or if there are too many values.
   */
  values(path: string, ids: readonly Key[], field: string): Eventually<ReadonlyMap<Key, unknown> | null>;
}

/** The form of a page: for a new record, or for the change of a record. */
export type FormKind = "new" | "edit";

/** The requested endpoint. */
export interface RequestedEndpoint {
  /** The declared path: `/orders/{id}`. */
  readonly path: string;
  readonly params: Readonly<Record<string, number | string>>;
  readonly method: Method;
  readonly action: Action;
  /** The mounted resource. Null for a custom endpoint. */
  readonly resource: Resource | null;
  /** True if it takes a password, or returns a credential that is shown only once. */
  readonly logsIn: boolean;
  /** True if its query is secret, so no link can repeat the request. */
  readonly hidesQuery: boolean;
  /** The names that `?expand=` accepts. */
  readonly expandable: readonly string[];
  /** The requested form (`?form=`). Null for any other request. */
  readonly form: FormKind | null;
}

/** An action that the caller may take. */
export interface Offer {
  readonly method: Method;
  /** The path of the request, without the base path. */
  readonly path: string;
  /** The action that the permission is checked for. */
  readonly action: Action;
  /** The mounted resource. Null for a custom endpoint. */
  readonly resource: Resource | null;
  /** The name of the resource's own action: `cancel` for `POST /orders/7/cancel`. Null for the standard actions. */
  readonly name: string | null;
  /** The fields of the body, for an action of the resource. Null otherwise. */
  readonly body: Resource | null;
  /** The documented body of a custom endpoint. Null otherwise. */
  readonly request: BodyShape | null;
  /** True if it accepts an `Idempotency-Key`. */
  readonly repeatable: boolean;
  /** The author's description, one sentence. */
  readonly description: string | null;
  /**
   * Returns those of the ids with which a record may be written, if a field holds one of them. A form offers no group
   * in which the write is refused.
   */
  mayHold(field: string, ids: readonly Key[]): Eventually<readonly Key[]>;
}
