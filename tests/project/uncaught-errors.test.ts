import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

const preload = new URL("../../tools/untracked-promises.ts", import.meta.url).href;

function runTest(body: string): { readonly status: number | null; readonly stdout: string } {
  const source = `import ${JSON.stringify(preload)};
    import { test } from "node:test";
    test("leaves an error behind", async () => { ${body} });
    test("waits for the error", () => new Promise((resolve) => setTimeout(resolve, 20)));`;
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return spawnSync(process.execPath, ["--input-type=module", "--eval", source], { env, encoding: "utf8" });
}

test("passes a file without an uncaught error in a whole run", () => {
  assert.equal(runTest("").status, 0);
});

for (const [title, body] of Object.entries({
  "a rejection that no code handles": "void Promise.reject(new Error('left alone'));",
  "an error in a callback": "setTimeout(() => { throw new Error('left alone'); });",
}))
  test(`fails a file with ${title} in a whole run, and shows the error`, () => {
    const { status, stdout } = runTest(body);

    assert.equal(status, 1);
    assert.match(stdout, /left alone/);
  });
