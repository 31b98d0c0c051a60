import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import { command } from "./command.ts";
const nobody = 65_534;

function place(t: TestContext): { readonly folder: string; readonly file: string } {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-unusable-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, file: path.join(folder, "latchkey.db") };
}

/** What is wrong with a file for somebody who is not root. */
function problemsOf(file: string): readonly string[] {
  const module = pathToFileURL(path.join(import.meta.dirname, "../src/service/settings/files.ts")).href;
  const program = `
    const { checkDatabaseFile } = await import(${JSON.stringify(module)});
    if (process.getuid() === 0) process.setuid(${nobody});
    console.log(JSON.stringify(checkDatabaseFile("LATCHKEY_DATABASE", ${JSON.stringify(file)})));
  `;
  const said = execFileSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });
  return JSON.parse(said) as string[];
}

test("a database, its log or its folder that may not be written is told with its path and the cure", (t) => {
  const { folder, file } = place(t);
  if (process.getuid!() === 0) chownSync(folder, nobody, nobody);
  assert.deepEqual(problemsOf(file), []);

  for (const name of [file, `${file}-wal`]) {
    writeFileSync(name, "");
    chmodSync(name, 0o400);
  }
  const [closed, log] = problemsOf(file);
  chmodSync(folder, 0o500);
  const all = problemsOf(file);

  assert.match(closed!, /^LATCHKEY_DATABASE: user \d+ may not read and write \S+\/latchkey\.db\. Give it to them/);
  assert.match(log!, /latchkey\.db-wal\./);
  assert.equal(all.length, 3);
  assert.ok(all[0]!.includes(`${folder}.`));
});

test("a file that is no database ends the start with 78, and is as it was", (t) => {
  const { folder, file } = place(t);
  writeFileSync(file, "no database ".repeat(1000));

  const ended = spawnSync(process.execPath, [command], {
    cwd: folder,
    env: { ...process.env, LATCHKEY_PORT: "0", LATCHKEY_DATABASE: `sqlite:${file}` },
    encoding: "utf8",
  });

  assert.equal(ended.status, 78);
  assert.match(ended.stderr, /LATCHKEY_DATABASE: \S+latchkey\.db is no SQLite database\. Name another file/);
});

test("a start that finds a secret and no database says so, and a first one does not", async (t) => {
  const { folder, file } = place(t);
  const first = await errorsOfStart(folder);
  for (const suffix of ["", "-wal", "-shm"]) rmSync(file + suffix, { force: true });

  const second = await errorsOfStart(folder);

  assert.equal(first, "");
  assert.ok(second.startsWith(`There is a secret (${path.join(folder, "latchkey.secret")}) and no database`), second);
  assert.ok(second.includes(file));
  assert.equal(await errorsOfStart(folder), "");
});

test("a start that finds a database somebody has used and no secret makes none, and ends with 78", async (t) => {
  const { folder, file } = place(t);
  await errorsOfStart(folder);
  const secret = path.join(folder, "latchkey.secret");
  renameSync(secret, `${secret}.away`);

  for (const args of [[], ["user", "list"]]) {
    const ended = spawnSync(process.execPath, [command, ...args], {
      cwd: folder,
      env: { ...process.env, LATCHKEY_PORT: "0" },
      encoding: "utf8",
      // One that serves would not end.
      timeout: 10_000,
    });
    assert.equal(ended.status, 78, ended.stderr);
    assert.ok(ended.stderr.includes(`${file} holds accounts, and their secret is not there: ${secret}`), ended.stderr);
    assert.match(ended.stderr, /openssl rand -base64 48 > /);
    assert.equal(existsSync(secret), false);
  }

  renameSync(`${secret}.away`, secret);
  assert.equal(await errorsOfStart(folder), "");
});

test("a database that was made and has no account yet gets its secret at the first start", async (t) => {
  const { folder } = place(t);
  const made = spawnSync(process.execPath, [command, "db", "migrate"], { cwd: folder, encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);

  assert.equal(await errorsOfStart(folder), "");
  assert.ok(existsSync(path.join(folder, "latchkey.secret")));
});

/** What a start has said on standard error by the time it serves. */
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
