import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import type { Observation } from "../../../core/observation.ts";
import { StoreUnavailable } from "../../store.ts";
import { sqliteStore } from "../sqlite.ts";
import { watchFile } from "./place.ts";

const notes = { name: "notes", key: "integer", columns: [{ name: "text", type: "text" }] } as const;

test("reports a log above 256 MB once, and again only after it was below half the limit", (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const observed: Observation[] = [];
  const file = import.meta.filename;
  let megabytes = 0;
  const observe = (observation: Observation): void => void observed.push(observation);
  const stop = watchFile(file, {
    observe,
    look: () => {},
    onGone: () => {},
    measureLog: () => megabytes * 1024 * 1024,
  });

  for (megabytes of [1, 257, 300, 200, 260, 100, 257, 1]) t.mock.timers.tick(500);
  stop();

  const messages = observed.map((each) => (each.kind === "notice" ? each.message : ""));
  assert.equal(messages.length, 2);
  for (const message of messages) assert.match(message, /WAL .*-wal\) has 257 MB/);
});

test("reports the size of the log, and writes nothing after another file has replaced the database", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-place-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "a.db");
  const store = sqliteStore({ path: file });
  await store.open([notes]);
  const write = () => store.write({ changes: [{ kind: "insert", collection: notes, values: { text: "one" } }] });
  assert.equal((await write()).kind, "written");
  assert.ok(store.walBytes!() > 0);

  rmSync(file);
  const other = sqliteStore({ path: file });
  await other.open([notes]);

  await assert.rejects(write(), StoreUnavailable);
  await assert.rejects(store.check(), /replaced by another file/);
  assert.equal(await other.count(notes, null), 0);
  await other.close();
  await store.close();
  assert.equal(sqliteStore({ path: ":memory:" }).walBytes, undefined);
});
