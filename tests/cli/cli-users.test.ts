import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { placeFor } from "../harness/cli.ts";
import { command } from "../harness/command.ts";
import { basicHeader } from "../harness/serve.ts";
import { startService } from "../harness/service-process.ts";

test("creates, lists and changes users by the rules of the service", async () => {
  using place = placeFor();

  const ann = await place.run(
    [
      "user",
      "create",
      "--name",
      "Ann",
      "--email",
      "ann@example.com",
      "--username",
      "ann",
      "--password-stdin",
      "--admin",
    ],
    "correct horse battery\n",
  );
  const bob = (await place.json([
    "user",
    "create",
    "--name",
    "Bob",
    "--email",
    "bob@example.com",
    "--random-password",
  ])) as { id: number; password: string };
  const again = (await place.json([
    "user",
    "create",
    "--name",
    "B",
    "--email",
    "BOB@example.com",
    "--without-password",
  ])) as { error: { code: string; errors: { pointer: string }[] } };
  const weak = await place.run(["user", "password", "ann", "--password-stdin"], "password1\n");
  const [last, promoted] = [
    await place.run(["user", "demote", "ann"]),
    await place.run(["user", "promote", `id:${bob.id}`]),
  ];
  const disabled = (await place.json(["user", "disable", "ann"])) as { active: boolean; role: string };
  const listed = (await place.json(["user", "list"])) as { username: string; role: string; active: boolean }[];

  assert.deepEqual([ann.code, ann.out, ann.errors], [0, "User 1 (ann) was made.\n", ""]);
  assert.match(bob.password, /^[\w-]{20}$/);
  assert.deepEqual([again.error.code, again.error.errors[0]!.pointer], ["taken", "/email"]);
  assert.deepEqual([weak.code, weak.errors.includes("most common")], [1, true]);
  assert.deepEqual(
    [last.code, last.errors],
    [
      1,
      "The last administrator who can log in cannot be deleted, demoted or deactivated. Make another user an administrator first.\n",
    ],
  );
  assert.equal(promoted.code, 0);
  assert.deepEqual([disabled.active, disabled.role], [false, "admin"]);
  assert.deepEqual(
    listed.map(({ username, role, active }) => [username, role, active]),
    [
      ["ann", "admin", false],
      ["bob@example.com", "admin", true],
    ],
  );
});

test("applies changes of a command to a running service immediately", async () => {
  using place = placeFor();
  const settings = { LATCHKEY_DATABASE: `sqlite:${path.join(place.folder, "latchkey.db")}` };
  await using service = await startService(settings);
  const cal = (await place.json([
    "user",
    "create",
    "--name",
    "Cal",
    "--email",
    "cal@example.com",
    "--random-password",
  ])) as { id: number; password: string };
  const json = { "content-type": "application/json" };
  const login = {
    method: "POST",
    headers: json,
    body: JSON.stringify({ username: "cal@example.com", password: cal.password }),
  };
  const { access } = (await (await fetch(`${service.address}/api/token/`, login)).json()) as { access: string };
  const cookie = (await fetch(`${service.address}/api/session/`, login)).headers.getSetCookie()[0]!.split(";")[0]!;
  const { token } = (await place.json(["token", "create", "cal@example.com"])) as { token: string };
  const ask = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(`${service.address}/protected/`, { headers })).status;
  const all = (): Promise<number[]> =>
    Promise.all([{ authorization: `Bearer ${access}` }, { cookie }, { authorization: `Token ${token}` }].map(ask));

  assert.deepEqual(await all(), [200, 200, 200]);
  assert.equal(((await place.json(["session", "list", "cal@example.com"])) as unknown[]).length, 1);

  assert.deepEqual(await place.json(["session", "end", "cal@example.com"]), { id: cal.id, ended: 1 });
  assert.deepEqual(await all(), [401, 401, 200]);

  await place.run(["token", "revoke", "cal@example.com"]);
  assert.deepEqual(await all(), [401, 401, 401]);

  await place.run(["user", "password", "cal@example.com", "--password-stdin"], "another good password");
  assert.deepEqual(await all(), [401, 401, 401]);
  assert.equal(await ask(basicHeader("cal@example.com", "another good password")), 200);
});

test("exits with 2 for wrong usage, 78 for wrong settings, and 0 for help, and leaves no files", async () => {
  using place = placeFor();
  const codes: [readonly string[], number][] = [
    [["--help"], 0],
    [["user", "create", "--help"], 0],
    [["--version"], 0],
    [["user"], 2],
    [["nonsense"], 2],
    [["user", "create", "--name", "A"], 2],
    [["user", "create", "--name", "A", "--email", "a@example.com"], 2],
    [["user", "list"], 78],
    [["key", "list"], 78],
  ];

  const ended = await Promise.all(codes.map(async ([args]) => (await place.run(args)).code));

  assert.deepEqual(
    ended,
    codes.map(([, code]) => code),
  );
  assert.deepEqual(readdirSync(place.folder), []);
});

test("reports an old Node before it loads modules that need a newer one", () => {
  const pretend = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.19.0" } })`;

  for (const args of [[], ["user", "list"]]) {
    const ended = spawnSync(process.execPath, ["--import", `data:text/javascript,${pretend}`, command, ...args], {
      encoding: "utf8",
    });
    assert.deepEqual(
      [ended.status, ended.stdout, ended.stderr],
      [
        1,
        "",
        "Latchkey needs Node 24.12 or newer, and this is 20.19.0. Get it from nodejs.org, or in a project with: npm install --save-dev node@26\n",
      ],
    );
  }
});

test("never reads a username of digits as an id", async () => {
  using place = placeFor();
  await place.run(["user", "import", "-"], "email,username\na@example.com,\nb@example.com,2\n");

  const [byName, byId, unknown] = await Promise.all([
    place.json(["user", "promote", "2"]),
    place.json(["user", "promote", "id:2"]),
    place.run(["user", "promote", "id:77"]),
  ]);

  assert.deepEqual([(byName as { id: number }).id, (byId as { id: number }).id], [3, 2]);
  assert.equal(unknown.code, 1);
});

test("lets a user in immediately after an unlock, while the service runs", async () => {
  const settings = { LATCHKEY_ADMIN_PASSWORD: "first-administrator" };
  using place = placeFor(settings);
  await using service = await startService({
    LATCHKEY_DATABASE: `sqlite:${path.join(place.folder, "latchkey.db")}`,
    ...settings,
  });
  await place.run(
    ["user", "create", "--name", "Ann", "--email", "ann@example.com", "--password-stdin"],
    "correct horse\n",
  );
  const logIn = async (password: string): Promise<number> => {
    const body = JSON.stringify({ username: "ann@example.com", password });
    const headers = { "content-type": "application/json" };
    return (await fetch(`${service.address}/api/token/`, { method: "POST", headers, body })).status;
  };
  for (let turn = 0; turn < 10; turn++) assert.equal(await logIn(`guess ${turn}`), 401);
  assert.equal(await logIn("correct horse"), 429);

  const unlocked = await place.run(["user", "unlock", "ann@example.com"]);

  assert.deepEqual([unlocked.code, unlocked.out], [0, "User 2 (ann@example.com) was unlocked.\n"]);
  assert.equal(await logIn("correct horse"), 200);
});
