/**
 * Reads at a fixed rate: the due time of a request does not depend on the server. If a client still waits for an
 * earlier response at the due time, it sends the request late, but the latency counts from the due time (no coordinated
 * omission). If only the timer of this process is late, the latency counts from the time of sending. Rate 0: each
 * client sends a request when it gets its response. A JSON argument configures this process, and it prints its results
 * as JSON.
 */
import { connect } from "node:net";
import { createHistogram } from "node:perf_hooks";
import type { LoadResult } from "./round.ts";

/** The requests and their rate. */
export interface Reads {
  readonly address: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly clients: number;
  /** For all clients together, per second. 0: each client sends a request when it gets its response. */
  readonly perSecond: number;
  readonly seconds: number;
}

const { address, path, headers, clients, perSecond, seconds } = JSON.parse(process.argv[2] ?? "") as Reads;
const { hostname, port, host } = new URL(address);
const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
const request = Buffer.from(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\n${fields.join("")}\r\n`);
const everyMs = perSecond === 0 ? 0 : (1000 * clients) / perSecond;
const start = performance.now() + 50;
const end = start + seconds * 1000;
/**
 * Requests before this time do not count. V8 compiles the code of this process in them, and that delay is not the
 * server's.
 */
const warmAt = start + 300;
const latencies = createHistogram();

await Promise.all(Array.from({ length: clients }, (_, at) => ask(start + (at * everyMs) / clients)));
const result: LoadResult = {
  requests: latencies.count,
  p50Ms: latencies.percentile(50) / 1e6,
  p99Ms: latencies.percentile(99) / 1e6,
};
console.log(JSON.stringify(result));

function ask(firstDue: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname).setNoDelay(true).setEncoding("latin1");
    let due = firstDue;
    let since = 0;
    let received = "";
    const send = (from: number): void => {
      since = from;
      received = "";
      socket.write(request);
    };
    const next = (): void => {
      const now = performance.now();
      due = everyMs === 0 ? now : due + everyMs;
      if (Math.max(now, due) >= end) {
        resolve();
        socket.destroy();
      } else if (due <= now) send(due);
      else setTimeout(() => send(performance.now()), due - now);
    };
    socket.on("connect", () => setTimeout(() => send(performance.now()), due - performance.now()));
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("The server closed the connection.")));
    socket.on("data", (chunk: string) => {
      received += chunk;
      if (!received.endsWith("}")) return;
      if (!received.startsWith("HTTP/1.1 200 ")) reject(new Error(`Another answer than 200:\n${received}`));
      if (since >= warmAt) latencies.record(Math.max(1, Math.round((performance.now() - since) * 1e6)));
      next();
    });
  });
}
