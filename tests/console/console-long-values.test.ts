import assert from "node:assert/strict";
import { test } from "node:test";
import { anyone, defineResource, json, mount, text } from "../../src/door/index.ts";
import { serve } from "../harness/serve.ts";

// Nightly on PostgreSQL: these pages show what the API answers, whose tests run on both databases.

const notes = defineResource({
  name: "note",
  fields: {
    title: text({ maxLength: 1_000_000, optional: true }),
    meta: json({ optional: true, maxLength: 1_000_000 }),
  },
});
const asPage = { accept: "text/html" };
const most = 256 * 1024;

test("shows the beginning of a long value, and leaves it out of the form", async (t) => {
  const api = await serve(t, { config: { mounts: [mount(notes, { permission: anyone })] } });
  const long = "<&>".repeat(100_000);
  const sent = { title: long, meta: Array.from({ length: 200_000 }, () => "") };
  const made = await api.post("/notes", sent, asPage);
  const path = made.headers.get("location")!;

  for (const page of [made, await api.get(path, asPage), await api.get("/notes", asPage)]) {
    assert.ok(page.text.length < most, `${page.text.length}`);
    assert.match(page.text, /(?:&lt;&amp;&gt;){100}(?:&[a-z;&]*)?…/);
  }
  // A list has no columns for long values.
  for (const page of [made, await api.get(path, asPage)])
    assert.match(page.text, /(?:&quot;&quot;,){100}(?:&[a-z;&]*)?…/);
  const page = await api.get(`${path}?form=edit`, asPage);
  assert.equal(page.text.match(/too long to be changed on a page/g)?.length, 2);

  const wrong = await api.patch(path, { ...sent, other: 1 }, asPage);
  assert.deepEqual([wrong.status, wrong.text.length < most], [400, true]);
  assert.doesNotMatch(wrong.text, /Send again/);
  const late = await api.patch(path, sent, { ...asPage, "if-match": '"99"' });
  assert.deepEqual([late.status, late.text.length < most], [412, true]);
  assert.equal((await api.get(path)).json.title, long);
});
