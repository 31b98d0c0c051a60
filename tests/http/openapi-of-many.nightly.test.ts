import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { documentation } from "../../src/door/features.ts";
import { measurePieces } from "../harness/busiest-piece.ts";
import { askService, buildMounts, shop } from "../harness/many-things.ts";
import { ownService } from "../harness/own-service.ts";
import { slowness } from "../harness/slowness.ts";

/** Describes a small service, so that the code is loaded before the measurement. */
async function load(t: TestContext): Promise<void> {
  const { service } = await ownService(t, { mounts: buildMounts(1), features: [documentation(shop)] });
  await askService(service, "/openapi.json");
  await askService(service, "/docs");
}

test("blocks other requests for at most 50 ms while three hundred mounts are described for the first time", async (t) => {
  await load(t);
  const { service } = await ownService(t, { mounts: buildMounts(300), features: [documentation(shop)] });

  for (const target of ["/openapi.json", "/docs", "/docs/listThing7s", "/openapi.json"]) {
    const { busiestMs } = await measurePieces(() => askService(service, target));

    assert.ok(busiestMs < 50 * slowness(), `${target}: ${busiestMs} ms, slowness ${slowness()}`);
  }
});
