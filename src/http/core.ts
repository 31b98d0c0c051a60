import type { Chain } from "../access/scheme/chain.ts";
import type { CallContext } from "../core/call/call.ts";
import type { Observer } from "../core/observation.ts";
import type { Tracer } from "../core/tracer.ts";
import type { StoreReader } from "../store/reader.ts";
import type { Store } from "../store/store.ts";
import type { Alongside } from "./alongside.ts";
import type { StateTag } from "./answer/state-tags.ts";
import type { HeldBodies } from "./body/held-bodies.ts";
import type { Format } from "./formats/format.ts";
import type { InFlight } from "./limiting/in-flight.ts";
import type { RequestLimiter } from "./limiting/limiting.ts";
import type { Lines } from "./limiting/lines.ts";
import type { Cursors } from "./list/cursors.ts";
import type { LongReads } from "./list/long-reads.ts";
import type { SlowLists } from "./list/slow-lists.ts";

/** Whether a credential with these scopes may be used with a method (`GET` for HEAD and QUERY too). True or false, at once: anything else is a fault (500), and nobody is let in. */
export type ScopesAllow = (scopes: readonly string[], method: string) => boolean;

/** As much of a feature as tells what it offers. */
export interface Offering<Offer> {
  readonly name: string;
  setUp(host: never): { readonly offer: Offer };
}

/** What a request on its way needs to know of the service. */
export interface ServiceCore {
  readonly chain: Chain;
  readonly store: Store;
  /** Its reading half, for handlers and hooks. */
  readonly reader: StoreReader;
  readonly cursors: Cursors;
  /** Makes the tags of records. */
  readonly stateTag: StateTag;
  /** Makes the fingerprints of requests that can be repeated: a body may hold a password, and a plain digest of it could be guessed. */
  readonly fingerprintKey: Uint8Array;
  /** The path below which everything stands, without a slash at its end; empty for the root. */
  readonly basePath: string;
  /** The header field, in lower case, in which administrators ask what the schemes saw, and are told. */
  readonly explainHeader: string;
  /** The largest body of an endpoint that names no limit of its own, in bytes. */
  readonly maxBodyBytes: number;
  /** Long bodies are compressed for whoever asks for it. */
  readonly compression: boolean;
  /** What bodies keep in memory. */
  readonly heldBodies: HeldBodies;
  /** Whose turn it is with lists that may take long. */
  readonly longReads: LongReads;
  /** Which lists held up all others lately. */
  readonly slowLists: SlowLists;
  /** Who changes a record after whom. */
  readonly lines: Lines;
  /** What is written with every write of a mounted resource. */
  readonly alongside: readonly Alongside[];
  /** JSON first: it is the default. */
  readonly formats: readonly Format[];
  readonly callContext: CallContext;
  /** A UUID for a new record: of version 7, for the time in milliseconds since the epoch. */
  readonly makeUUID: (now: number) => string;
  /** Over TLS browsers are told to stay there for this host, or for all below it too. */
  readonly hsts: "host" | "subdomains";
  /** Exact origins that may call from a browser, besides our own. */
  readonly allowedOrigins: readonly string[];
  /** Exact origins that may send cookies along: the allowed ones, and those under which the service is itself known. */
  readonly sameSiteOrigins: readonly string[];
  /** What a credential that is limited to scopes may ask for at all; the endpoint's permission decides after that. Null: everything. */
  readonly scopesAllow: ScopesAllow | null;
  /** Whoever says which requests are too many. */
  readonly limiters: readonly RequestLimiter[];
  /** Endpoints that log in do so from other hosts over cleartext too. */
  readonly allowsCleartextLogins: boolean;
  /** Null where nobody follows requests. */
  readonly tracer: Tracer | null;
  /** Null where nobody listens. */
  readonly observe: Observer | null;
  /** What a feature of the service offers. Throws a TypeError where it is none. */
  use<Offer>(feature: Offering<Offer>): Offer;
  /** Requests that wait for something. Those that are answered at once are never seen in flight. */
  readonly inFlight: InFlight;
}
