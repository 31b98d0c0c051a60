import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  lstatSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { createLatchkey, type Latchkey } from "../../src/service/latchkey.ts";
import { ConfigError, readSettings } from "../../src/service/settings/settings.ts";
import { resolvePasswordFile } from "../../src/service/users/password-file.ts";
import { command } from "../harness/command.ts";
import { basicHeader, serve } from "../harness/serve.ts";
import { startService } from "../harness/service-process.ts";

// On SQLite alone: the password file is next to the database file.

const day = 86_400;
const drawn = { LATCHKEY_ADMIN_PASSWORD: "" };

for (const workers of ["1", "2"])
  test(`writes the first password into a private file if the output is not a terminal (workers: ${workers})`, async () => {
    await using service = await startService({ ...drawn, LATCHKEY_LOG: "debug", LATCHKEY_WORKERS: workers });
    const file = path.join(path.dirname(service.file), "latchkey.password");

    const password = readFileSync(file, "utf8").trimEnd();

    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.match(password, /^[\w-]{20}$/);
    assert.ok(service.said().includes(`password in ${file} (valid until `), service.said());
    const answer = await fetch(`${service.address}/protected/`, { headers: basicHeader("admin", password) });
    assert.equal(answer.status, 200);
    assert.equal(service.said().includes(password), false);
    assert.deepEqual(
      readdirSync(path.dirname(file)).filter((name) => name.startsWith("latchkey.password")),
      ["latchkey.password"],
    );
  });

test("shows the first password on a terminal, and creates no file", async (t) => {
  const folder = createFolder(t);
  const service = `'${process.execPath}' '${command}'`;
  const args = process.platform === "linux" ? ["-qec", service, "/dev/null"] : ["-q", "/dev/null", "sh", "-c", service];
  const child = spawn("/usr/bin/script", args, {
    cwd: folder,
    env: { ...process.env, LATCHKEY_PORT: "0", LATCHKEY_LOG: "silent" },
    stdio: ["pipe", "pipe", "inherit"],
  });

  let said = "";
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    said += String(chunk);
    if (said.includes("Try it:")) break;
  }
  const address = /http:\/\/[\d.:]+/.exec(said)![0];
  const password = /password: ([\w-]{20}) \(shown only now/.exec(said)?.[1] ?? "";
  const answer = await fetch(`${address}/protected/`, { headers: basicHeader("admin", password) });
  // Sends Ctrl+C, so that the terminal ends the service.
  child.stdin.write("\u0003");
  child.stdout.resume();
  await once(child, "exit");

  assert.equal(answer.status, 200, said);
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith("latchkey.password")),
    [],
  );
});

test("accepts an unused generated password for seven days, and then treats it like a wrong password", async (t) => {
  const api = await serve(t, { settings: drawn });
  const login = { username: "admin", password: requirePassword(api.service) };

  api.clock.turn(7 * day);
  const late = await api.post("/api/token/", login);
  const wrong = await api.post("/api/token/", { ...login, password: "wrong password" });

  assert.equal(late.status, 401);
  assert.deepEqual({ ...late.json, request_id: "" }, { ...wrong.json, request_id: "" });
});

test("keeps a generated password valid after its first use, in any kind of login", async (t) => {
  for (const use of ["token", "basic"]) {
    const api = await serve(t, { settings: drawn });
    const password = requirePassword(api.service);
    const basic = basicHeader("admin", password);
    api.clock.turn(7 * day - 1);

    const used =
      use === "basic"
        ? await api.get("/protected/", basic)
        : await api.post("/api/token/", { username: "admin", password });
    api.clock.turn(30 * day);

    assert.equal(used.status, 200);
    assert.equal((await api.get("/protected/", basic)).status, 200, use);
  }
});

test("sets no expiry for a password that replaces an unused generated password", async (t) => {
  const api = await serve(t, { settings: { ...drawn, LATCHKEY_DATABASE: `sqlite:${createFolder(t)}/a.db` } });
  const proof = { current_password: requirePassword(api.service) };
  const before = basicHeader("admin", proof.current_password);

  assert.equal((await api.patch("/users/1", { password: "one of my own", ...proof }, before)).status, 200);
  api.clock.turn(30 * day);

  assert.equal((await api.get("/protected/", basicHeader("admin", "one of my own"))).status, 200);
});

test("replaces an existing password file, and follows no link", async (t) => {
  const folder = createFolder(t);
  const file = path.join(folder, "latchkey.password");
  const elsewhere = path.join(folder, "elsewhere");
  writeFileSync(elsewhere, "as it was");
  for (const put of [() => symlinkSync(elsewhere, file), () => writeFileSync(file, "old", { mode: 0o644 })]) {
    rmSync(file, { force: true });
    put();

    const service = await start(`${folder}/${Math.random()}.db`, file);

    assert.deepEqual(Object.keys(service.firstAdministrator?.drawn ?? {}), ["file", "until"]);
    assert.equal(lstatSync(file).isFile(), true);
    assert.equal(lstatSync(file).mode & 0o777, 0o600);
    assert.match(readFileSync(file, "utf8"), /^[\w-]{20}\n$/);
    assert.equal(readFileSync(elsewhere, "utf8"), "as it was");
    await service.close();
  }
});

test("refuses to start if the password file cannot be written, names the remedy, and sets no password", async (t) => {
  const folder = createFolder(t);
  const database = path.join(folder, "a.db");
  mkdirSync(path.join(folder, "latchkey.password"));
  for (const file of [path.join(folder, "latchkey.password"), path.join(folder, "no", "latchkey.password")])
    await assert.rejects(start(database, file), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, /cannot be created \((?:EISDIR|ENOENT)\)\..* set LATCHKEY_ADMIN_PASSWORD/);
      return true;
    });

  const good = path.join(folder, "good");
  const service = await start(database, good);
  await service.close();

  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith("latchkey.password") || name.startsWith("good")),
    ["good", "latchkey.password"],
  );
});

test("creates one password when several services start together, and writes that password into the file", async (t) => {
  const folder = createFolder(t);
  const file = path.join(folder, "latchkey.password");

  const services = await Promise.all([1, 2, 3].map(() => start(path.join(folder, "a.db"), file)));
  const headers = basicHeader("admin", readFileSync(file, "utf8").trim());
  const answer = await services[0]!.fetch(new Request("http://127.0.0.1/protected/", { headers }), {
    peer: "127.0.0.1",
  });

  assert.equal(services.filter(({ firstAdministrator }) => firstAdministrator !== null).length, 1);
  assert.equal(answer.status, 200);
  assert.equal(readdirSync(folder).filter((name) => name.startsWith("latchkey.password")).length, 1);
  for (const service of services) await service.close();
});

test("puts the password file next to the SQLite file, or into the working directory", () => {
  const of = (LATCHKEY_DATABASE: string) =>
    resolvePasswordFile(readSettings({ LATCHKEY_DATABASE, LATCHKEY_SECRET: "a secret that is known to all of them" }));

  assert.equal(of(`sqlite:${tmpdir()}/some.db`), path.join(tmpdir(), "latchkey.password"));
  assert.equal(of("sqlite:some.db"), path.resolve("latchkey.password"));
  assert.equal(of("sqlite::memory:"), path.resolve("latchkey.password"));
  assert.equal(of("postgres://latchkey@localhost/latchkey"), path.resolve("latchkey.password"));
});

test("uses the first administrator's username also as the e-mail address if it is a valid address", async (t) => {
  const api = await serve(t, { settings: { ...drawn, LATCHKEY_ADMIN_USERNAME: "ada@example.com" } });
  const headers = basicHeader("ada@example.com", requirePassword(api.service));

  assert.equal((await api.get("/users/1", headers)).json.email, "ada@example.com");
});

function requirePassword({ firstAdministrator }: Latchkey): string {
  const password = firstAdministrator?.drawn;
  assert.ok(password !== null && password !== undefined && "password" in password);
  return password.password;
}

function createFolder(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-first-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function start(database: string, passwordFile: string): Promise<Latchkey> {
  const settings = readSettings({
    LATCHKEY_DATABASE: `sqlite:${database}`,
    LATCHKEY_SECRET: "a secret that is known to all of them",
  });
  return createLatchkey({ settings, passwordFile });
}
