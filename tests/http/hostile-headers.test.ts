import assert from "node:assert/strict";
import test from "node:test";
import { hostileTexts } from "../harness/hostile-text.ts";
import { serve } from "../harness/serve.ts";

const names = [
  "accept",
  "accept-encoding",
  "authorization",
  "content-type",
  "cookie",
  "forwarded",
  "idempotency-key",
  "if-match",
  "if-none-match",
  "origin",
  "prefer",
  "traceparent",
  "tracestate",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-request-id",
];
const goodTrace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const length = 15 * 1024;
const mostMilliseconds = 10;

test("answers a request with any header of 15 KiB within 10 ms and without a fault", async (t) => {
  const { service } = await serve(t, { settings: { LATCHKEY_TRUSTED_PROXIES: "127.0.0.1" } });
  const texts = hostileTexts().filter((_, at) => at % 10 === 0);
  const wrong: string[] = [];

  for (const name of names)
    for (const hostile of texts) {
      const value = hostile(length);
      if (!isHeaderValue(value)) continue;
      const { status, milliseconds } = await ask(name, value);
      if (status >= 500 || milliseconds > mostMilliseconds)
        wrong.push(`${name}: ${value.slice(0, 20)}: ${status}, ${milliseconds.toFixed(0)} ms`);
    }

  assert.deepEqual(wrong, []);

  /** Returns the status, and the shortest CPU time of this thread in up to three attempts. */
  async function ask(name: string, value: string): Promise<{ status: number; milliseconds: number }> {
    let milliseconds = Infinity;
    let status = 0;
    for (let attempt = 0; attempt < 3 && milliseconds > mostMilliseconds; attempt++) {
      const headers = { "content-type": "application/json", traceparent: goodTrace, [name]: value };
      const request = new Request("http://127.0.0.1:8000/users", { method: "POST", headers, body: "{}" });
      const before = process.threadCpuUsage();
      status = (await service.fetch(request, { peer: "127.0.0.1" })).status;
      const { user, system } = process.threadCpuUsage(before);
      milliseconds = Math.min(milliseconds, (user + system) / 1000);
    }
    return { status, milliseconds };
  }
});

function isHeaderValue(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text) && text.trim() !== "";
}
