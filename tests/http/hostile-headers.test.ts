import assert from "node:assert/strict";
import test from "node:test";
import { hostileRequests } from "../harness/hostile-headers.ts";
import { serve } from "../harness/serve.ts";

// Nightly on PostgreSQL: requests are read and refused before the store is.

test("answers a request with any header of 15 KiB without a fault", async (t) => {
  const { service } = await serve(t, { settings: { LATCHKEY_TRUSTED_PROXIES: "127.0.0.1" } });
  const wrong: string[] = [];

  for (const { title, make } of hostileRequests()) {
    const { status } = await service.fetch(make(), { peer: "127.0.0.1" });
    if (status >= 500) wrong.push(`${title}: ${status}`);
  }

  assert.deepEqual(wrong, []);
});
