import { opaqueTokenPattern } from "../crypto/opaque-token.ts";
import type { Eventually } from "../eventually.ts";
import { withoutBlanks } from "../headers/blanks.ts";
import { withoutParameters } from "../headers/query.ts";
import { parseTraceContext, type TraceContext } from "../headers/traceparent.ts";

/** Hears how many octets more are kept for a body that arrives. Throws the problem that ends the request where they are too many. */
export type Weigh = (bytes: number) => void;

/** Who calls, as somebody in front of the service has found out. */
export interface ToldClient {
  /** The caller's IP address; undefined where nobody can tell, as of one who has gone already. */
  readonly address: string | undefined;
  /** The caller's connection is TLS. */
  readonly encrypted: boolean;
}

/** What a binding hands over: one request as it arrived, before anybody looked at it. */
export interface Arrival {
  readonly method: string;
  /** Path and query as sent (`/users?limit=2`). */
  readonly target: string;
  /** Names and values in turn, in the order and spelling in which they arrived. */
  readonly rawHeaders: readonly string[];
  /** The address on the other end of the connection; `unix` for a local socket, `unknown` where it cannot be told. */
  readonly peer: string;
  /** The connection itself is TLS. */
  readonly encrypted: boolean;
  /** Who calls, as a framework in front has found out. Its word is the last: proxies that the service trusts are not asked. */
  readonly client?: ToldClient | undefined;
  /** The version of HTTP that the request line names (`1.1`), where there was one. */
  readonly version?: string;
  /** Reads the body, and tells `weigh` as octets arrive. Throws the problem `content_too_large` beyond `maxBytes`, and what `weigh` throws. */
  readBody(maxBytes: number, weigh?: Weigh): Eventually<Uint8Array>;
}

/** Another request of whoever sent this one, over the same connection and without a body. */
export function alike(arrival: Arrival, asked: Partial<Pick<Arrival, "method" | "target" | "rawHeaders">>): Arrival {
  // Written out: what a binding hands over may have its members in its class, where a spread does not see them.
  const { method, target, rawHeaders, peer, encrypted, client } = arrival;
  return { method, target, rawHeaders, peer, encrypted, client, ...asked, readBody: async () => new Uint8Array() };
}

/** Where the request came from, as far as trusted proxies can be believed. */
export interface Client {
  /** The caller's address, without a zone or an IPv4-mapped prefix. */
  readonly address: string;
  /** The caller's connection is TLS, here or at a trusted proxy. */
  readonly encrypted: boolean;
  /** The caller is on this machine and no trusted proxy says otherwise. */
  readonly loopback: boolean;
  /** The connection comes from a trusted proxy. */
  readonly viaTrustedProxy: boolean;
  /** Scheme and host that the caller used (`https://api.example`); null where the request names none. */
  readonly origin: string | null;
}

/** What the service knows and a single request does not: how to read the client, the time and the request's id. */
export interface CallContext {
  readonly now: () => number;
  readonly makeRequestId: () => string;
  readonly readClient: (call: Call) => Client;
  readonly about: About;
}

/** What callers are told of the service. */
export interface About {
  /** What it is called: the realm of its challenges. */
  readonly name: string;
  /** What its operator sets the origins with whose pages may call. */
  readonly allowedOrigins: string;
}

/** One request as the core sees it. It knows neither sockets nor `Request` objects. */
export class Call {
  readonly method: string;
  /** The path as sent, without the query. */
  readonly path: string;
  /** What stands behind the `?`, as sent; empty where there is none. */
  readonly query: string;
  /** When the request arrived, in milliseconds since the epoch. */
  readonly now: number;
  readonly arrival: Arrival;
  #context: CallContext;
  #client: Client | null = null;
  #requestId: string | null = null;
  #cookies: ReadonlyMap<string, string | null> | null = null;
  #trace: TraceContext | null | undefined = undefined;
  #readBody: (() => Eventually<Uint8Array>) | null = null;
  #awaits: string | (() => string) | null = null;

  constructor(arrival: Arrival, context: CallContext) {
    const question = arrival.target.indexOf("?");
    this.method = arrival.method;
    this.path = question === -1 ? arrival.target : arrival.target.slice(0, question);
    this.query = question === -1 ? "" : arrival.target.slice(question + 1);
    this.now = context.now();
    this.arrival = arrival;
    this.#context = context;
  }

  /** The query as sent, but for one parameter: what a signature in that parameter is of. */
  queryWithout(name: string): string {
    return withoutParameters(this.query, (each) => each === name);
  }

  /** The first value of a header. `name` is in lower case. */
  header(name: string): string | undefined {
    const raw = this.arrival.rawHeaders;
    for (let at = 0; at < raw.length; at += 2) {
      const field = raw[at]!;
      if (field.length === name.length && (field === name || field.toLowerCase() === name)) return raw[at + 1]!;
    }
    return undefined;
  }

  /** A header that is a list, its fields joined (RFC 9110 §5.3). `name` is in lower case. */
  list(name: string): string | undefined {
    const raw = this.arrival.rawHeaders;
    let list: string | undefined;
    for (let at = 0; at < raw.length; at += 2) {
      const field = raw[at]!;
      if (field.length !== name.length || (field !== name && field.toLowerCase() !== name)) continue;
      list = list === undefined ? raw[at + 1]! : `${list}, ${raw[at + 1]!}`;
    }
    return list;
  }

  /** Every value of a header, in order. `name` is in lower case. */
  headers(name: string): string[] {
    const raw = this.arrival.rawHeaders;
    const values: string[] = [];
    for (let at = 0; at < raw.length; at += 2) {
      if (raw[at]!.toLowerCase() === name) values.push(raw[at + 1]!);
    }
    return values;
  }

  /** The value of a cookie; null where it was sent twice with different values, for then it proves nothing. */
  cookie(name: string): string | null | undefined {
    this.#cookies ??= readCookies(this);
    return this.#cookies.get(name);
  }

  /**
   * The octets of the body as they arrive, for a scheme that says `readsBody`; none where the endpoint reads no body. Whoever only knows
   * the name of a key makes them be read: look at everything else before. Ends the request (413, 503) beyond the limits of any body.
   */
  async octets(): Promise<Uint8Array> {
    if (this.#readBody !== null) return this.#readBody();
    throw new TypeError("The body is read before anybody is known where a scheme says so: readsBody: true.");
  }

  /** Says how the body is read, for `octets`. */
  letRead(readBody: () => Eventually<Uint8Array>): void {
    this.#readBody = readBody;
  }

  /** Notes whose promise was given, for as long as it is not settled. */
  awaiting<T>(whose: string | (() => string), given: Eventually<T>): Eventually<T> {
    if (!(given instanceof Promise)) return given;
    this.#awaits = whose;
    return given.then(
      (value) => {
        this.#awaits = null;
        return value;
      },
      (error: unknown) => {
        this.#awaits = null;
        throw error;
      },
    );
  }

  /** For whose promise the request waits; null where it is none that is known. */
  get awaits(): string | null {
    return typeof this.#awaits === "function" ? this.#awaits() : this.#awaits;
  }

  /** The realm that a challenge names (RFC 9110 §11.5). */
  get realm(): string {
    return this.#context.about.name;
  }

  /** What callers are told of the service. */
  get about(): About {
    return this.#context.about;
  }

  /** Where the request came from. */
  get client(): Client {
    return (this.#client ??= this.#context.readClient(this));
  }

  /** The caller's `X-Request-Id` where it is sane, else a new one. */
  get requestId(): string {
    if (this.#requestId !== null) return this.#requestId;
    const sent = this.header("x-request-id");
    this.#requestId = sent !== undefined && isSaneRequestId(sent) ? sent : this.#context.makeRequestId();
    return this.#requestId;
  }

  /** An id of ours, also where the caller sent one: from now on the request has this one, for the log too. */
  requireOwnRequestId(): string {
    if (this.#requestId === null || this.#requestId === this.header("x-request-id"))
      this.#requestId = this.#context.makeRequestId();
    return this.#requestId;
  }

  /** Where the request stands in a trace, and what to send along with requests of your own; null where the caller tells none that can be followed. */
  get trace(): TraceContext | null {
    if (this.#trace !== undefined) return this.#trace;
    const sent = this.list("traceparent");
    return (this.#trace = sent === undefined ? null : parseTraceContext(sent, this.list("tracestate")));
  }
}

/** Not one that is a token: an id is told to everyone who reads the log. */
function isSaneRequestId(text: string): boolean {
  return text.length <= 128 && /^[A-Za-z0-9._:/+=@-]+$/.test(text) && !opaqueTokenPattern.test(text);
}

function readCookies(call: Call): ReadonlyMap<string, string | null> {
  const cookies = new Map<string, string | null>();
  for (const header of call.headers("cookie")) {
    for (const pair of header.split(";")) {
      const equals = pair.indexOf("=");
      if (equals < 1) continue;
      // Nothing else: with U+00A0 before it, a browser takes `__Host-session` from a host beside ours.
      const name = withoutBlanks(pair.slice(0, equals));
      const value = withoutBlanks(pair.slice(equals + 1));
      const known = cookies.get(name);
      cookies.set(name, known === undefined || known === value ? value : null);
    }
  }
  return cookies;
}

/** What an answer carries. */
export type Body =
  /** Data, to be written in the format the caller prefers. `element` is its name in XML; `items` the name of each where it is a list. */
  | (Shown & { readonly kind: "data"; readonly value: unknown })
  /** The same, already JSON text: from the database, as it is. */
  | (Shown & { readonly kind: "json"; readonly json: string })
  /** Bytes of a type of their own: a page, a key set, metrics. */
  | { readonly kind: "raw"; readonly type: string; readonly content: string | Uint8Array };

/** What a format needs to know of data besides the data. */
interface Shown {
  readonly element: string;
  readonly items?: string;
  /** The members of a record that hold any JSON value: XML carries them as JSON text. */
  readonly jsonMembers?: readonly string[];
  /** Other records that stand in each, by the name of the member. */
  readonly related?: Readonly<Record<string, Related>>;
}

/** Records that stand in others: one, or several. */
export interface Related {
  /** The name of each, where it is a list. */
  readonly items?: string;
  readonly jsonMembers: readonly string[];
  readonly related: Readonly<Record<string, Related>>;
}

/** Who may keep an answer: `public` anyone, `private` the caller's own cache and only after asking again, `no-store` nobody. */
export type Cacheability = "public" | "private" | "no-store";

/** One answer, before a format has written it. */
export interface Reply {
  readonly status: number;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: Body;
  /** Opaque tag of the state that is shown; the format makes it an ETag of its own. */
  readonly tag?: string | null;
  /** `private` where it is left out. */
  readonly cache?: Cacheability;
  /** The request's header fields, besides `Accept` and the credentials, that the answer depended on. */
  readonly vary?: string;
  /** How long a `public` answer is fresh; left out, it is asked for again every time. */
  readonly maxAgeSeconds?: number;
  /** The Content-Security-Policy of a page; an answer of the API may run and load nothing. */
  readonly contentSecurityPolicy?: string;
}
