import assert from "node:assert/strict";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { placeFor, type Machine } from "../harness/cli.ts";
import { basicHeader } from "../harness/serve.ts";
import { startService } from "../harness/service-process.ts";

/** `pbkdf2_sha256$1000$salt$…` of "correct horse battery", from Django's hasher. */
const django = "pbkdf2_sha256$1000$salt$hHq2CwjSpsUCltVF/ZDe25M5jA5hBHN9+inXRaOGbjU=";

interface Imported {
  readonly imported: number;
  readonly skipped: number;
  readonly refused: readonly { readonly line: number; readonly reasons: readonly string[] }[];
}

function write({ folder }: Machine, name: string, content: string | Uint8Array): string {
  writeFileSync(path.join(folder, name), content);
  return name;
}

test("imports Django's auth_user as CSV with passwords, and reports bad lines with their reasons", async () => {
  using place = placeFor();
  const rows = [
    "id,password,last_login,is_superuser,username,first_name,last_name,email,is_staff,is_active,date_joined",
    `1,${django},2024-01-02 03:04:05.123456+00,t,root,Ro,Ot,root@example.com,t,t,2020-01-01 00:00:00+01`,
    '2,,,f,eve,"Eve,X,eve@example.com,f,t,',
    '3,!unusable,,f,dan,"Dan ""D""","M, N",dan@example.com,f,f,2020-01-01 00:00:00+00',
    "4,plain text,,f,x:y,A,B,no address,f,maybe,2020-02-30",
    `5,${django},,f,ROOT,A,B,other@example.com,f,t,`,
    "6,,,f,fay,F,Y,fay@example.com",
    "",
    `8,${django},,f,staff,,,staff@example.com,t,t,`,
  ];
  const file = write(place, "users.csv", `\uFEFF${rows.join("\r\n")}\r\n`);

  const first = (await place.json(["user", "import", file])) as Imported;
  const second = await place.run(["user", "import", file]);
  const users = (await place.json(["user", "list"])) as Record<string, unknown>[];

  assert.deepEqual([first.imported, first.refused.map(({ line }) => line)], [3, [3, 5, 6, 7]]);
  assert.deepEqual(
    first.refused.map(({ reasons }) => reasons.length),
    [1, 5, 1, 1],
  );
  assert.deepEqual(first.refused[2]!.reasons, ["username: another user has it already."]);
  assert.deepEqual([second.code, second.out], [1, "0 imported, 7 refused.\n"]);
  assert.match(
    second.errors,
    /^line 2: email: another user has it already\. username: another user has it already\.$/m,
  );
  // The command creates the first administrator before the users, as a start of the service does.
  assert.equal(users.shift()!["username"], "admin");
  assert.ok(existsSync(path.join(place.folder, "latchkey.password")));
  assert.deepEqual(users[0], {
    id: users[0]!["id"],
    name: "Ro Ot",
    email: "root@example.com",
    username: "root",
    role: "admin",
    active: true,
    created_at: "2019-12-31T23:00:00.000Z",
    last_login_at: "2024-01-02T03:04:05.123Z",
  });
  assert.deepEqual(
    users.slice(1).map(({ username, name, role, active }) => [username, name, role, active]),
    [
      ["dan", 'Dan "D" M, N', "user", false],
      ["staff", "staff", "user", true],
    ],
  );

  const database = `sqlite:${path.join(place.folder, "latchkey.db")}`;
  await using service = await startService({ LATCHKEY_DATABASE: database });
  const answer = await fetch(`${service.address}/protected/`, {
    headers: basicHeader("root", "correct horse battery"),
  });

  assert.equal(answer.status, 200);
});

test("imports JSON lines and Django's dumpdata, from a file and from standard input", async () => {
  using place = placeFor();
  const entry = (username: string, more: object) => ({
    model: "auth.user",
    pk: 1,
    fields: { username, first_name: "", last_name: "", is_superuser: false, is_active: true, groups: [], ...more },
  });
  const many = Array.from({ length: 1200 }, (_, at) => entry(`many${at}`, { email: `many${at}@example.com` }));
  const dump = [
    { model: "auth.group", pk: 1, fields: { name: "readers" } },
    ...many,
    entry("MANY7", { email: "twice@example.com" }),
    entry("none", {}),
    7,
  ];
  const lines = [
    '{"name":"Jo","email":"jo@example.com","role":"admin"}',
    '{"email":',
    "[]",
    "",
    '{"email":"ki@example.com","active":"perhaps"}',
  ];

  const dumped = (await place.json(["user", "import", write(place, "dump.json", JSON.stringify(dump))])) as Imported;
  const piped = (await place.json(["user", "import", "-", "--staff-is-admin"], lines.join("\n"))) as Imported;
  const broken = await place.run([
    "user",
    "import",
    write(place, "latin.csv", Buffer.from("email,name\nlu@example.com,L\xfc\nmo@example.com,Mo\n", "latin1")),
  ]);

  assert.deepEqual(
    [dumped.imported, dumped.skipped, dumped.refused.map(({ line }) => line)],
    [1200, 1, [1202, 1203, 1204]],
  );
  assert.deepEqual([piped.imported, piped.refused.map(({ line }) => line)], [1, [2, 3, 5]]);
  assert.deepEqual([broken.out, broken.errors], ["1 imported, 1 refused.\n", "line 2: name: It is not UTF-8.\n"]);
});

test("refuses the whole file if it is not a list of users", async () => {
  using place = placeFor();
  const files = [
    write(place, "other.csv", "product,price\nTea,3\n"),
    write(place, "empty.csv", ""),
    "missing.csv",
    write(place, "object.json", "7"),
  ];

  const ended = await Promise.all(
    files.map((file) => place.run(["user", "import", file, ...(file === "object.json" ? ["--format", "json"] : [])])),
  );

  assert.deepEqual(
    ended.map(({ code }) => code),
    [1, 1, 1, 1],
  );
  assert.deepEqual(
    ended.map(({ errors }) => /no column email|is empty|ENOENT|not a JSON array/.exec(errors)?.[0]),
    ["no column email", "is empty", "ENOENT", "not a JSON array"],
  );
  // A refusal of the whole file does not mention that zero users were imported.
  assert.ok(ended.every(({ errors }) => !errors.includes("0 were imported")));
  const folder = await place.run(["user", "import", "."]);
  assert.deepEqual([folder.code, folder.errors], [1, ". is a directory. Name a file.\n"]);
  // A refused command creates neither a database nor the password of a first administrator.
  assert.deepEqual(
    readdirSync(place.folder).filter((name) => name.startsWith("latchkey.")),
    [],
  );
});
