import type { SchemeSet } from "../../access/scheme/scheme-set.ts";
import type { CallContext } from "../../core/call/call.ts";
import type { Secret } from "../../core/crypto/secret.ts";
import type { Observer } from "../../core/observation.ts";
import type { Tracer } from "../../core/tracer.ts";
import type { StoreReader } from "../../store/reader.ts";
import type { Store } from "../../store/store.ts";
import type { Lines } from "../scheduling/lines.ts";
import type { LongReads } from "../scheduling/long-reads.ts";
import type { SlowLists } from "../scheduling/slow-lists.ts";
import type { Alongside } from "./alongside.ts";
import type { Cursors } from "./cursors.ts";
import type { Format } from "./format.ts";
import type { HeldBodies } from "./held-bodies.ts";
import type { InFlight } from "./in-flight.ts";
import type { RequestLimiter } from "./limiting.ts";
import type { RevisionTags } from "./revision-tags.ts";
import type { StateTag } from "./state-tags.ts";

/**
 * Returns true if a credential with these scopes may be used with a method. HEAD and QUERY count as `GET`. The function
 * must return true or false synchronously. Any other result is a fault (500), and the request is refused.
 */
export type ScopesAllow = (scopes: readonly string[], method: string) => boolean;

/** The members of a feature that `use` needs: its name, and its set-up, which returns what it offers to other code. */
export interface Offering<Offer> {
  readonly name: string;
  setUp(host: never): { readonly offer: Offer };
}

/** The parts of the service that a request needs. */
export interface ServiceCore {
  readonly schemeSet: SchemeSet;
  readonly store: Store;
  /** The reading methods of the store, for handlers and hooks. */
  readonly reader: StoreReader;
  readonly cursors: Cursors;
  /** Makes the keyed ETags of records. */
  readonly stateTag: StateTag;
  /** Decides which records have an ETag from their revision instead. */
  readonly revisionTags: RevisionTags;
  /**
   * The key for fingerprints of requests with an `Idempotency-Key`. A body may contain a password, which an attacker
   * could guess from a digest without a key.
   */
  readonly fingerprintKey: Uint8Array;
  /** The secret from which the keys of values that are shown once are derived. Null if the service has none. */
  readonly secret: Secret | null;
  /** The path prefix of all endpoints, without a final slash. Empty for the root. */
  readonly basePath: string;
  /**
   * The header field, in lower case, with which administrators request an explanation of the schemes, and receive it.
   */
  readonly explainHeader: string;
  /** The maximum size of a body, in bytes, if the endpoint declares none. */
  readonly maxBodyBytes: number;
  /** True if long bodies are compressed for callers that accept it. */
  readonly compression: boolean;
  /** Counts and limits the memory of bodies. */
  readonly heldBodies: HeldBodies;
  /** Limits the long reads of each caller. A long read may look at all rows. */
  readonly longReads: LongReads;
  /** The lists whose reads were slow recently. They are read outside of the event loop. */
  readonly slowLists: SlowLists;
  /** The queues for changes of the same record. */
  readonly lines: Lines;
  /** The functions that add changes to every write of a mounted resource. */
  readonly alongside: readonly Alongside[];
  /** The formats. JSON is first, because it is the default. */
  readonly formats: readonly Format[];
  readonly callContext: CallContext;
  /** Makes a UUID for a new record: of version 7, for the time in milliseconds since the epoch. */
  readonly makeUUID: (now: number) => string;
  /** The scope of HSTS: browsers must use TLS for this host, or also for all its subdomains. */
  readonly hsts: "host" | "subdomains";
  /** The exact origins that may call from a browser, in addition to the origins of the service itself. */
  readonly allowedOrigins: readonly string[];
  /** The exact origins of the service itself, in addition to the origin that the caller used. */
  readonly ownOrigins: readonly string[];
  /** The exact origins that may send cookies: the allowed origins, and the origins of the service itself. */
  readonly sameSiteOrigins: readonly string[];
  /**
   * Decides what a credential with limited scopes may request at all. The endpoint's permission decides after that.
   * Null: scopes limit nothing.
   */
  readonly scopesAllow: ScopesAllow | null;
  /** The limiters, which decide whether there are too many requests. */
  readonly limiters: readonly RequestLimiter[];
  /** True if a caller on another machine may log in without TLS. */
  readonly allowsCleartextLogins: boolean;
  /** The tracer. Null if there is none. */
  readonly tracer: Tracer | null;
  /** The observer. Null if there is none. */
  readonly observe: Observer | null;
  /** Returns what a feature of the service offers. Throws a TypeError if the service does not have it. */
  use<Offer>(feature: Offering<Offer>): Offer;
  /** The requests that wait for a promise. A request that is answered synchronously is never in the list. */
  readonly inFlight: InFlight;
}
