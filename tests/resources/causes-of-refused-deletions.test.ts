import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { anyone, defineResource, mount, reference, text } from "../../src/door/index.ts";
import { references } from "../../src/door/resources.ts";
import { ownService } from "../harness/own-service.ts";

const node = defineResource({
  name: "node",
  fields: { parent_id: reference("nodes", { optional: true, onDelete: "cascade" }) },
});
const leaf = defineResource({
  name: "leaf",
  plural: "leaves",
  fields: { node_id: reference("nodes", { onDelete: "cascade" }), name: text({ optional: true }) },
});
const pin = defineResource({
  name: "pin",
  fields: { node_id: reference(node, { optional: true }), leaf_id: reference("leaves", { optional: true }) },
});
const bag = defineResource({
  name: "bag",
  fields: { nodes: references("nodes", { default: [], onDelete: "remove" }) },
});

async function start(t: TestContext, levels: number) {
  const api = await ownService(t, {
    mounts: [node, leaf, pin, bag].map((each) => mount(each, { permission: anyone })),
  });
  for (let at = 1; at <= levels; at++)
    assert.equal((await api.ask("POST", "/nodes", { body: { parent_id: at === 1 ? null : at - 1 } })).status, 201);
  return api;
}

for (const levels of [1, 2, 3, 6])
  test(`names what refers to a record ${levels} levels below the deleted one`, async (t) => {
    const api = await start(t, levels);
    await api.ask("POST", "/leaves", { body: { node_id: levels } });

    for (const body of [{ node_id: levels }, { leaf_id: 1 }]) {
      const made = await api.ask("POST", "/pins", { body });
      const refused = await api.ask("DELETE", "/nodes/1");
      assert.deepEqual([refused.status, refused.json.code], [409, "referenced"]);
      assert.match(refused.json.detail, /by pins\.$/);
      assert.equal((await api.ask("DELETE", `/pins/${made.json.id}`)).status, 204);
    }
    assert.equal(JSON.stringify(api.observed).includes("no resource has"), false);
    assert.equal((await api.ask("DELETE", "/nodes/1")).status, 204);
  });

for (const levels of [2, 4])
  test(`names the list that has a record ${levels - 1} levels below the deleted one`, async (t) => {
    const api = await start(t, levels);
    await api.ask("POST", "/bags", { body: { nodes: [levels] } });

    for (const lists of [[levels], [1, levels]]) {
      assert.equal((await api.ask("PATCH", "/bags/1", { body: { nodes: lists } })).status, 200);
      const refused = await api.ask("DELETE", "/nodes/1");
      assert.deepEqual([refused.status, refused.json.code], [409, "referenced"], refused.text);
      assert.match(refused.json.detail, /by bags\.$/);
      assert.deepEqual((await api.get("/bags/1")).json.nodes, lists);
    }
    assert.equal((await api.ask("DELETE", `/nodes/${levels}`)).status, 204);
    assert.deepEqual((await api.get("/bags/1")).json.nodes, [1]);
    assert.equal((await api.ask("DELETE", "/nodes/1")).status, 204);
  });
