import { once } from "node:events";
import { request as requestInClear, type Agent, type IncomingMessage } from "node:http";
import { request as requestOverTLS } from "node:https";

export interface Asking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The address that nginx uses as the caller's. */
  readonly from?: string;
  /** The address that the connection comes from. */
  readonly localAddress?: string;
  readonly tls?: boolean;
  /** Keeps connections open. Default: a new connection for each request. */
  readonly agent?: Agent;
}

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read into it and assert what they find
  readonly json: any;
}

/** Sends a request to a proxy on this machine. `ca` is its certificate. */
export async function ask(
  target: string,
  { method = "GET", headers = {}, body, from, localAddress, tls = false, agent }: Asking,
  ports: { readonly clear: number; readonly tls: number },
  ca: string,
): Promise<Answered> {
  const sent = body === undefined ? undefined : JSON.stringify(body);
  const options = {
    host: "127.0.0.1",
    port: tls ? ports.tls : ports.clear,
    method,
    path: target,
    agent: agent ?? (false as const),
    ...(localAddress === undefined ? {} : { localAddress }),
    headers: {
      ...(sent === undefined
        ? {}
        : { "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(sent)) }),
      ...(from === undefined ? {} : { "X-Test-From": from }),
      ...headers,
    },
  };
  const request = tls ? requestOverTLS({ ...options, ca }) : requestInClear(options);
  request.end(sent);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const bytes = Buffer.concat((await response.toArray()) as Buffer[]);
  const text = bytes.toString();
  return { status: response.statusCode!, headers: response.headers, bytes, text, json: parse(text) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
