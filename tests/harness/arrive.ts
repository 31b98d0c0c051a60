import type { Answered, API } from "./serve.ts";

/** The properties of a connection, set by the test: the peer, TLS, and duplicate header fields. */
export interface Arriving {
  readonly method?: string;
  readonly peer?: string;
  readonly encrypted?: boolean;
  /** In the order and spelling of arrival. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: unknown;
}

export interface Arrived {
  readonly status: number;
  /** Returns every value of a header field of the response, in order. */
  header(name: string): string[];
  readonly json: Answered["json"];
}

/** Sends a request without a binding, so that a test controls the connection. */
export async function arrive(
  { service }: API,
  target: string,
  { method = "GET", peer = "127.0.0.1", encrypted = false, headers = [], body }: Arriving = {},
): Promise<Arrived> {
  const content = Buffer.from(body === undefined ? "" : JSON.stringify(body));
  const isTyped = headers.some(([name]) => name === "Content-Type");
  const rawHeaders = [
    ["Host", "api.example"],
    ...(body === undefined || isTyped ? [] : [["Content-Type", "application/json"]]),
    ...headers,
  ].flat();
  const answer = await service.respond({ method, target, rawHeaders, peer, encrypted, readBody: async () => content });
  const pairs = answer.headers.flatMap((name, at) =>
    at % 2 === 0 ? [[name.toLowerCase(), answer.headers[at + 1]!] as const] : [],
  );
  const text = answer.content === null ? "" : Buffer.from(answer.content).toString("utf8");
  return {
    status: answer.status,
    header: (name) => pairs.filter(([each]) => each === name).map(([, value]) => value),
    json: text === "" ? undefined : JSON.parse(text),
  };
}
