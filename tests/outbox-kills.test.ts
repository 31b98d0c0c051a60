import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

/** `npm run test:outbox` kills two hundred times. */
const KILLS = Number(process.env["OUTBOX_KILLS"] ?? 3);
const writer = path.join(import.meta.dirname, "outbox-writer.ts");

test(`${KILLS} kills: every write has its effect, and every effect its write`, async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-outbox-kills-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "latchkey.db");
  const effects = path.join(folder, "effects");
  const acknowledged = new Set<number>();

  for (let kill = 0; kill < KILLS; kill++) {
    const child = spawn(process.execPath, [writer, file, effects], { stdio: ["ignore", "pipe", "inherit"] });
    const ended = once(child, "exit");
    let said = "";
    child.stdout.on("data", (chunk) => (said += String(chunk)));
    await once(child.stdout, "data");
    await wait(20 + 180 * Math.random());
    child.kill("SIGKILL");
    await ended;
    for (const id of said.split("\n").slice(0, -1)) acknowledged.add(Number(id));
  }
  // The lease of the one that was killed last has to run out; its clock is its own.
  const database = new DatabaseSync(file);
  database.exec("DELETE FROM outbox_leases");
  database.close();
  const drained = spawnSync(process.execPath, [writer, file, effects, "drain"], { encoding: "utf8" });

  assert.equal(drained.status, 0, drained.stderr);
  const after = new DatabaseSync(file, { readOnly: true });
  const written = new Set(
    after
      .prepare("SELECT id FROM notes")
      .all()
      .map(({ id }) => Number(id)),
  );
  const waiting = after.prepare("SELECT count(*) AS count FROM outbox").get();
  after.close();
  const told = new Set(readFileSync(effects, "utf8").trim().split("\n").map(Number));
  assert.deepEqual(told, written, "told and written");
  assert.equal(waiting?.["count"], 0);
  for (const id of acknowledged) assert.ok(written.has(id), String(id));
  assert.ok(written.size > KILLS);
});
