import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { authenticated, defineResource, mount, text } from "../../src/door/index.ts";
import { type Collection, sqliteStore, StoreFull } from "../../src/door/stores.ts";
import { connect, prepare } from "../../src/store/sqlite/connection/connection.ts";
import { storeError } from "../../src/store/sqlite/connection/errors.ts";
import type { NamedTransaction } from "../../src/store/sqlite/named.ts";
import { prepareFile } from "../../src/store/sqlite/schema.ts";
import { createCommitter } from "../../src/store/sqlite/writes/transactions.ts";
import { isSound, logIn, makeLedger, password, readAllTheWhile } from "../harness/disk-ledger.ts";
import { ownService } from "../harness/own-service.ts";
import { startService } from "../harness/service-process.ts";

// `npm run verify -- disk` tests a full disk and a failing disk. These tests need only a file with a size limit.
const notLinux = process.platform === "linux" ? false : "limits of another process are set with Linux's prlimit";

test("throws StoreFull for a group of transactions that does not fit, writes none of them, and then writes smaller groups", () => {
  onFolder((folder) => {
    const file = path.join(folder, "test.db");
    const notes: Collection = { name: "notes", key: "integer", columns: [{ name: "text", type: "text" }] };
    prepareFile(file, [notes]);
    const database = connect(file);
    const committer = createCommitter(database, [notes]);
    const note = (size: number): NamedTransaction => ({
      changes: [{ kind: "insert", collection: "notes", values: { text: "x".repeat(size) } }],
    });
    const count = (): unknown => prepare(database, "SELECT count(*) FROM notes").get()![0];
    committer.commit([note(1)]);
    const pages = prepare(database, "PRAGMA page_count").get()![0] as number;
    database.exec(`PRAGMA max_page_count = ${pages + 4}`);

    assert.throws(
      () => committer.commit([note(1), note(100_000), note(1)]),
      (error) => storeError(error) instanceof StoreFull,
    );
    assert.equal(count(), 1);
    assert.equal(committer.commit([note(1)])[0]!.kind, "written");
    database.exec(`PRAGMA max_page_count = ${pages + 100}`);
    assert.deepEqual(
      committer.commit([note(100_000), note(1)]).map(({ kind }) => kind),
      ["written", "written"],
    );
    assert.equal(count(), 4);
    database.close();
  });
});

test(
  "acknowledges no write while files may not grow, serves reads and logins, and writes again without a restart",
  { skip: notLinux },
  async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "latchkey-"));
    const settings = { LATCHKEY_DATABASE: `sqlite:${folder}/latchkey.db`, LATCHKEY_ADMIN_PASSWORD: password };
    const ledger = makeLedger();
    {
      await using service = await startService(settings);
      const reading = readAllTheWhile(service, await logIn(service));
      const limit = (bytes: string): unknown =>
        execFileSync("prlimit", ["--pid", String(service.pid), `--fsize=${bytes}:`]);
      limit("1000000");
      await ledger.writeUntilRefused(service, 16);
      await ledger.holds(service);
      assert.deepEqual(await reading.stop(), new Set([200]));
      // The code is not `insufficient_storage`: for a file above the limit of a process, SQLite reports only an I/O
      // error.
      for (const { status, code } of ledger.refusals) assert.deepEqual([status, code], [503, "unavailable"]);

      limit("unlimited");
      assert.deepEqual(await ledger.retry(service), Array(16).fill(201));
      process.kill(service.pid, "SIGKILL");
    }

    await using service = await startService(settings);
    await ledger.holds(service);
    isSound(`${folder}/latchkey.db`);
    rmSync(folder, { recursive: true });
  },
);

test("answers 507 to a write for lack of space, and still answers reads", async (t) => {
  const store = sqliteStore({ path: ":memory:" });
  const full = { ...store, write: () => Promise.reject(new StoreFull("no room")) };
  const note = defineResource({ name: "note", fields: { text: text({ maxLength: 100 }) } });
  const own = await ownService(t, { store: full, mounts: [mount(note, { permission: authenticated })] });

  const written = await own.ask("POST", "/notes", { as: "ada", body: { text: "x" } });
  const read = await own.get("/notes", { as: "ada" });

  assert.equal(written.status, 507);
  assert.equal(written.headers.get("retry-after"), "30");
  assert.equal(written.headers.get("content-type"), "application/problem+json");
  assert.equal(written.json.code, "insufficient_storage");
  assert.deepEqual([read.status, read.text], [200, "[]"]);
  assert.deepEqual(
    own.observed.filter(({ kind }) => kind === "fault"),
    [],
  );
});

function onFolder(use: (folder: string) => void): void {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-"));
  try {
    use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
