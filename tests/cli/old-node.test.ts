import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { asOlderNode, importing, tooOld } from "../harness/older-node.ts";

const root = path.join(import.meta.dirname, "../..");
const doors = globSync("src/door/*.ts", { cwd: root });

for (const door of [...doors, "src/service/service.ts", "src/testing/testing.ts", "src/cli/latchkey.ts"])
  test(`reports an old Node in one sentence from ${door}`, () => {
    const { stderr, stdout } = spawnSync(process.execPath, asOlderNode(importing(path.join(root, door))), {
      encoding: "utf8",
    });

    assert.deepEqual([stderr, stdout], [tooOld, ""]);
  });
