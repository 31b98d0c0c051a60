import assert from "node:assert/strict";
import { test } from "node:test";
import { command } from "../harness/command.ts";
import { startService } from "../harness/service-process.ts";

// After an early garbage collection, V8 may decide to create all objects of a line of code as long-lived objects. If
// such an object refers to a request, only a full collection frees the request, and requests need more processor time.
test("lets V8 create no object of a request as a long-lived object", async () => {
  // V8 writes each decision to the output. A small young generation causes many collections, and so many decisions.
  const flags = ["--trace-pretenuring-statistics", "--max-semi-space-size=1"];
  await using service = await startService({}, [process.execPath, ...flags, command]);
  const before = service.said();
  const client = async (): Promise<void> => {
    for (let request = 0; request < 20; request++) assert.equal((await fetch(`${service.address}/livez`)).status, 200);
  };

  await Promise.all(Array.from({ length: 128 }, client));

  assert.doesNotMatch(service.said().slice(before.length), /pretenuring:/);
});
