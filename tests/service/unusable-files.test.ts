import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import { sqliteFileProblems, sqliteStore, StoreSetupError } from "../../src/door/stores.ts";
import { nobody } from "../harness/as-nobody.ts";
import { command } from "../harness/command.ts";

function place(t: TestContext): { readonly folder: string; readonly file: string } {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-unusable-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, file: path.join(folder, "latchkey.db") };
}

/** Returns the problems that a user who is not root has with a database file. */
function collectProblems(file: string): readonly string[] {
  const module = pathToFileURL(path.join(import.meta.dirname, "../../src/door/stores.ts")).href;
  const program = `
    const { sqliteFileProblems } = await import(${JSON.stringify(module)});
    if (process.getuid() === 0) process.setuid(${nobody});
    console.log(JSON.stringify(sqliteFileProblems(${JSON.stringify(file)}, true)));
  `;
  const said = execFileSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });
  return JSON.parse(said) as string[];
}

test("reports a database, a log or a folder without write permission, with its path and the fix", (t) => {
  const { folder, file } = place(t);
  if (process.getuid!() === 0) chownSync(folder, nobody, nobody);
  assert.deepEqual(collectProblems(file), []);

  for (const name of [file, `${file}-wal`]) {
    writeFileSync(name, "");
    if (process.getuid!() === 0) chownSync(name, nobody, nobody);
    chmodSync(name, 0o400);
  }
  const [closed, log] = collectProblems(file);
  chmodSync(folder, 0o500);
  const all = collectProblems(file);

  assert.match(
    closed!,
    /^user \d+ may not read and write \S+\/latchkey\.db\. This user owns it\. Allow it with: chmod u\+rw \S+\.db$/,
  );
  assert.match(log!, /latchkey\.db-wal\./);
  assert.equal(all.length, 3);
  assert.match(all[0]!, /chmod u\+rwx \S+$/);
  assert.ok(all[0]!.includes(`${folder}.`));
});

for (const args of ["db check", "db stats", "db backup copy.db", "db restore latchkey.db"])
  test(`reports a file without read permission in latchkey ${args}, with its path and the fix`, (t) => {
    const { folder, file } = place(t);
    writeFileSync(file, "not to be read");
    chmodSync(file, 0o000);
    const restores = args.includes("restore");
    chmodSync(folder, 0o777);

    const ended = spawnSync(process.execPath, [command, ...args.split(" ")], {
      cwd: folder,
      env: { ...process.env, LATCHKEY_DATABASE: `sqlite:${restores ? "another" : "latchkey"}.db` },
      encoding: "utf8",
      ...(process.getuid!() === 0 ? { uid: nobody } : {}),
    });

    assert.match(ended.stderr, /user \d+ may not read \S+latchkey\.db\. (Make this user its owner|This user owns it)/);
    assert.equal(ended.status, restores ? 1 : 78);
  });

/** Paths that cannot be a file, and their messages. */
const unreachable: Readonly<Record<string, RegExp>> = {
  "circle.db": /circle\.db is a symbolic link that leads in a circle\. Link it to a file, or name another file\./,
  "to-folder.db": /\/folder, to which \S+to-folder\.db leads, is a directory\. Name a file in it\./,
  "into-missing.db":
    /missing\/x\.db, to which \S+into-missing\.db leads, cannot be used, because \S+missing is not a directory\. Create it/,
  "file/x.db": /file\/x\.db cannot be used, because \S+file is not a directory\. Create it, or name another file\./,
  [`${"n".repeat(300)}.db`]: /n\.db is longer than the system allows\. Name another file\./,
  // The name of the file is short enough, but the name of its log (`-wal`) is not.
  [`${"n".repeat(250)}.db`]: /n\.db is longer than the system allows\. Name another file\./,
};

function placeOfUnreachable(t: TestContext): string {
  const { folder } = place(t);
  symlinkSync("other.db", path.join(folder, "circle.db"));
  symlinkSync("circle.db", path.join(folder, "other.db"));
  mkdirSync(path.join(folder, "folder"));
  symlinkSync("folder", path.join(folder, "to-folder.db"));
  symlinkSync("missing/x.db", path.join(folder, "into-missing.db"));
  writeFileSync(path.join(folder, "file"), "");
  return folder;
}

test("reports a path that cannot be a file, and the fix, before a store opens it and when a store opens it", async (t) => {
  const folder = placeOfUnreachable(t);

  for (const [name, words] of Object.entries(unreachable)) {
    const file = path.join(folder, name);
    const store = sqliteStore({ path: file });
    for (const writes of [true, false]) assert.match(sqliteFileProblems(file, writes).join("\n"), words);
    await assert.rejects(store.open([]), (error) => error instanceof StoreSetupError && words.test(error.message));
    assert.equal(store.walBytes!(), 0);
  }
});

const users = "name,email\nAnn,ann@example.com\n";

for (const args of [
  "",
  "db check",
  "db stats",
  "db backup another.db",
  "db restore file",
  "db migrate",
  "user import file",
])
  test(`ends latchkey ${args} with 78 if the path of the database leads in a circle`, (t) => {
    const folder = placeOfUnreachable(t);
    writeFileSync(path.join(folder, "file"), users);

    const ended = spawnSync(process.execPath, [command, ...args.split(" ").filter(Boolean)], {
      cwd: folder,
      env: { ...process.env, LATCHKEY_PORT: "0", LATCHKEY_DATABASE: "sqlite:circle.db" },
      encoding: "utf8",
      // If the command served by mistake, it would not end.
      timeout: 20_000,
    });

    assert.match(ended.stderr, /LATCHKEY_DATABASE: \S*circle\.db is a symbolic link that leads in a circle/);
    assert.equal(ended.status, 78);
  });

test("reports a link into a directory that the user may not enter, with its path and the fix", (t) => {
  const { folder } = place(t);
  const closed = path.join(folder, "closed");
  mkdirSync(closed);
  chmodSync(closed, 0o000);
  chmodSync(folder, 0o755);
  const link = path.join(folder, "link.db");
  symlinkSync(path.join("closed", "x.db"), link);

  const reports = [link, path.join(closed, "x.db")].map(collectProblems);

  for (const problems of reports) {
    assert.equal(problems.length, 1);
    assert.match(
      problems[0]!,
      /^user \d+ may not enter a directory on the way to \S+\.db \(.*closed\/x\.db.*\)\. Make this user its owner/,
    );
  }
});

test("ends the start with 78 for a file that is not a database, and leaves it unchanged", (t) => {
  const { folder, file } = place(t);
  const content = "no database ".repeat(1000);
  writeFileSync(file, content);

  const ended = spawnSync(process.execPath, [command], {
    cwd: folder,
    env: { ...process.env, LATCHKEY_PORT: "0", LATCHKEY_DATABASE: `sqlite:${file}` },
    encoding: "utf8",
  });

  assert.equal(ended.status, 78);
  assert.match(ended.stderr, /LATCHKEY_DATABASE: \S+latchkey\.db is not a SQLite database\. Name another file/);
  assert.equal(readFileSync(file, "utf8"), content);
});

test("reports a missing database if the start finds its secret, but not at a first start", async (t) => {
  const { folder, file } = place(t);
  const first = await errorsOfStart(folder);
  for (const suffix of ["", "-wal", "-shm"]) rmSync(file + suffix, { force: true });

  const second = await errorsOfStart(folder);

  assert.equal(first, "");
  assert.ok(second.startsWith(`There is a secret (${path.join(folder, "latchkey.secret")}) but no database`), second);
  assert.ok(second.includes(file));
  assert.equal(await errorsOfStart(folder), "");
});

test("ends with 78 and makes no secret if a database has accounts but its secret is missing", async (t) => {
  const { folder, file } = place(t);
  await errorsOfStart(folder);
  const secret = path.join(folder, "latchkey.secret");
  renameSync(secret, `${secret}.away`);

  for (const args of [[], ["user", "list"]]) {
    const ended = spawnSync(process.execPath, [command, ...args], {
      cwd: folder,
      env: { ...process.env, LATCHKEY_PORT: "0" },
      encoding: "utf8",
      // If the command served by mistake, it would not end.
      timeout: 10_000,
    });
    assert.equal(ended.status, 78, ended.stderr);
    assert.ok(ended.stderr.includes(`${file} holds accounts, but their secret is missing: ${secret}`), ended.stderr);
    assert.match(ended.stderr, /openssl rand -base64 48 > /);
    assert.equal(existsSync(secret), false);
  }

  renameSync(`${secret}.away`, secret);
  assert.equal(await errorsOfStart(folder), "");
});

test("makes the secret of an existing database without accounts at the first start", async (t) => {
  const { folder } = place(t);
  const made = spawnSync(process.execPath, [command, "db", "migrate"], { cwd: folder, encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);

  assert.equal(await errorsOfStart(folder), "");
  assert.ok(existsSync(path.join(folder, "latchkey.secret")));
});

/** Starts the service, stops it as soon as it serves, and returns the text of standard error. */
async function errorsOfStart(folder: string): Promise<string> {
  const child = spawn(process.execPath, [command], {
    cwd: folder,
    env: {
      ...process.env,
      LATCHKEY_PORT: "0",
      LATCHKEY_LOG: "silent",
      LATCHKEY_ADMIN_PASSWORD: "of the one that is not there",
    },
  });
  let errors = "";
  child.stderr.on("data", (chunk) => (errors += String(chunk)));
  const ended = once(child, "close");
  await once(child.stdout, "data");
  child.kill("SIGTERM");
  await ended;
  return errors;
}

test("ends the start with 78 for key files that the process cannot read, and does not start with an empty list of keys", (t) => {
  const { folder } = place(t);
  const closed = path.join(folder, "closed");
  mkdirSync(closed);
  for (const name of ["cert", "key", "keys"]) writeFileSync(path.join(closed, name), "");
  chmodSync(closed, 0o000);
  chmodSync(folder, 0o777);
  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, [command, ...args], {
      cwd: folder,
      env: {
        ...process.env,
        LATCHKEY_PORT: "0",
        LATCHKEY_TLS_CERT: path.join(closed, "cert"),
        LATCHKEY_TLS_KEY: path.join(closed, "key"),
        LATCHKEY_SIGNING_KEYS: path.join(closed, "keys"),
      },
      encoding: "utf8",
      timeout: 20_000,
      ...(process.getuid!() === 0 ? { uid: nobody } : {}),
    });

  const [started, listed, added] = [run(), run("key", "list"), run("key", "new")];

  for (const name of ["cert", "key", "keys"])
    assert.match(started.stderr, new RegExp(`closed/${name} cannot be read \\(EACCES\\)\\. Name`));
  assert.equal(started.status, 78, started.stderr);
  assert.match(listed.stderr, /closed\/keys cannot be read \(EACCES\)/);
  assert.equal(listed.status, 78);
  assert.match(added.stderr, /closed\/keys\.new cannot be created \(EACCES\)\. Give this process/);
  assert.equal(added.status, 1);
});
