import assert from "node:assert/strict";
import test from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { anyone, defineResource, email, json, mount, text } from "../../src/door/index.ts";
import { jsonBodies, longArray, patches, xmlBodies } from "../harness/hostile-bodies.ts";
import { serve } from "../harness/serve.ts";
import { slowness } from "../harness/slowness.ts";

// Nightly on PostgreSQL: bodies are read before the store is.

const notes = mount(
  defineResource({
    name: "note",
    fields: {
      title: text({ optional: true, maxLength: 2_000_000 }),
      short: text({ optional: true, pattern: { matches: /^[^:]*$/, detail: "No colon." } }),
      mail: email({ optional: true }),
      meta: json({ optional: true }),
    },
  }),
  { permission: anyone },
);

const mostMilliseconds = 50;

test("blocks other requests for at most 50 ms for any body within the limits", async (t) => {
  const { service, admin, put, post } = await serve(t, { config: { mounts: [notes] } });
  const { id } = (await post("/notes", {}, admin)).json;
  const slow: string[] = [];

  async function send(method: string, type: string, body: string): Promise<number> {
    const path = method === "POST" ? "/notes" : `/notes/${id}`;
    const headers = { ...admin, "content-type": type, accept: type.endsWith("xml") ? type : "application/json" };
    const request = new Request(`http://127.0.0.1:8000${path}`, { method, headers, body });
    return (await service.fetch(request, { peer: "127.0.0.1" })).status;
  }

  async function measure(name: string, method: string, type: string, body: string): Promise<number> {
    let longest = Infinity;
    let status = 0;
    for (let attempt = 0; attempt < 3 && longest > mostMilliseconds; attempt++) {
      const watch = watchTurns();
      status = await send(method, type, body);
      const took = await watch.end();
      longest = Math.min(longest, took > mostMilliseconds ? took / slowness() : took);
    }
    if (status >= 500) slow.push(`${method} ${type} ${name}: ${status}`);
    if (longest > mostMilliseconds) slow.push(`${method} ${type} ${name}: ${longest.toFixed(0)} ms (${status})`);
    return status;
  }

  for (const [type, bodies] of [
    ["application/xml", xmlBodies],
    ["application/json", jsonBodies],
  ] as const)
    for (const [name, body] of Object.entries(bodies)) {
      // The parser refuses a bad body in the same way for every method, so the test sends it with one method only.
      const isTaken = (await measure(name, "POST", type, body)) === 201;
      for (const method of isTaken ? ["PUT", "PATCH"] : []) await measure(name, method, type, body);
    }
  for (const [name, body] of Object.entries(patches)) {
    assert.equal((await put(`/notes/${id}`, longArray, admin)).status, 200);
    await measure(name, "PATCH", "application/json-patch+json", body);
  }

  assert.deepEqual(slow, []);
});

test("limits a json() value to 65,536 characters, also if patches extend the value", async (t) => {
  const { admin, ask, post } = await serve(t, { config: { mounts: [notes] } });
  const { id } = (await post("/notes", { meta: ["x".repeat(30_000)] }, admin)).json;
  const patch = (type: string, body: object) =>
    ask("PATCH", `/notes/${id}`, { headers: { ...admin, "content-type": type }, body });

  const copied = [
    await patch("application/json-patch+json", [{ op: "copy", from: "/meta/0", path: "/meta/-" }]),
    await patch("application/json-patch+json", [{ op: "copy", from: "/meta", path: "/meta/-" }]),
  ];
  await patch("application/json", { meta: { a: "x".repeat(40_000) } });
  const merged = await patch("application/json", { meta: { b: "x".repeat(40_000) } });

  assert.deepEqual(
    [...copied, merged].map(({ status }) => status),
    [200, 400, 400],
  );
  assert.deepEqual(merged.json.errors, [
    { pointer: "/meta", code: "too_long", detail: "As JSON it is longer than 65536 characters." },
  ]);
});

/** Measures the longest CPU time of this thread between two turns of the event loop. */
function watchTurns(): { end(): Promise<number> } {
  let longest = 0;
  let running = true;
  const done = (async () => {
    while (running) {
      const before = process.threadCpuUsage();
      await turn();
      const { user, system } = process.threadCpuUsage(before);
      longest = Math.max(longest, (user + system) / 1000);
    }
  })();
  return {
    async end() {
      running = false;
      await done;
      return longest;
    },
  };
}
