import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { command } from "../harness/command.ts";

const run = promisify(execFile);
const root = path.join(import.meta.dirname, "../..");
const fromSource = path.join(root, "tests/harness/from-source.ts");

for (const folder of [".", "examples/shop", "examples/teams"])
  test(`declares the permissions of permissions.lock in ${folder}`, async () => {
    const { stdout } = await run(process.execPath, ["--import", fromSource, command, "prove", "--check"], {
      cwd: path.join(root, folder),
    });

    assert.equal(stdout, "The permissions are those of permissions.lock.\n");
  });
