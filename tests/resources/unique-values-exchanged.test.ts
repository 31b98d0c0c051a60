import assert from "node:assert/strict";
import { anyone, defineResource, mount, text } from "../../src/door/index.ts";
import { onBoth } from "../harness/existing.ts";

const page = defineResource({ name: "page", fields: { slug: text({ unique: true }) } });

onBoth(
  "refuses an array whose records swap unique values, and accepts the swap in two requests",
  "SELECT 1",
  async (made) => {
    const { ask, get } = await made.serve(mount(page, { permission: anyone, arrays: true }));
    const slugs = async (): Promise<string[]> => (await get("/pages")).json.map(({ slug }: { slug: string }) => slug);
    await ask("POST", "/pages", { body: [{ slug: "a" }, { slug: "b" }] });
    const exchanged = [
      { id: 1, slug: "b" },
      { id: 2, slug: "a" },
    ];

    const refused = await ask("PATCH", "/pages", { body: exchanged });

    assert.deepEqual([refused.status, refused.json.errors[0].pointer], [409, "/0/slug"]);
    assert.deepEqual(await slugs(), ["a", "b"]);
    assert.equal((await ask("PATCH", "/pages/2", { body: { slug: "c" } })).status, 200);
    assert.equal((await ask("PATCH", "/pages", { body: exchanged })).status, 200);
    assert.deepEqual(await slugs(), ["b", "a"]);
  },
);
