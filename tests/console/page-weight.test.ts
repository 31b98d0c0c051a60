import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { clubConfig } from "../harness/club.ts";
import { serve } from "../harness/serve.ts";

// Nightly on PostgreSQL: the weight of a page is that of its files.

const page = { accept: "text/html", "sec-fetch-site": "same-origin" };

test("loads at most 12 kB of styles and scripts on pages of data, and 20 kB of 100 rows", async (t) => {
  const api = await serve(t, { config: clubConfig() });
  await api.post("/projects", { name: "Regatta" }, api.admin);
  for (let at = 1; at <= 100; at += 1)
    await api.post("/tasks", { title: `Task ${at} of the club`, project_id: 1, hours: at }, api.admin);

  const sizeOf = (text: string): number => gzipSync(text, { level: 9 }).length;
  for (const path of [
    "/",
    "/tasks",
    "/tasks/1",
    "/tasks?form=new",
    "/tasks/1?form=edit",
    "/tasks/999",
    "/projects/1",
  ]) {
    const { text } = await api.get(path, { ...api.admin, ...page });
    const files = [...text.matchAll(/(?:href|src)="([^"]*\.(?:css|js))"/g)].map(([, file = ""]) => file);
    const sizes = await Promise.all(files.map(async (file) => sizeOf((await api.get(file)).text)));
    assert.ok(sizes.length >= 2, path);
    assert.ok(sizes.reduce((sum, each) => sum + each, 0) <= 12_000, `${path}: ${files.join()} ${sizes.join()}`);
  }
  const hundred = await api.get("/tasks?limit=100", { ...api.admin, ...page });
  assert.equal(hundred.text.match(/<tr>/g)?.length, 101);
  assert.ok(sizeOf(hundred.text) <= 20_000, `${sizeOf(hundred.text)}`);
});
