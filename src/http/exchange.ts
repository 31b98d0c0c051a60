import type { Identified } from "../auth/chain.ts";
import { parsePrefer } from "../headers/prefer.ts";
import { parseQuery } from "../headers/query.ts";
import type { Identity } from "../identity.ts";
import type { Action, Permission, PermissionRequest } from "../permission/permission.ts";
import { problem, type Issue, type Problem } from "../problem/problem.ts";
import type { Collection, Where } from "../store/store.ts";
import type { Call } from "./call.ts";
import type { ServiceCore } from "./core.ts";
import { FORMAT_PARAMETER, type Format } from "./formats/format.ts";
import type { Hold } from "./held-bodies.ts";

/** A body that was read. */
export interface ReceivedBody {
  readonly value: unknown;
  /** It came as XML or as a form: every leaf is text. */
  readonly leavesAreText: boolean;
  /** The name of the root element, where it came as XML. */
  readonly element: string | null;
  /** Its media type, without parameters. */
  readonly mediaType: string;
  /** As it arrived. */
  readonly bytes: Uint8Array;
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** What is true of an endpoint; what is checked, read and sent follows from it. */
export interface EndpointFacts {
  readonly method: Method;
  /** What permissions are asked about; `call` where it is left out. */
  readonly action?: Action;
  /** Who may. `open`: credentials are not even looked at, so that a stale one cannot lock anyone out. */
  readonly access: Permission | "open";
  /**
   * `told`: neither a wrong credential nor the permission ends the request; the handler finds in `refusal` why the caller is nobody. For what
   * answers everybody and shows nothing but the caller's own.
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
  readonly preconditions?: "weighed by the handler";
  /** The media type of an answer that is not negotiated. */
  readonly produces?: string;
}

/** What is true of an endpoint of a mounted resource besides. */
export interface MountedFacts extends EndpointFacts {
  /** The rows that its handler narrows as the permission says. */
  readonly rows?: Collection;
}

/** Why a caller is nobody at an endpoint that tells it and answers all the same. */
export interface Refusal {
  readonly problem: Problem;
  /** The cookies that were refused, by their names without a prefix: the caller is better off without them. */
  readonly cookies: readonly string[];
}

const NONE: readonly string[] = [];

/** One request on its way: the call and what the steps have found out about it so far. */
export class Exchange implements PermissionRequest {
  readonly service: ServiceCore;
  readonly call: Call;
  readonly endpoint: MountedFacts;
  readonly params: Readonly<Record<string, number | string>>;
  /** Whether anyone looked at the identity: the answer is then for this caller alone. */
  identityWasRead = false;
  /** Why the caller was taken for nobody, where that is told. */
  refusal: Refusal | null = null;
  /** The only rows that the permission allows; null: all. */
  only: Where | null = null;
  /** The format of the answer. */
  format: Format;
  body: ReceivedBody | null = null;
  /** The preferences that were followed so far. */
  followed: readonly string[] = NONE;
  /** What the body counts for, until the request is over. */
  hold: Hold | null = null;
  #identified: Identified | null = null;
  #preferences: ReadonlyMap<string, string> | null | undefined = undefined;

  constructor(
    service: ServiceCore,
    call: Call,
    endpoint: MountedFacts,
    params: Readonly<Record<string, number | string>>,
  ) {
    this.service = service;
    this.call = call;
    this.endpoint = endpoint;
    this.params = params;
    this.format = service.formats[0]!;
  }

  get action(): Action {
    return this.endpoint.action ?? "call";
  }

  /** What the chain found; null on open endpoints, where nobody looked. */
  set identified(identified: Identified) {
    this.#identified = identified;
  }

  get identity(): Identity | null {
    this.identityWasRead = true;
    return this.#identified === null ? null : this.#identified.identity;
  }

  /** Who was found, for the log: looking here does not make an answer private. */
  get observedIdentity(): Identity | null {
    return this.#identified === null ? null : this.#identified.identity;
  }

  /** An accepted credential is such that a browser may have sent it unasked. */
  get ambient(): boolean {
    return this.#identified?.ambient ?? false;
  }

  /** The caller, on an endpoint that needs one. */
  requireIdentity(): Identity {
    const identity = this.identity;
    if (identity === null) throw this.service.chain.challenge(this.call);
    return identity;
  }

  /** The query, in order, without what chose the format of the answer. */
  parameters(): readonly (readonly [name: string, value: string])[] {
    const parameters = parseQuery(this.call.query);
    const choosesFormat = this.endpoint.produces === undefined && this.endpoint.method === "GET";
    return choosesFormat ? parameters.filter(([name]) => name !== FORMAT_PARAMETER) : parameters;
  }

  /** What the caller prefers (RFC 7240), by name; null: nothing. */
  get preferences(): ReadonlyMap<string, string> | null {
    if (this.#preferences !== undefined) return this.#preferences;
    const header = this.call.list("prefer");
    return (this.#preferences = header === undefined ? null : parsePrefer(header));
  }

  /** Says that a preference is followed: `count=exact`. It stands in the answer's `Preference-Applied`. */
  follow(preference: string): void {
    this.followed = [...this.followed, preference];
  }

  /** The address of a path of this service (`/users`), as callers ask for it. */
  at(path: string): string {
    return this.service.basePath + path;
  }

  /** A parameter of the path that is an id. */
  id(name = "id"): number {
    return this.params[name] as number;
  }
}

/** Ends a request whose fields are wrong. */
export function invalid(issues: readonly Issue[]): Error {
  return problem(issues.every((issue) => issue.pointer.startsWith("?")) ? "invalid_query" : "invalid", { issues });
}
