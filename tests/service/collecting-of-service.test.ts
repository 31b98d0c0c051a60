import assert from "node:assert/strict";
import { test } from "node:test";
import { command } from "../harness/command.ts";
import { startService } from "../harness/service-process.ts";

// V8 may decide from one early collection that the objects of a line of code live long. It then makes all of them as old objects. If one of
// them refers to a request, no quick collection frees this request, and the process answers a third fewer requests per CPU second.
test("makes no object of a request as an old one", async () => {
  // V8 writes each such decision to the output. Small young generations make it decide often.
  const flags = ["--trace-pretenuring-statistics", "--max-semi-space-size=1"];
  await using service = await startService({}, [process.execPath, ...flags, command]);
  const before = service.said();
  const client = async (): Promise<void> => {
    for (let request = 0; request < 20; request++) assert.equal((await fetch(`${service.address}/livez`)).status, 200);
  };

  await Promise.all(Array.from({ length: 128 }, client));

  assert.doesNotMatch(service.said().slice(before.length), /pretenuring:/);
});
