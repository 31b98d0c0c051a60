import { AssertionError } from "node:assert";
import { isObject, isText, shown } from "../../core/checking/members.ts";
import type { RecordOf, Resource } from "../../resource/resource.ts";

/** Header fields of a request, by their names in any case. */
export type AskedHeaders = Readonly<Record<string, string>>;

/** The optional parts of a request. */
export interface Ask {
  /** The body. A text or bytes are sent unchanged. Any other value is sent as JSON. */
  readonly body?: unknown;
  readonly headers?: AskedHeaders;
}

/** A caller of the service: anonymous, or a user. */
export interface Asker {
  /** Sends a request of any method. A path starts with a slash and may have a query. */
  ask(method: string, path: string, ask?: Ask): Promise<TestReply>;
  get(path: string, headers?: AskedHeaders): Promise<TestReply>;
  post(path: string, body?: unknown, headers?: AskedHeaders): Promise<TestReply>;
  put(path: string, body?: unknown, headers?: AskedHeaders): Promise<TestReply>;
  patch(path: string, body?: unknown, headers?: AskedHeaders): Promise<TestReply>;
  delete(path: string, headers?: AskedHeaders): Promise<TestReply>;
}

/** The response of the service. */
export interface TestReply {
  /** The request, for messages: `GET /books/1`. */
  readonly asked: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON. Undefined if it is not JSON. */
  readonly json: unknown;
  /**
   * Returns the record in the body. Throws an AssertionError if the request did not succeed, or if the body is not a
   * record.
   */
  record<R extends Resource>(resource: R): RecordOf<R>;
  /** Returns the records of a list. Throws an AssertionError as `record` does. */
  records<R extends Resource>(resource: R): readonly RecordOf<R>[];
}

/** Sends a request to the service. */
export type RequestSender = (request: Request) => Promise<Response>;

/** Makes a caller. `always` returns header fields that the caller adds to those of each request. */
export function makeAsker(send: RequestSender, always: () => AskedHeaders): Asker {
  async function ask(method: string, path: string, { body, headers = {} }: Ask = {}): Promise<TestReply> {
    if (!path.startsWith("/")) throw new TypeError(`${method} ${path}: a path begins with a slash: /${path}`);
    for (const [name, value] of Object.entries<unknown>(headers))
      if (!isText(value))
        throw new TypeError(
          `${method} ${path}: the header field ${name} is ${shown(value)}, not a text. Write fields by name, like { accept: "text/html" }.`,
        );
    const all = new Headers({ ...always(), ...headers });
    const asItIs = typeof body === "string" || body instanceof Uint8Array;
    if (body !== undefined && !all.has("content-type")) all.set("content-type", "application/json");
    const sent = body === undefined ? {} : { body: asItIs ? (body as string) : JSON.stringify(body) };
    const response = await send(new Request(`http://localhost${path}`, { method, headers: all, ...sent }));
    return readReply(`${method} ${path}`, response);
  }
  return {
    ask,
    get: (path, headers = {}) => ask("GET", path, { headers }),
    post: (path, body, headers = {}) => ask("POST", path, { body, headers }),
    put: (path, body, headers = {}) => ask("PUT", path, { body, headers }),
    patch: (path, body, headers = {}) => ask("PATCH", path, { body, headers }),
    delete: (path, headers = {}) => ask("DELETE", path, { headers }),
  };
}

async function readReply(requestLine: string, response: Response): Promise<TestReply> {
  const text = await response.text();
  const json = parse(text);
  const { status, headers } = response;
  const shown = { asked: requestLine, status, text };
  return {
    asked: requestLine,
    status,
    headers,
    text,
    json,
    record: (resource) => readRecord(resource, json, shown),
    records(resource) {
      if (!Array.isArray(json)) throw unexpected(shown, `a list of ${resource.plural}`);
      return json.map((each: unknown) => readRecord(resource, each, shown));
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type ReplyExcerpt = Pick<TestReply, "asked" | "status" | "text">;

function readRecord<R extends Resource>(resource: R, value: unknown, shown: ReplyExcerpt): RecordOf<R> {
  const isRecord = shown.status < 300 && isObject(value) && "id" in value;
  if (!isRecord) throw unexpected(shown, `a ${resource.name}`);
  return value as RecordOf<R>;
}

/** Returns an error for a test that expected another response. Its message shows the actual response. */
export function unexpected({ asked: requestLine, status, text }: ReplyExcerpt, expected: string): AssertionError {
  const instead = text === "" ? "without a body" : text.slice(0, 1000);
  return new AssertionError({
    message: `${requestLine}: ${expected} was expected, but the answer is ${status} ${instead}`,
    actual: status,
    expected,
  });
}
