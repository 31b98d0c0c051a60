import { opaqueTokenPattern } from "../crypto/opaque-token.ts";
import type { Eventually } from "../eventually.ts";
import { trimOWS } from "../headers/list.ts";
import { withoutParameters } from "../headers/query.ts";
import { parseTraceContext, type TraceContext } from "../headers/traceparent.ts";

/**
 * Counts the octets of a body that are held in memory while it arrives. Throws the problem that ends the request if
 * there are too many.
 */
export type Weigh = (bytes: number) => void;

/** The caller, as reported by a framework in front of the service. */
export interface ReportedClient {
  /** The caller's IP address. Undefined if it is unknown, for example after the connection was closed. */
  readonly address: string | undefined;
  /** True if the caller's connection uses TLS. */
  readonly encrypted: boolean;
}

/** One request as it arrived, handed over by a binding before any processing. */
export interface Arrival {
  readonly method: string;
  /** Path and query as sent (`/users?limit=2`). */
  readonly target: string;
  /** Names and values alternately, in the order and spelling in which they arrived. */
  readonly rawHeaders: readonly string[];
  /** The address at the other end of the connection. `unix` for a local socket, `unknown` if it is not known. */
  readonly peer: string;
  /** True if the connection itself uses TLS. */
  readonly encrypted: boolean;
  /**
   * The caller, as reported by a framework in front of the service. If it is set, the service does not read forwarded
   * headers.
   */
  readonly client?: ReportedClient | undefined;
  /** The HTTP version in the request line (`1.1`), if there was one. */
  readonly version?: string;
  /**
   * Reads the body, and calls `weigh` as octets arrive. Throws the problem `content_too_large` beyond `maxBytes`, and
   * the errors of `weigh`.
   */
  readBody(maxBytes: number, weigh?: Weigh): Eventually<Uint8Array>;
}

/** Returns a request of the same caller over the same connection, with `changes` and without a body. */
export function alike(arrival: Arrival, changes: Partial<Pick<Arrival, "method" | "target" | "rawHeaders">>): Arrival {
  // The members are listed, because a binding may pass an object of a class, and a spread does not copy the accessors
  // of a class.
  const { method, target, rawHeaders, peer, encrypted, client } = arrival;
  return { method, target, rawHeaders, peer, encrypted, client, ...changes, readBody: async () => new Uint8Array() };
}

/** The client that sent the request. Behind trusted proxies, it is the client that they report. */
export interface Client {
  /** The caller's address, without a zone or an IPv4-mapped prefix. */
  readonly address: string;
  /** True if the caller's connection uses TLS, here or at a trusted proxy. */
  readonly encrypted: boolean;
  /** True if the caller is on this machine and no trusted proxy reports otherwise. */
  readonly loopback: boolean;
  /** True if the connection comes from a trusted proxy. */
  readonly viaTrustedProxy: boolean;
  /** Scheme and host that the caller used (`https://api.example`). Null if the request names no host. */
  readonly origin: string | null;
}

/** The facts that a call needs from its service: how to read the client, the time, and how to make an id. */
export interface CallContext {
  readonly now: () => number;
  readonly makeRequestId: () => string;
  readonly readClient: (call: Call) => Client;
  readonly about: About;
}

/** The public facts about the service. */
export interface About {
  /** The name of the service. Its challenges send it as the realm. */
  readonly name: string;
  /** The setting in which the operator lists the origins whose pages may call the service. */
  readonly allowedOrigins: string;
}

/** One request as the core sees it. It does not use sockets or `Request` objects. */
export class Call {
  readonly method: string;
  /** The path as sent, without the query. */
  readonly path: string;
  /** The text after the `?`, as sent. Empty if there is none. */
  readonly query: string;
  /** The time when the request arrived, in milliseconds since the epoch. */
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

  /**
   * Returns the same request with the method and the header fields that it means: a browser sends every form with POST,
   * and without `If-Match`.
   */
  meaning(method: string, rawHeaders: readonly string[]): Call {
    const { now } = this;
    const call = new Call(alike(this.arrival, { method, rawHeaders }), { ...this.#context, now: () => now });
    call.#client = this.client;
    call.#requestId = this.requestId;
    return call;
  }

  /** Returns the query as sent, without one parameter. A signature in that parameter is computed over this text. */
  queryWithout(name: string): string {
    return withoutParameters(this.query, (each) => each === name);
  }

  /** Returns the first value of a header field. `name` is in lower case. */
  header(name: string): string | undefined {
    const raw = this.arrival.rawHeaders;
    for (let at = 0; at < raw.length; at += 2) {
      const field = raw[at]!;
      if (field.length === name.length && (field === name || field.toLowerCase() === name)) return raw[at + 1]!;
    }
    return undefined;
  }

  /** Returns a header field that is a list, with its lines joined (RFC 9110 §5.3). `name` is in lower case. */
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

  /** Returns every value of a header field, in order. `name` is in lower case. */
  headers(name: string): string[] {
    const raw = this.arrival.rawHeaders;
    const values: string[] = [];
    for (let at = 0; at < raw.length; at += 2) {
      if (raw[at]!.toLowerCase() === name) values.push(raw[at + 1]!);
    }
    return values;
  }

  /**
   * Returns the value of a cookie. Returns undefined if it was not sent. Returns null if it was sent twice with
   * different values, because such a cookie proves nothing.
   */
  cookie(name: string): string | null | undefined {
    this.#cookies ??= readCookies(this);
    return this.#cookies.get(name);
  }

  /**
   * Returns the octets of the body as they arrived, for a scheme with `readsBody`. Returns an empty array if the
   * endpoint reads no body. Check everything else first: otherwise a caller who knows only the name of a key can make
   * the service read a body. Ends the request with 413 or 503 if the body exceeds the limits of the service.
   */
  async octets(): Promise<Uint8Array> {
    if (this.#readBody !== null) return this.#readBody();
    throw new TypeError(
      "No scheme declares that it reads the body. Add readsBody: true to the scheme that calls octets().",
    );
  }

  /** Sets the function that reads the body for `octets`. */
  letRead(readBody: () => Eventually<Uint8Array>): void {
    this.#readBody = readBody;
  }

  /** Records the name of the code whose promise the request waits for, until the promise is settled. */
  awaiting<T>(whose: string | (() => string), result: Eventually<T>): Eventually<T> {
    if (!(result instanceof Promise)) return result;
    this.#awaits = whose;
    return result.then(
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

  /** Returns the name of the code whose promise the request waits for. Returns null if there is none. */
  get awaits(): string | null {
    return typeof this.#awaits === "function" ? this.#awaits() : this.#awaits;
  }

  /** Returns the realm of the challenges (RFC 9110 §11.5). */
  get realm(): string {
    return this.#context.about.name;
  }

  /** Returns the public facts about the service. */
  get about(): About {
    return this.#context.about;
  }

  /** Returns the client that sent the request. */
  get client(): Client {
    return (this.#client ??= this.#context.readClient(this));
  }

  /** Returns the caller's `X-Request-Id` if it is valid. Otherwise returns a new id. */
  get requestId(): string {
    if (this.#requestId !== null) return this.#requestId;
    const sent = this.header("x-request-id");
    this.#requestId = sent !== undefined && isSaneRequestId(sent) ? sent : this.#context.makeRequestId();
    return this.#requestId;
  }

  /** Replaces the caller's request id with a new one and returns it. From now on the log uses it too. */
  requireOwnRequestId(): string {
    if (this.#requestId === null || this.#requestId === this.header("x-request-id"))
      this.#requestId = this.#context.makeRequestId();
    return this.#requestId;
  }

  /**
   * Returns the position of the request in a trace, and the header fields for your own requests. Returns null if the
   * caller sends no valid trace.
   */
  get trace(): TraceContext | null {
    if (this.#trace !== undefined) return this.#trace;
    const sent = this.list("traceparent");
    return (this.#trace = sent === undefined ? null : parseTraceContext(sent, this.list("tracestate")));
  }
}

/** Returns false for a text that looks like a token, because the log shows the id. */
function isSaneRequestId(text: string): boolean {
  return text.length <= 128 && /^[A-Za-z0-9._:/+=@-]+$/.test(text) && !opaqueTokenPattern.test(text);
}

function readCookies(call: Call): ReadonlyMap<string, string | null> {
  const cookies = new Map<string, string | null>();
  for (const header of call.headers("cookie")) {
    for (const pair of header.split(";")) {
      const equals = pair.indexOf("=");
      if (equals < 1) continue;
      // `trim` would also remove U+00A0. A neighboring host can set a cookie named U+00A0 and `__Host-session`, and
      // browsers accept it.
      const name = trimOWS(pair.slice(0, equals));
      const value = trimOWS(pair.slice(equals + 1));
      const earlier = cookies.get(name);
      cookies.set(name, earlier === undefined || earlier === value ? value : null);
    }
  }
  return cookies;
}

/** The body of a response. */
export type Body =
  /**
   * Data that is written in the format that the caller prefers. `element` is the name of the data's element in XML.
   * `items` is the name of each item of a list.
   */
  | (FormatFacts & { readonly kind: "data"; readonly value: unknown })
  /** Data that is already JSON text, straight from the database. */
  | (FormatFacts & { readonly kind: "json"; readonly json: string })
  /** Bytes with their own media type: a page, a key set, metrics. */
  | { readonly kind: "raw"; readonly type: string; readonly content: string | Uint8Array };

/** The facts that a format needs in addition to the data. */
interface FormatFacts {
  readonly element: string;
  readonly items?: string;
  /** The members of a record that may contain any JSON value. XML contains them as JSON text. */
  readonly jsonMembers?: readonly string[];
  /** Other records that are embedded in each record, by the name of the member. */
  readonly related?: Readonly<Record<string, Related>>;
}

/** One or several records that are embedded in another record. */
export interface Related {
  /** The name of each item, if it is a list. */
  readonly items?: string;
  readonly jsonMembers: readonly string[];
  readonly related: Readonly<Record<string, Related>>;
}

/**
 * Which caches may store a response. `public`: any cache. `private`: the caller's cache, which must revalidate.
 * `no-store`: none.
 */
export type Cacheability = "public" | "private" | "no-store";

/** One response, before a format has written it. */
export interface Reply {
  readonly status: number;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: Body;
  /** Opaque tag of the state that is shown. Each format makes a separate ETag from it. */
  readonly tag?: string | null;
  /** Default: `private`. */
  readonly cache?: Cacheability;
  /** The header fields of the request, in addition to `Accept` and the credentials, that the response depends on. */
  readonly vary?: string;
  /** The time for which a `public` response is fresh. Default: caches revalidate it every time. */
  readonly maxAgeSeconds?: number;
  /** The Content-Security-Policy of a page. Default: the response may run and load nothing. */
  readonly contentSecurityPolicy?: string;
}
