import assert from "node:assert/strict";
import { copyFileSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { CopyError, restoreSQLite, sqliteStore, type Collection } from "../../src/door/stores.ts";
import { backupDatabase, checkDatabase, moveDatabase, restoreDatabase } from "../../src/service/system/databases.ts";

const notes: Collection = { name: "notes", key: "integer", columns: [{ name: "text", type: "text" }] };

interface CopyFolder {
  readonly folder: string;
  /** The database to copy. */
  readonly file: string;
  at(name: string): string;
}

async function place(t: TestContext): Promise<CopyFolder> {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-copies-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const at = (name: string): string => path.join(folder, name);
  const store = sqliteStore({ path: at("latchkey.db") });
  await store.open([notes]);
  await store.close();
  return { folder, file: at("latchkey.db"), at };
}

const copyings: Readonly<Record<string, (from: string, to: string) => Promise<unknown>>> = {
  backup: (from, to) => backupDatabase(from, to, false, () => {}),
  "backup --force": (from, to) => backupDatabase(from, to, true, () => {}),
  move: (from, to) => moveDatabase({ kind: "sqlite", path: from }, { kind: "sqlite", path: to }, () => {}),
};

/** Copies a database and adds a table, `left_over`, to the log of the copy. The log remains, as after a kill. */
function leaveLog(from: string, to: string): void {
  const [one, other] = [`${to}.one`, to];
  copyFileSync(from, one);
  const database = new DatabaseSync(one);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE left_over (id INTEGER)");
  for (const suffix of ["", "-wal", "-shm"]) copyFileSync(one + suffix, other + suffix);
  database.close();
  rmSync(one);
}

/** Returns true if a database has the table that `leaveLog` wrote into the log. */
function hasLeftOver(file: string): boolean {
  const database = new DatabaseSync(file, { readOnly: true });
  const found = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'left_over'").get();
  database.close();
  return found !== undefined;
}

test("refuses to copy to an impossible path or to a name that SQLite reserves, and names the fix", async (t) => {
  const { folder, file, at } = await place(t);
  mkdirSync(at("folder"));
  symlinkSync("circle", at("circle"));
  symlinkSync("missing/x.db", at("into-missing"));
  const socket = createServer().listen(at("socket"));
  t.after(() => socket.close());
  await new Promise((resolve) => socket.once("listening", resolve));
  const names = (): readonly string[] => readdirSync(folder).filter((name) => !/-(?:wal|shm)$/.test(name));
  const before = names();
  const rows: Readonly<Record<string, RegExp>> = {
    folder: /folder is a directory\. Name a file in it\.$/,
    "missing/x.db": /cannot be used, because \S+missing is not a directory\. Create it, or name another file\.$/,
    "into-missing": /to which \S+into-missing leads, cannot be used, because \S+missing is not a directory\. Create it/,
    "latchkey.db/x": /cannot be used, because \S+latchkey\.db is not a directory\. Create it/,
    circle: /circle is a symbolic link that leads in a circle/,
    socket: /socket is a pipe, a socket or a device\. Name a regular file\.$/,
    ["n".repeat(300)]: /n is longer than the system allows\. Name another file\.$/,
    ["n".repeat(240)]: /n is too long a name, because files next to it get longer names\. Name another\.$/,
    "latchkey.db-wal":
      /latchkey\.db-wal is the name that SQLite uses for a part of \S+latchkey\.db\. Name another file\.$/,
    "latchkey.db-journal": /is the name that SQLite uses for a part/,
  };

  for (const [name, words] of Object.entries(rows))
    for (const [how, copying] of Object.entries(copyings))
      await assert.rejects(
        copying(file, at(name)),
        (error) => error instanceof CopyError && error.code === "refused" && words.test(error.message),
        `${how} ${name}`,
      );

  assert.deepEqual(names(), before);
  assert.ok(lstatSync(at("socket")).isSocket());
});

test("refuses to copy to a path where the log of a deleted database remains, because SQLite would read that log", async (t) => {
  const { file, at } = await place(t);
  leaveLog(file, at("copy.db"));
  rmSync(at("copy.db"));

  for (const [how, copying] of Object.entries(copyings))
    await assert.rejects(
      copying(file, at("copy.db")),
      (error) =>
        error instanceof CopyError &&
        error.code === "not_empty" &&
        /copy\.db-wal is left of a deleted database, .* Move it away, or name another file\.$/.test(error.message),
      how,
    );

  assert.ok(!existsSync(at("copy.db")) && existsSync(at("copy.db-wal")));
});

test("deletes the log when a backup replaces a file, so that the file contains only the copy", async (t) => {
  const { file, at } = await place(t);
  leaveLog(file, at("copy.db"));
  assert.ok(hasLeftOver(at("copy.db")));

  await backupDatabase(file, at("copy.db"), true, () => {});

  assert.ok(!hasLeftOver(at("copy.db")));
  const options = { ending: "nothing", accessSeconds: 300, report: () => {} } as const;
  await restoreDatabase(at("copy.db"), at("restored.db"), options);
  assert.ok(!hasLeftOver(at("restored.db")));
});

test("moves the log of a deleted database away at a restore, so that the file contains only the backup", async (t) => {
  const { file, at } = await place(t);
  await backupDatabase(file, at("copy.db"), false, () => {});
  leaveLog(file, at("gone.db"));
  rmSync(at("gone.db"));

  await restoreDatabase(at("copy.db"), at("gone.db"), { ending: "nothing", accessSeconds: 300, report: () => {} });

  assert.ok(!hasLeftOver(at("gone.db")));
});

test("does not replace an open database with a backup, and replaces the target of a link instead of the link", async (t) => {
  const { file, at } = await place(t);
  await backupDatabase(file, at("used.db"), false, () => {});
  const store = sqliteStore({ path: at("used.db") });
  await store.open([]);
  t.after(() => store.close());
  await assert.rejects(
    backupDatabase(file, at("used.db"), true, () => {}),
    /used\.db is open in another process\. Stop the service/,
  );
  mkdirSync(at("disk"));
  symlinkSync("disk/copy.db", at("copy.db"));

  for (const replace of [false, true]) await backupDatabase(file, at("copy.db"), replace, () => {});

  assert.ok(lstatSync(at("copy.db")).isSymbolicLink() && lstatSync(at("disk/copy.db")).isFile());
});

test("replaces an empty file, but not while another process creates a database in it", async (t) => {
  const { file, at } = await place(t);
  const options = { ending: "nothing", accessSeconds: 300, report: () => {} } as const;
  const replacing: Readonly<Record<string, (to: string) => Promise<unknown>>> = {
    backup: (to) => backupDatabase(file, to, true, () => {}),
    restore: (to) => restoreDatabase(file, to, options),
  };
  for (const [how, replace] of Object.entries(replacing)) {
    copyFileSync("/dev/null", at(how));
    const beginning = new DatabaseSync(at(how));
    beginning.exec("BEGIN IMMEDIATE; CREATE TABLE first (id INTEGER)");

    await assert.rejects(replace(at(how)), /is open in another process\. Stop the service/, how);
    beginning.exec("COMMIT");
    beginning.close();
    copyFileSync("/dev/null", at(how));
    await replace(at(how));

    await checkDatabase({ kind: "sqlite", path: at(how) });
  }
});

test("refuses to replace a database that was created after the backup or the restore had started", async (t) => {
  const { folder, file, at } = await place(t);
  // The file must be large: a small one is copied in one step without a report of progress, and `begin` would not be
  // called.
  const large = new DatabaseSync(file);
  large.exec("INSERT INTO notes (id, _revision, text) VALUES (1, 1, hex(zeroblob(4000000)))");
  large.close();
  const begun: DatabaseSync[] = [];
  const begin = (name: string): void => {
    if (existsSync(at(name))) return;
    const database = new DatabaseSync(at(name));
    database.exec("PRAGMA journal_mode = WAL; CREATE TABLE first (id INTEGER)");
    begun.push(database);
  };

  await assert.rejects(
    backupDatabase(file, at("used.db"), true, () => begin("used.db")),
    /used\.db is open in another process\. Stop the service/,
  );
  const restoring = await restoreSQLite(file, at("restored.db"), () => begin("restored.db"));
  assert.throws(() => restoring.putInPlace(new Date()), /restored\.db exists already, and was not changed\.$/);
  restoring.close();

  for (const name of ["used.db-wal", "restored.db-wal"]) assert.ok(existsSync(at(name)), name);
  for (const database of begun) database.close();
  assert.equal(begun.length, 2);
  assert.deepEqual(
    readdirSync(folder).filter((name) => /\.(?:before|backup|restoring)-/.test(name)),
    [],
  );
});

test("reports a path that is not a file, or an empty file, and leaves it unchanged, in every reading command", async (t) => {
  const { folder, file, at } = await place(t);
  const socket = createServer().listen(at("socket"));
  t.after(() => socket.close());
  await new Promise((resolve) => socket.once("listening", resolve));
  copyFileSync("/dev/null", at("empty"));
  const options = { ending: "nothing", accessSeconds: 300, report: () => {} } as const;

  for (const [name, words] of [
    [folder, /is not a file\. Name the file of a database\.$/],
    [at("socket"), /socket is not a file\. Name the file of a database\.$/],
    [at("empty"), /empty is empty, so it is not a database of Latchkey\.$/],
  ] as const) {
    const location = { kind: "sqlite", path: name } as const;
    await assert.rejects(checkDatabase(location), words);
    await assert.rejects(restoreDatabase(name, file, options), words);
    await assert.rejects(copyings["move"]!(name, at("new.db")), words);
    await assert.rejects(
      backupDatabase(name, at("new.db"), false, () => {}),
      words,
    );
  }

  assert.equal(lstatSync(at("empty")).size, 0);
});
