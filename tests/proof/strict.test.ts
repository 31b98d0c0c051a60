// SQLite alone, because the command starts its service on SQLite in memory.
import assert from "node:assert/strict";
import { test } from "node:test";
import "../harness/doors-of-source.ts";
import { loadConfigFile } from "../../src/service/settings/config-file/config-file.ts";
import { lockedProjects, proveConfig } from "../harness/prove-config.ts";

for (const { name, folder, environment } of lockedProjects)
  test(`tries every permission of ${name}, and finds nothing`, async () => {
    const report = await proveConfig((await loadConfigFile(folder)) ?? {}, environment);

    assert.deepEqual(report, { findings: [], not_tried: [] });
  });
