import type { Call } from "../../core/call/call.ts";
import type { Eventually } from "../../core/eventually.ts";
import type { Identity } from "../../core/identity.ts";
import type { Resource } from "../../resource/resource.ts";
import type { MountedFacts } from "./facts.ts";

/** The facts about the requested endpoint that a limit may depend on. */
export interface LimitedEndpoint extends MountedFacts {
  /** The declared path: `/orders/{id}/cancel`. */
  readonly path: string;
  /** The mounted resource of the endpoint. */
  readonly mounted?: { readonly resource: Resource; readonly newer: { readonly resource: Resource } | null };
  /**
   * The endpoints that a form of a page may be for, while its method is not known. A limit applies to this endpoint if
   * it applies to all of them.
   */
  readonly settlesTo?: readonly LimitedEndpoint[];
}

/** A request that may exceed a limit. */
export interface LimitedRequest {
  readonly call: Call;
  readonly endpoint: LimitedEndpoint;
  /** The parameters of the path: `{ id: 7 }`. */
  readonly params: Readonly<Record<string, number | string>>;
  /** The caller's identity. Null if the caller is unknown, also for endpoints that ignore credentials. */
  readonly identity: Identity | null;
}

/** Header fields for the response. */
export type LimitFields = readonly (readonly [name: string, value: string])[];

/** Limits requests before the permission is checked. */
export interface RequestLimiter {
  /** Called before the credentials are checked. `identity` is null. Throws the problem that ends the request. */
  arriving(request: LimitedRequest): Eventually<LimitFields>;
  /**
   * Called when the method of a form is known, for the limits that did not apply to the endpoint at which it arrived
   * (`settlesTo`). `identity` is null. Throws the problem that ends the request. Default: forms have no such limits.
   */
  settled?(request: LimitedRequest, arrived: LimitedEndpoint): Eventually<LimitFields>;
  /** Called when the caller is known, before the permission is checked. Throws the problem that ends the request. */
  identified(request: LimitedRequest): Eventually<LimitFields>;
  /**
   * Counts the records of a received array except the first one, because the request itself is counted already. Called
   * after the body was read. Throws the problem that ends the request. Default: an array counts as one request.
   */
  records?(request: LimitedRequest, more: number): Eventually<LimitFields>;
}
