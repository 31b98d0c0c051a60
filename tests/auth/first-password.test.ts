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
import { passwordFileOf } from "../../src/service/system/password-file.ts";
import { command } from "../harness/command.ts";
import { basicHeader, serve } from "../harness/serve.ts";
import { startService } from "../harness/service-process.ts";

// On SQLite alone: the file of the password is beside the file of the database.

const day = 86_400;
const drawn = { LATCHKEY_ADMIN_PASSWORD: "" };

for (const workers of ["1", "2"])
  test(`where the output is no terminal, the first password goes into a file of its owner's alone (workers: ${workers})`, async () => {
    await using service = await startService({ ...drawn, LATCHKEY_LOG: "debug", LATCHKEY_WORKERS: workers });
    const file = path.join(path.dirname(service.file), "latchkey.password");

    const password = readFileSync(file, "utf8").trimEnd();

    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.match(password, /^[\w-]{20}$/);
    assert.ok(service.said().includes(`password in ${file} (good until `), service.said());
    const answer = await fetch(`${service.address}/protected/`, { headers: basicHeader("admin", password) });
    assert.equal(answer.status, 200);
    assert.equal(service.said().includes(password), false);
    assert.deepEqual(
      readdirSync(path.dirname(file)).filter((name) => name.startsWith("latchkey.password")),
      ["latchkey.password"],
    );
  });

test("on a terminal the first password is shown, and no file is made", async (t) => {
  const folder = folderOf(t);
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
  // What ends the terminal ends the service.
  child.stdin.write("\u0003");
  child.stdout.resume();
  await once(child, "exit");

  assert.equal(answer.status, 200, said);
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith("latchkey.password")),
    [],
  );
});

test("a drawn password that nobody used is good for seven days, and is wrong after them like every other", async (t) => {
  const api = await serve(t, { settings: drawn });
  const login = { username: "admin", password: passwordOf(api.service) };

  api.clock.turn(7 * day);
  const late = await api.post("/api/token/", login);
  const wrong = await api.post("/api/token/", { ...login, password: "wrong password" });

  assert.equal(late.status, 401);
  assert.deepEqual({ ...late.json, request_id: "" }, { ...wrong.json, request_id: "" });
});

test("a drawn password that was used once, by whatever login, stays good", async (t) => {
  for (const use of ["token", "basic"]) {
    const api = await serve(t, { settings: drawn });
    const password = passwordOf(api.service);
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

test("another password in place of an unused one has no end", async (t) => {
  const api = await serve(t, { settings: { ...drawn, LATCHKEY_DATABASE: `sqlite:${folderOf(t)}/a.db` } });
  const proof = { current_password: passwordOf(api.service) };
  const before = basicHeader("admin", proof.current_password);

  assert.equal((await api.patch("/users/1", { password: "one of my own", ...proof }, before)).status, 200);
  api.clock.turn(30 * day);

  assert.equal((await api.get("/protected/", basicHeader("admin", "one of my own"))).status, 200);
});

test("what stands where the file is to be is replaced, and a link leads nobody elsewhere", async (t) => {
  const folder = folderOf(t);
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

test("where the file cannot be made the start ends with the cure, and nobody has a password that cannot be read", async (t) => {
  const folder = folderOf(t);
  const database = path.join(folder, "a.db");
  mkdirSync(path.join(folder, "latchkey.password"));
  for (const file of [path.join(folder, "latchkey.password"), path.join(folder, "no", "latchkey.password")])
    await assert.rejects(start(database, file), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, /cannot be made \((?:EISDIR|ENOENT)\)\..* give LATCHKEY_ADMIN_PASSWORD/);
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

test("of services that start at once one makes the password, and its file has the one that works", async (t) => {
  const folder = folderOf(t);
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

test("the file stands beside the SQLite file, else in the working directory", () => {
  const of = (LATCHKEY_DATABASE: string) =>
    passwordFileOf(readSettings({ LATCHKEY_DATABASE, LATCHKEY_SECRET: "a secret that is known to all of them" }));

  assert.equal(of(`sqlite:${tmpdir()}/some.db`), path.join(tmpdir(), "latchkey.password"));
  assert.equal(of("sqlite:some.db"), path.resolve("latchkey.password"));
  assert.equal(of("sqlite::memory:"), path.resolve("latchkey.password"));
  assert.equal(of("postgres://latchkey@localhost/latchkey"), path.resolve("latchkey.password"));
});

test("the first administrator's e-mail is the username where that is one", async (t) => {
  const api = await serve(t, { settings: { ...drawn, LATCHKEY_ADMIN_USERNAME: "ada@example.com" } });
  const headers = basicHeader("ada@example.com", passwordOf(api.service));

  assert.equal((await api.get("/users/1", headers)).json.email, "ada@example.com");
});

function passwordOf({ firstAdministrator }: Latchkey): string {
  const password = firstAdministrator?.drawn;
  assert.ok(password !== null && password !== undefined && "password" in password);
  return password.password;
}

function folderOf(t: TestContext): string {
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
