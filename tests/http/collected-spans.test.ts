import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { test } from "node:test";
import { startService } from "../harness/service-process.ts";

test("sends the spans of active requests before the process stops", async (t) => {
  const collected: string[] = [];
  const collector = createServer((sent, answer) => {
    let body = "";
    sent.on("data", (chunk) => (body += String(chunk)));
    sent.on("end", () => {
      collected.push(...(JSON.parse(body) as string[]));
      answer.end();
    });
  }).listen(0, "127.0.0.1");
  await once(collector, "listening");
  t.after(() => collector.close());
  await using service = await startService({
    NODE_OPTIONS: `--import=${path.join(import.meta.dirname, "../harness/span-sender.ts")}`,
    COLLECTOR: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
  });
  const body = JSON.stringify({ username: "admin", password: service.password });
  const login = request(`${service.address}/api/token/`, {
    method: "POST",
    headers: { "content-type": "application/json", "content-length": body.length, expect: "100-continue" },
  });

  await once(login, "continue");
  process.kill(service.pid, "SIGTERM");
  const [answer] = (await once(login.end(body), "response")) as [IncomingMessage];

  assert.equal(answer.resume().statusCode, 200);
  assert.equal(await service.ended, 0);
  assert.deepEqual(collected, ["POST /api/token/"]);
});
