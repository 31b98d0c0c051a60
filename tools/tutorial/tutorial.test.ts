import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { freePort } from "../../tests/harness/free-port.ts";
import { startPostgres } from "../../tests/harness/postgres.ts";

/**
 * Follows the tutorial like a reader, from an empty folder, with the built package and a real PostgreSQL. The words
 * after the fence of a code block select an action: `file=…` writes a file, `start` starts the service, `step` runs
 * commands while it serves, and `stopped` stops it and then runs commands.
 */
const root = path.join(import.meta.dirname, "../..");
const page = readFileSync(path.join(root, "docs/tutorial/shop.md"), "utf8");
const blocks = [...page.matchAll(/^```(\w.*)\n([^]*?)^```$/gm)].map(([, info = "", text = ""]) => ({ info, text }));
const POSTGRES = "postgres://shop:secret@127.0.0.1:5432/shop";

const helpers = `
npx() { shift; node "$ROOT/dist/cli/latchkey.js" "$@"; }
serving=
stop() { if [ -n "$serving" ]; then kill "$serving"; wait "$serving" || true; serving=; fi; }
ready() {
  for _ in $(seq 200); do curl -sf -o /dev/null "http://127.0.0.1:8000/readyz" && return; sleep 0.1; done
  echo "The service did not start." >&2; exit 1
}
trap stop EXIT
`;

function buildScript({ info, text }: (typeof blocks)[number]): string {
  if (info === "sh step") return text;
  if (info === "sh stopped") return `stop\n${text}`;
  if (info !== "sh start") return "";
  const command = text.trim().replace(/npx latchkey$/, 'node "$ROOT/dist/cli/latchkey.js"');
  return `stop\n(exec env ${command}) &\nserving=$!\nready\nPASSWORD=$(cat latchkey.password)\n`;
}

test("follows the tutorial from an empty folder to a shop on PostgreSQL", { timeout: 300_000 }, async (t) => {
  const shop = mkdtempSync(path.join(tmpdir(), "latchkey-shop-"));
  t.after(() => rmSync(shop, { recursive: true, force: true }));
  const postgres = await startPostgres();
  t.after(() => postgres.stop());
  const database = await postgres.makeDatabase();
  mkdirSync(path.join(shop, "node_modules"));
  symlinkSync(root, path.join(shop, "node_modules/latchkey"), "junction");
  writeFileSync(path.join(shop, "package.json"), '{ "type": "module" }');
  for (const { info, text } of blocks) {
    const file = / file=(\S+)/.exec(info)?.[1];
    if (file !== undefined) writeFileSync(path.join(shop, path.basename(file)), text);
  }
  const port = await freePort();
  const script = (helpers + blocks.map(buildScript).join("\n"))
    .replaceAll("127.0.0.1:8000", `127.0.0.1:${port}`)
    .replaceAll(POSTGRES, database);

  const child = spawn("bash", ["-euxo", "pipefail", "-c", script], {
    cwd: shop,
    // If this variable were set, the tests of the tutorial's project would print no report.
    env: {
      ...process.env,
      NODE_TEST_CONTEXT: undefined,
      ROOT: root,
      LATCHKEY_PORT: String(port),
      LATCHKEY_LOG: "error",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += String(chunk)));
  const [status] = (await once(child, "close")) as [number | null];

  assert.equal(status, 0, said);
});
