import assert from "node:assert/strict";
import { test } from "node:test";
import { anyone, defineResource, json, mount, text } from "../../src/door/index.ts";
import { json as format } from "../../src/http/formats/json.ts";
import { xml } from "../../src/http/formats/xml.ts";
import { LARGE_BYTES } from "../../src/http/scheduling/slices.ts";
import { ownService } from "../harness/own-service.ts";
import { sharedDatabase } from "../harness/test-store.ts";

test("changes other fields of a record whose json() value is longer than the current limit", async (t) => {
  const database = await sharedDatabase(t);
  const notes = (maxLength?: number) => {
    const meta = maxLength === undefined ? json({ optional: true }) : json({ optional: true, maxLength });
    const fields = { title: text(), meta };
    return [mount(defineResource({ name: "note", fields }), { permission: anyone })];
  };
  const long = [{ text: "x".repeat(100_000) }];
  const before = await ownService(t, { store: database.open(), mounts: notes(200_000) });
  assert.equal((await before.ask("POST", "/notes", { body: { title: "a", meta: long } })).status, 201);
  await before.service.close();
  const { ask } = await ownService(t, { store: database.open(), mounts: notes() });
  const patch = (type: string, body: object) =>
    ask("PATCH", "/notes/1", { body, headers: { "content-type": `application/${type}` } });

  const merged = await patch("merge-patch+json", { title: "b" });
  const patched = await patch("json-patch+json", [{ op: "replace", path: "/title", value: "c" }]);
  const longer = await patch("json-patch+json", [{ op: "add", path: "/meta/-", value: 1 }]);
  const whole = await ask("PUT", "/notes/1", { body: { title: "d", meta: long } });
  const shorter = await patch("merge-patch+json", { meta: [1] });

  assert.deepEqual([merged.status, merged.json.title, merged.json.meta], [200, "b", long]);
  assert.deepEqual([patched.status, patched.json.title, patched.json.meta], [200, "c", long]);
  assert.deepEqual(
    [longer, whole].map((each) => [each.status, each.json.errors[0].code]),
    [
      [400, "too_long"],
      [400, "too_long"],
    ],
  );
  assert.deepEqual([shorter.status, shorter.json.meta], [200, [1]]);
});

test("reads bodies of up to `LARGE_BYTES` synchronously, so that waiting bodies keep their order", async () => {
  const fill = (before: string, unit: string, after: string) =>
    Buffer.from(before + unit.repeat((LARGE_BYTES - before.length - after.length) / unit.length) + after);

  const read = [
    format.read(fill("[", "1,", "1]")),
    xml.read(fill("<a><l>", "<i/>", "</l></a>")),
    xml.read(fill("<a>", "&amp;", "</a>")),
  ];

  assert.deepEqual(
    read.map((each) => each instanceof Promise),
    [false, false, false],
  );
});
