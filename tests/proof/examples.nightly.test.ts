// SQLite alone, because `latchkey prove` starts its service on SQLite in memory. `npm run verify -- prove-mutations`
// runs these tests with changed sources. `strict.test.ts` proves the same projects at every submission.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import "../harness/doors-of-source.ts";
import type { ConfigFile } from "../../src/service/service.ts";
import { loadConfigFile } from "../../src/service/settings/config-file/config-file.ts";
import { proveConfig } from "../harness/prove-config.ts";

/** Runs the config file of an example in a new folder, so that its declarations are made again. */
async function loadAnew(name: string): Promise<ConfigFile> {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-example-"));
  try {
    cpSync(path.join(import.meta.dirname, "../../examples", name), folder, { recursive: true });
    return (await loadConfigFile(folder))!;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The service without a config file, and two of the examples. */
const projects = [null, "shop", "teams"] as const;

for (const name of projects)
  test(`finds nothing in ${name ?? "the service"}`, async () => {
    const config = name === null ? {} : await loadAnew(name);

    const { findings, not_tried: left } = await proveConfig(config);

    const found = [
      ...findings.map(({ sentence }) => sentence),
      ...left.map(({ path: at, reason }) => `${at}: ${reason}`),
    ];
    assert.deepEqual(found.slice(0, 1), [], found[0] ?? "");
  });
