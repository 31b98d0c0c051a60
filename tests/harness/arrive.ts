import type { Answered, API } from "./serve.ts";

/** What a socket would hand over, said by the test: the peer, TLS, and header fields that come twice. */
export interface Arriving {
  readonly method?: string;
  readonly peer?: string;
  readonly encrypted?: boolean;
  /** In the order and spelling in which they arrive. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: unknown;
}

export interface Arrived {
  readonly status: number;
  /** Every value of a header of the answer, in order. */
  header(name: string): string[];
  readonly json: Answered["json"];
}

/** Asks past every binding, so that a test says what the connection was. */
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
