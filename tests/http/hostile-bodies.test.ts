import assert from "node:assert/strict";
import test from "node:test";
import { notes, sendHostileBodies } from "../harness/notes-of-bodies.ts";
import { serve } from "../harness/serve.ts";

// Nightly on PostgreSQL: bodies are read before the store is.

test("answers any body within the limits without a fault", async (t) => {
  const faults: string[] = [];

  await sendHostileBodies(t, async (name, send) => {
    const status = await send();
    if (status >= 500) faults.push(`${name}: ${status}`);
    return status;
  });

  assert.deepEqual(faults, []);
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
