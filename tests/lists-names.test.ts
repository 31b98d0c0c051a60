import assert from "node:assert/strict";
import { anyone, defineResource, integer, mount, text } from "../src/door/index.ts";
import { onBoth } from "./existing.ts";

// Whatever SQL calls something for itself, and some of its own words.
const names =
  "r t page record ends rows related key json found more total at value old new row select order group user from null default change word c0 folded told".split(
    " ",
  );

onBoth("fields are called as their author likes, whatever SQL calls its own", "SELECT 1", async ({ serve }) => {
  const fields = Object.fromEntries(names.map((name) => [name, text({ maxLength: 50, optional: true })]));
  const each = <V>(value: V) => Object.fromEntries(names.map((name) => [name, value]));
  const thing = defineResource({
    name: "thing",
    fields: { ...fields, last: integer() },
    filters: each(["eq", "icontains"] as const),
    sorts: names as never,
    search: names as never,
    scans: true,
  });
  const part = defineResource({ name: "part", within: thing, fields });
  const parts = mount(part, { permission: anyone });
  const api = await serve(mount(thing, { permission: anyone, expand: { parts } }), parts);
  const first = await api.ask("POST", "/things", { body: { ...each("One of them"), last: 1 } });
  await api.ask("POST", "/things/1/parts", { body: each("Part") });

  for (const name of names) {
    for (const query of [`${name}[eq]=One%20of%20them`, `${name}[icontains]=ONE`, `sort=-${name}`, "search=them"]) {
      const found = await api.get(`/things?${query}`);
      assert.deepEqual([found.status, found.json?.[0]], [200, first.json], `${name}: ${query} ${found.text}`);
    }
  }
  const expanded = await api.get("/things?expand=parts");
  assert.equal(expanded.json[0].parts[0].r, "Part", expanded.text);
  const changed = await api.ask("PATCH", "/things/1", { body: each("Two") });
  assert.deepEqual(changed.json, { ...first.json, ...each("Two") });
});
