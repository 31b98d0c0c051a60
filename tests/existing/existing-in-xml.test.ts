import assert from "node:assert/strict";
import { anyone, defineResource, json, mount, text } from "../../src/door/index.ts";
import { onBoth } from "../harness/existing.ts";

const field = text({ multiline: true, trim: false, optional: true });
const note = defineResource({
  name: "note",
  table: "notes",
  writes: ["update"],
  fields: { t: field, u: field, j: json({ optional: true }) },
});

onBoth(
  "a PUT of the XML that was read keeps characters that XML cannot write",
  {
    sqlite: `CREATE TABLE notes (id integer PRIMARY KEY, t text, u text, j text);
      INSERT INTO notes VALUES (1, 'a' || char(1) || 'b' || char(65534), 'x', '{"k":"' || char(65535) || '\\u0002"}');`,
    postgres: `CREATE TABLE notes (id serial PRIMARY KEY, t text, u text, j json);
      INSERT INTO notes (t, u, j) VALUES ('a' || chr(1) || 'b' || chr(65534), 'x', ('{"k":"' || chr(65535) || '\\u0002"}')::json);`,
  },
  async ({ serve }) => {
    const { ask, get } = await serve(mount(note, { permission: anyone }));
    const before = (await get("/notes/1")).json;
    assert.deepEqual([before.t, before.j], ["a\u0001b\ufffe", { k: "\uffff\u0002" }]);
    const xml = (await get("/notes/1", { headers: { accept: "application/xml" } })).text;
    assert.match(xml, /<t>a\ufffdb\ufffd<\/t>/);

    const headers = { "content-type": "application/xml" };
    const put = await ask("PUT", "/notes/1", { body: xml.replace("<u>x</u>", "<u>y</u>"), headers });

    assert.equal(put.status, 200, put.text);
    assert.deepEqual((await get("/notes/1")).json, { ...before, u: "y" });
    const changed = await ask("PUT", "/notes/1", { body: xml.replace("<t>a", "<t>c"), headers });
    assert.deepEqual([changed.status, changed.json.t], [200, "c\ufffdb\ufffd"]);
  },
);
