import assert from "node:assert/strict";
import { test } from "node:test";
import { command } from "../harness/command.ts";
import { basicHeader } from "../harness/serve.ts";
import { startService } from "../harness/service-process.ts";

// With these flags, Node also sends messages to the threads of the service. The threads must ignore them.
const nothing = "data:text/javascript,0";

for (const [title, flags] of [
  ["--watch", ["--watch"]],
  ["--import", ["--import", nothing]],
  ["--inspect", ["--inspect=127.0.0.1:0"]],
] as const) {
  test(`runs the service with node ${title}, also for long reads and writes`, async () => {
    await using service = await startService({}, [process.execPath, ...flags, command]);
    const headers = { ...basicHeader("admin", service.password), "content-type": "application/json" };

    const made = await fetch(`${service.address}/users`, {
      method: "POST",
      headers,
      body: JSON.stringify({ name: "Made", email: "made@example.com" }),
    });
    const counted = await fetch(`${service.address}/users`, { headers: { ...headers, prefer: "count=exact" } });

    assert.equal(made.status, 201);
    assert.equal(counted.headers.get("x-total-count"), "2");
  });
}
