import type { Call } from "../../core/call/call.ts";
import type { Eventually } from "../../core/eventually.ts";
import type { Identity } from "../../core/identity.ts";
import type { Resource } from "../../resource/resource.ts";
import type { MountedFacts } from "../endpoint/facts.ts";

/** What is called, as far as a limit may depend on it. */
export interface LimitedEndpoint extends MountedFacts {
  /** As declared: `/orders/{id}/cancel`. */
  readonly path: string;
  /** The mounted resource that it belongs to. */
  readonly mounted?: { readonly resource: Resource; readonly newer: { readonly resource: Resource } | null };
}

/** A request that may be one too many. */
export interface LimitedRequest {
  readonly call: Call;
  readonly endpoint: LimitedEndpoint;
  /** The parameters of the path: `{ id: 7 }`. */
  readonly params: Readonly<Record<string, number | string>>;
  /** Who is calling; null where nobody is known, also at endpoints that look at no credentials. */
  readonly identity: Identity | null;
}

/** Header fields that stand on the answer. */
export type LimitFields = readonly (readonly [name: string, value: string])[];

/** Says which requests are too many, before anybody asks what they may do. */
export interface RequestLimiter {
  /** Before credentials are looked at; `identity` is null. Throws the problem that ends the request. */
  arriving(request: LimitedRequest): Eventually<LimitFields>;
  /** Once the caller is known, and before the permission. Throws the problem that ends the request. */
  identified(request: LimitedRequest): Eventually<LimitFields>;
}
