import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import "../../harness/doors-of-source.ts";
import type { Report } from "../../../src/proof/findings.ts";
import { loadConfigFile } from "../../../src/service/settings/config-file/config-file.ts";
import { proveConfig } from "../../harness/prove-config.ts";
import { drawProject } from "./draw-project.ts";

/** Proves drawn projects without a hole: nothing may be found, refused or answered with an error of the service. */
export function proveDrawn({ seed, projects }: { readonly seed: number; readonly projects: number }): void {
  for (let each = seed; each < seed + projects; each++)
    test(`finds nothing in the project of seed ${each}`, async () => {
      const source = drawProject(each);

      const report = await proveProject(source).catch((error: unknown) => String(error));

      const found = JSON.stringify(report, null, 2);
      assert.deepEqual(
        report,
        { findings: [], not_tried: [] },
        `PROVE_SEED=${each} PROVE_PROJECTS=1 repeats it.\n\n${source}\n${found}`,
      );
    });
}

async function proveProject(source: string): Promise<Report> {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-drawn-"));
  try {
    writeFileSync(path.join(folder, "latchkey.config.ts"), source);
    return await proveConfig((await loadConfigFile(folder))!);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
