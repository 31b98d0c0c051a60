import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { anyone, defineResource, email, json, mount, text } from "../../src/door/index.ts";
import { jsonBodies, longArray, patches, xmlBodies } from "./hostile-bodies.ts";
import { serve } from "./serve.ts";

/** A resource that takes long bodies. */
export const notes = mount(
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

/** Sends one body and returns the status of the answer. May send it several times. */
export type SendBody = (name: string, send: () => Promise<number>) => Promise<number>;

/** Sends each hostile body to a service with notes, with each method that reads it in another way. */
export async function sendHostileBodies(t: TestContext, sendBody: SendBody): Promise<void> {
  const { service, admin, put, post } = await serve(t, { config: { mounts: [notes] } });
  const { id } = (await post("/notes", {}, admin)).json;

  async function send(method: string, type: string, body: string): Promise<number> {
    const path = method === "POST" ? "/notes" : `/notes/${id}`;
    const headers = { ...admin, "content-type": type, accept: type.endsWith("xml") ? type : "application/json" };
    const request = new Request(`http://127.0.0.1:8000${path}`, { method, headers, body });
    return (await service.fetch(request, { peer: "127.0.0.1" })).status;
  }
  const named = (name: string, method: string, type: string, body: string): Promise<number> =>
    sendBody(`${method} ${type} ${name}`, () => send(method, type, body));

  for (const [type, bodies] of [
    ["application/xml", xmlBodies],
    ["application/json", jsonBodies],
  ] as const)
    for (const [name, body] of Object.entries(bodies)) {
      // The parser refuses a bad body in the same way for every method, so the test sends it with one method only.
      const isTaken = (await named(name, "POST", type, body)) === 201;
      for (const method of isTaken ? ["PUT", "PATCH"] : []) await named(name, method, type, body);
    }
  for (const [name, body] of Object.entries(patches)) {
    assert.equal((await put(`/notes/${id}`, longArray, admin)).status, 200);
    await named(name, "PATCH", "application/json-patch+json", body);
  }
}
