import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { placeFor, type Ended } from "../../tests/harness/cli.ts";
import { startService } from "../../tests/harness/service-process.ts";
import { makeFaultyDisk, type FaultyDisk } from "./faults.ts";

/** Makes a disk like FAT: it supports neither hard links nor modes of single files. */
function makeLinklessDisk(): FaultyDisk {
  const disk = makeFaultyDisk();
  disk.fail("link", "EPERM");
  disk.fail("mode", "EPERM");
  return disk;
}

function isDone({ code, errors }: Ended): void {
  assert.equal(code, 0, errors);
}

test("puts a backup, a move and a restore in place on a disk without links, and moves existing files aside", async () => {
  using disk = makeLinklessDisk();
  const file = `${disk.folder}/latchkey.db`;
  using place = placeFor({ ...disk.environment, LATCHKEY_DATABASE: `sqlite:${file}` });
  isDone(await place.run(["user", "create", "--name", "Ada", "--email", "ada@example.com", "--without-password"]));

  isDone(await place.run(["db", "backup", `${disk.folder}/backup.db`]));
  isDone(await place.run(["db", "move", `sqlite:${file}`, `sqlite:${disk.folder}/moved.db`]));
  isDone(await place.run(["user", "create", "--name", "Bob", "--email", "bob@example.com", "--without-password"]));
  isDone(await place.run(["db", "restore", `${disk.folder}/backup.db`]));

  const names = readdirSync(disk.folder).filter((name) => !/-(?:wal|shm)$/.test(name));
  const aside = names.find((name) => name.startsWith("latchkey.db.before-restore-"))!;
  assert.deepEqual(names.toSorted(), ["backup.db", "latchkey.db", aside, "latchkey.secret", "moved.db"].toSorted());
  for (const [name, users] of [
    ["latchkey.db", 1],
    ["backup.db", 1],
    ["moved.db", 1],
    [aside, 2],
  ] as const)
    assert.equal(countUsers(`${disk.folder}/${name}`), users, name);
  // Each command first tries to link its files: the database, its secret, the backup, the move, and two files of the
  // restore.
  assert.ok(disk.failed() >= 5);
});

test("lets only one of several concurrent backups create a file on a disk without links, and the others report that the file exists", async () => {
  using disk = makeLinklessDisk();
  const file = `${disk.folder}/latchkey.db`;
  using place = placeFor({ ...disk.environment, LATCHKEY_DATABASE: `sqlite:${file}` });
  isDone(await place.run(["user", "create", "--name", "Ada", "--email", "ada@example.com", "--without-password"]));

  const ends = await Promise.all(Array.from({ length: 6 }, () => place.run(["db", "backup", `${disk.folder}/one.db`])));

  assert.equal(ends.filter(({ code }) => code === 0).length, 1);
  for (const { code, errors } of ends.filter((each) => each.code !== 0)) {
    assert.equal(code, 1);
    assert.match(errors, /one\.db exists already/);
  }
  assert.equal(countUsers(`${disk.folder}/one.db`), 1);
  assert.deepEqual(
    readdirSync(disk.folder).filter((name) => name.includes(".backup-")),
    [],
  );
});

test("gives concurrent first starts on a disk without links the same secret", async () => {
  using disk = makeLinklessDisk();
  const settings = { ...disk.environment, LATCHKEY_SECRET_FILE: `${disk.folder}/latchkey.secret` };

  const services = await Promise.all(Array.from({ length: 4 }, () => startService(settings)));

  const secret = readFileSync(`${disk.folder}/latchkey.secret`, "utf8");
  assert.match(secret, /^[\w-]{43}\n$/);
  assert.equal(statSync(`${disk.folder}/latchkey.secret`).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(disk.folder), ["latchkey.secret"]);
  for (const service of services) await service[Symbol.asyncDispose]();
});

function countUsers(file: string): unknown {
  const database = new DatabaseSync(file, { readOnly: true, returnArrays: true });
  const [found] = database.prepare("SELECT count(*) FROM users").get() as unknown as unknown[];
  database.close();
  return found;
}
