import assert from "node:assert/strict";
import test from "node:test";
import { hostileRequests } from "../harness/hostile-headers.ts";
import { serve } from "../harness/serve.ts";

const mostMilliseconds = 10;

test("answers a request with any header of 15 KiB within 10 ms", async (t) => {
  const { service } = await serve(t, { settings: { LATCHKEY_TRUSTED_PROXIES: "127.0.0.1" } });
  const slow: string[] = [];

  for (const { title, make } of hostileRequests()) {
    const milliseconds = await measure(make);
    if (milliseconds > mostMilliseconds) slow.push(`${title}: ${milliseconds.toFixed(0)} ms`);
  }

  assert.deepEqual(slow, []);

  /** Returns the shortest CPU time of this thread in up to three attempts. */
  async function measure(make: () => Request): Promise<number> {
    let least = Infinity;
    for (let attempt = 0; attempt < 3 && least > mostMilliseconds; attempt++) {
      const request = make();
      const before = process.threadCpuUsage();
      await service.fetch(request, { peer: "127.0.0.1" });
      const { user, system } = process.threadCpuUsage(before);
      least = Math.min(least, (user + system) / 1000);
    }
    return least;
  }
});
