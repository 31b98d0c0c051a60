import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Permission } from "../../src/door/auth.ts";
import { documentation, openapiDocument } from "../../src/door/features.ts";
import { askService, buildMounts, shop } from "../harness/many-things.ts";
import { ownService, visitor } from "../harness/own-service.ts";

// Nightly on PostgreSQL: the document describes the declarations, not the records.

test("sends the whole document, although the service writes it in pieces", async (t) => {
  const mounts = buildMounts(3);
  const { service } = await ownService(t, { mounts, features: [documentation(shop)] });

  const { text: sent } = await askService(service, "/openapi.json");

  const { paths, components } = JSON.parse(sent) as Record<string, Record<string, object>>;
  const described = await openapiDocument({ ...shop, mounts, schemes: [visitor] });
  const { paths: itsPaths } = described as Record<string, Record<string, object>>;
  for (const path of ["/thing0s", "/thing2s/{id}"])
    assert.deepEqual(Object.keys(paths![path]!), Object.keys(itsPaths![path]!));
  assert.deepEqual(components!["schemas"], (described["components"] as Record<string, object>)["schemas"]);
  assert.equal(JSON.stringify(JSON.parse(sent)), sent);
});

test("makes one document for concurrent requests", async (t) => {
  const many = ["/openapi.json", "/docs", "/openapi.json", "/openapi.json"];

  const [alone, together] = [await countReads(t, ["/openapi.json"]), await countReads(t, many)];

  assert.ok(alone > 0);
  assert.equal(together, alone);
});

/** Counts how often the description reads the names of permissions. */
async function countReads(t: TestContext, targets: readonly string[]): Promise<number> {
  let reads = 0;
  const permission: Permission = {
    get name() {
      reads++;
      return "anyone";
    },
    decide: () => "allow",
  };
  const { service } = await ownService(t, { mounts: buildMounts(20, permission), features: [documentation(shop)] });
  reads = 0;
  await Promise.all(targets.map((target) => askService(service, target)));
  return reads;
}
