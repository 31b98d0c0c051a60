import type { Action } from "../../access/permission/contract.ts";
import type { Call, Reply } from "../../core/call/call.ts";
import type { Deprecated } from "../../core/deprecation.ts";
import type { Eventually } from "../../core/eventually.ts";
import type { Identity } from "../../core/identity.ts";
import type { Resource } from "../../resource/resource.ts";
import type { Key } from "../../store/store.ts";
import type { Method } from "../endpoint/facts.ts";
import type { Shape } from "../endpoint/shape.ts";

/**
 * What stands around an answer, for formats that show more than its data: where it is from, who asked, and what they may do next. It
 * tells nothing that the caller could not learn by asking.
 */
export interface View {
  /** The request. */
  readonly call: Call;
  /** The query of the request without the credentials in it: what may be shown, and stand in links. */
  readonly query: string;
  readonly status: number;
  /** The header fields that the answer has besides those of every answer: `Link`, `Location`, `WWW-Authenticate`. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The ETag of the state that is shown, for `If-Match`; null where there is none. */
  readonly tag: string | null;
  /** The path below which the service stands, without a slash at its end; empty for the root. */
  readonly basePath: string;
  /** What was asked; null where the request ended before that was known. */
  readonly place: Place | null;
  /** What the request uses and will go. */
  readonly deprecations: readonly Deprecated[];
  /** What was sent, as far as it was read. */
  readonly sent: unknown;
  /** Who is calling; null where nobody showed who they are. An answer for which this was read is kept by no shared cache. */
  readonly identity: Identity | null;
  /** Whether anyone looked who is calling: not at open endpoints, and not where the request ended before that (404 of a path that is none). */
  readonly wasIdentified: boolean;
  /** What the caller may do at a path of the service, without its base path; where none is named, at the one that was asked. */
  offers(path?: string): Eventually<readonly Offer[]>;
  /** What the same caller gets for a GET of another path, with its query and without the base path; null where that is a problem. */
  ask(target: string): Eventually<Reply | null>;
  /**
   * What records of a resource hold in one field, by their ids: those that the same caller may read, in one question for all. Null where that
   * is nobody's to know, or too much.
   */
  values(path: string, ids: readonly Key[], field: string): Eventually<ReadonlyMap<Key, unknown> | null>;
}

/** The endpoint that was asked. */
export interface Place {
  /** As it is declared: `/orders/{id}`. */
  readonly path: string;
  readonly params: Readonly<Record<string, number | string>>;
  readonly method: Method;
  readonly action: Action;
  /** The mounted resource; null at an endpoint of one's own. */
  readonly resource: Resource | null;
  /** It takes a password or gives a credential, which is shown this once. */
  readonly logsIn: boolean;
  /** What `?expand=` can put beside its records. */
  readonly expandable: readonly string[];
}

/** Something that the caller may do. */
export interface Offer {
  readonly method: Method;
  /** The path to ask, without the base path. */
  readonly path: string;
  /** What permissions are asked about. */
  readonly action: Action;
  /** The mounted resource; null at an endpoint of one's own. */
  readonly resource: Resource | null;
  /** The resource's own action: `cancel` of `POST /orders/7/cancel`; null for what every resource can do. */
  readonly name: string | null;
  /** The fields that an action of the resource's own takes; null for everything else. */
  readonly body: Resource | null;
  /** The body of an endpoint of one's own, as its documentation has it; null for everything else. */
  readonly request: Shape | null;
  /** It takes an `Idempotency-Key`. */
  readonly repeatable: boolean;
  /** One sentence of its author. */
  readonly description: string | null;
}
