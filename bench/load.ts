/**
 * Sends the same request again and again, on raw sockets that are kept alive, one request at a time on each. A JSON
 * argument configures this process. Prints its results as JSON.
 */
import { connect, type Socket } from "node:net";
import { createHistogram } from "node:perf_hooks";
import type { Load, LoadResult } from "./round.ts";

const {
  address,
  request,
  status,
  seconds,
  connections,
  sleeps = false,
} = JSON.parse(process.argv[2] ?? "") as Load & {
  readonly address: string;
  readonly seconds: number;
};
const { hostname, port, host } = new URL(address);
const fields = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}\r\n`);
const head = `${request.method ?? "GET"} ${request.path} HTTP/1.1\r\nhost: ${host}\r\n${fields.join("")}`;
const fixed = request.body === undefined && !request.path.includes("{n}") ? Buffer.from(`${head}\r\n`) : null;
const firstNumber = Date.now() * 1000;
let count = 0;
const expected = `HTTP/1.1 ${status} `;
const end = performance.now() + seconds * 1000;
const latencies = createHistogram();

// Stays awake unless `sleeps` is true. The kernel would charge the wake-up of a sleeping client to the server, and a
// slower server would pay for more of them.
let finished = sleeps;
(function stayAwake(): void {
  if (!finished) setImmediate(stayAwake);
})();

await Promise.all(Array.from({ length: connections }, ask));
finished = true;

const result: LoadResult = {
  requests: latencies.count,
  p50Ms: latencies.percentile(50) / 1e6,
  p99Ms: latencies.percentile(99) / 1e6,
};
console.log(JSON.stringify(result));

/** Returns a request with a unique number in its path and body. */
function numbered(): string {
  const number = String(firstNumber + count++);
  const ownHead = head.replace("{n}", number);
  if (request.body === undefined) return `${ownHead}\r\n`;
  const body = request.body.replace("{n}", number);
  return `${ownHead}content-length: ${body.length}\r\n\r\n${body}`;
}

/** Keeps one connection busy until the time is over. */
function ask(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(Number(port), hostname).setNoDelay(true).setEncoding("latin1");
    let received = "";
    let sentAt = 0;
    const send = (): void => {
      received = "";
      sentAt = performance.now();
      socket.write(fixed ?? numbered());
    };
    socket.on("connect", send);
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("The server closed the connection.")));
    socket.on("data", (chunk: string) => {
      received += chunk;
      if (!isComplete(received)) return;
      if (!received.startsWith(expected)) reject(new Error(`Another answer than ${status}:\n${received}`));
      const now = performance.now();
      latencies.record(Math.max(1, Math.round((now - sentAt) * 1e6)));
      if (now < end) return send();
      resolve();
      socket.destroy();
    });
  });
}

function isComplete(text: string): boolean {
  const headersEnd = text.indexOf("\r\n\r\n");
  if (headersEnd === -1) return false;
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, headersEnd));
  if (length === null) throw new Error(`An answer without Content-Length:\n${text.slice(0, headersEnd)}`);
  return text.length >= headersEnd + 4 + Number(length[1]);
}
