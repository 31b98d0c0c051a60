// SQLite alone, because `latchkey prove` starts its service on SQLite in memory.
import assert from "node:assert/strict";
import { test } from "node:test";
import { allOf, authenticated, confirmed, defineEndpoint, defineResource, mount, text } from "../../src/door/index.ts";
import { proveConfig } from "../harness/prove-config.ts";

test("finds an endpoint that shows records without the confirmation that their permission requires", async () => {
  const note = defineResource({ name: "note", fields: { body: text({ maxLength: 100 }) } });
  const notes = mount(note, { permission: allOf(authenticated, confirmed({ within: 3600 })) });
  const endpoint = defineEndpoint({
    method: "GET",
    path: "/all-notes",
    access: authenticated,
    async handle({ store }) {
      const rows = await store.list({ collection: notes.collection, where: null, sort: [{ column: "id" }], limit: 9 });
      return { status: 200, body: { kind: "data", value: rows.map(({ record }) => record.body), element: "notes" } };
    },
  });

  const { findings } = await proveConfig({
    without: ["orders", "protected"],
    mounts: [notes],
    endpoints: [endpoint],
  });

  const old = findings.filter(({ actor }) => actor.startsWith("old-login-of-"));
  assert.deepEqual(
    [...new Set(old.map(({ path, field }) => `${path} ${String(field)}`))],
    ["/all-notes body"],
    JSON.stringify(findings.map(({ sentence }) => sentence)),
  );
});
