import assert from "node:assert/strict";
import test from "node:test";
import { accountsCollection } from "../../src/features/auth/records/accounts.ts";
import { basicHeader, serve } from "../harness/serve.ts";

const good = { name: "Ann", email: "ann@example.com" };
const longMailbox = `${"a".repeat(64)}@${`${"b".repeat(61)}.`.repeat(3)}ccc`;

test("reports an invalid field by its pointer and a code, and stores nothing", async (t) => {
  const api = await serve(t);
  const rows: readonly (readonly [body: object, pointer: string, code: string])[] = [
    [{ email: "a@example.com" }, "/name", "required"],
    [{ name: "x" }, "/email", "required"],
    [{ ...good, name: null }, "/name", "invalid"],
    [{ ...good, name: 5 }, "/name", "invalid"],
    [{ ...good, name: ["x"] }, "/name", "invalid"],
    [{ ...good, name: "" }, "/name", "too_short"],
    [{ ...good, name: "  \u00a0\u3000 " }, "/name", "too_short"],
    [{ ...good, name: "x".repeat(201) }, "/name", "too_long"],
    [{ ...good, name: "👩".repeat(201) }, "/name", "too_long"],
    ...["\u0000", "\t", "\n", "\u001f", "\u007f", "\u0080", "\u0085", "\u009f"].flatMap(
      (control): [object, string, string][] => [
        [{ ...good, name: `x${control}y` }, "/name", "invalid"],
        [{ ...good, name: `${control}x` }, "/name", "invalid"],
        [{ ...good, username: `x${control}` }, "/username", "invalid"],
        [{ ...good, password: `long enough${control}` }, "/password", "invalid"],
        [{ ...good, email: `x${control}@example.com` }, "/email", "invalid"],
      ],
    ),
    ...[
      "",
      "ann",
      "@example.com",
      "ann@",
      "a b@example.com",
      "ann@exa mple.com",
      ".a@example.com",
      "a..b@example.com",
      "a@-b.com",
      "a@b..com",
      "a@b.com.",
      "ann @example.com",
      "ann@ example.com",
      "Ann <ann@example.com>",
      // A mail server or a library would send mail for these to another mailbox.
      '" ann"@example.com',
      '"ann\\ "@example.com',
      '"<ann"@example.com',
      '"\\"ann\\""@example.com',
      "a@b@c.com",
      "å@example.com",
      "a@[300.1.1.1]",
      `${"a".repeat(65)}@example.com`,
      `a${longMailbox}`,
    ].map((email): [object, string, string] => [{ ...good, email }, "/email", "invalid"]),
    [{ ...good, username: "" }, "/username", "too_short"],
    [{ ...good, username: "a:b" }, "/username", "invalid"],
    ...["\u200b", "\u200d", "\u202e", "\u00ad", "\u2066", "\u{e0041}", "\u3164", "\u034f", "\ufe0f"].flatMap(
      (invisible): [object, string, string][] => [
        [{ ...good, username: `admin${invisible}` }, "/username", "invalid"],
        [{ ...good, username: `${invisible}ad${invisible}min` }, "/username", "invalid"],
      ],
    ),
    [{ ...good, username: "x".repeat(151) }, "/username", "too_long"],
    [{ ...good, username: null }, "/username", "invalid"],
    [{ ...good, password: "short" }, "/password", "too_short"],
    [{ ...good, password: "👩👩👩👩" }, "/password", "too_short"],
    [{ ...good, password: "x".repeat(257) }, "/password", "too_long"],
    [{ ...good, password: "password1" }, "/password", "too_common"],
    [{ ...good, username: "ann", password: "ANN@example.com" }, "/password", "same_as_email"],
    [{ ...good, username: "ann the great", password: "Ann the Great" }, "/password", "same_as_username"],
    [{ ...good, role: "admin" }, "/role", "unknown_field"],
    [{ ...good, constructor: 1 }, "/constructor", "unknown_field"],
    [JSON.parse('{"__proto__":{"name":"x"},"email":"a@example.com"}') as object, "/__proto__", "unknown_field"],
    [{ ...good, id: 7 }, "/id", "read_only"],
    [{ ...good, id: null }, "/id", "read_only"],
  ];

  for (const [body, pointer, code] of rows) {
    const answer = await api.post("/users", body, api.admin);
    assert.equal(answer.status, 400, `${JSON.stringify(body)}: ${answer.text}`);
    assert.ok(
      answer.json.errors.some(
        (each: { pointer: string; code: string }) => each.pointer === pointer && each.code === code,
      ),
      `${JSON.stringify(body)}: ${answer.text}`,
    );
  }
  assert.equal((await api.get("/users", api.admin)).json.length, 1);
});

test("keeps a stored username with an invisible character, and refuses to change another one to it", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const old = "an\u200bn";
  const where = { column: "id", operator: "eq", value: ann.id } as const;
  const change = { kind: "updateAll", collection: accountsCollection, where, values: { username: old } } as const;
  assert.equal((await api.service.store.write({ changes: [change] })).kind, "written");

  const headers = basicHeader(old, ann.password);
  assert.equal((await api.get("/protected/", headers)).json.username, old);
  const account = `/users/${ann.id}/account`;
  const patch = (username: string) =>
    api.ask("PATCH", account, { headers, body: { username, current_password: ann.password } });
  assert.equal((await patch(old)).status, 200);
  assert.equal((await patch("ann\u200b")).json.errors[0].pointer, "/username");
  assert.equal((await patch("josé")).status, 200);
});

test("stores valid values unchanged, except for white space at the ends of names", async (t) => {
  const api = await serve(t);
  const rows: readonly (readonly [body: { name: string; email: string } & Record<string, string>, shown: object])[] = [
    [
      { name: "  Ann \u00a0", email: "Ann.Example@Example.COM" },
      { name: "Ann", email: "Ann.Example@Example.COM" },
    ],
    [
      { name: "👩".repeat(200), email: '"a b"@example.com' },
      { name: "👩".repeat(200), email: '"a b"@example.com' },
    ],
    [
      { name: "<b>&\"'\u2028</b>", email: "a@[127.0.0.1]" },
      { name: "<b>&\"'\u2028</b>", email: "a@[127.0.0.1]" },
    ],
    [
      { name: "x", email: longMailbox, password: "👩".repeat(8) },
      { name: "x", email: longMailbox },
    ],
    [
      { name: "y", email: "a@localhost", username: "u".repeat(150), password: "x".repeat(256) },
      { name: "y", email: "a@localhost" },
    ],
  ];

  for (const [body, shown] of rows) {
    const answer = await api.post("/users", body, api.admin);
    assert.equal(answer.status, 201, answer.text);
    assert.deepEqual(Object.keys(answer.json), ["id", "name", "email"]);
    assert.deepEqual(answer.json, { id: answer.json.id, ...shown });
    assert.deepEqual((await api.get(answer.headers.get("location")!, api.admin)).json, answer.json);
  }
});

test("verifies a password exactly as received, to the last space", async (t) => {
  const api = await serve(t);
  await api.post("/users", { ...good, password: " spaces around " }, api.admin);

  assert.equal((await api.get("/users", basicHeader(good.email, " spaces around "))).status, 200);
  assert.equal((await api.get("/users", basicHeader(good.email, "spaces around"))).status, 401);
});

test("keeps emails and usernames unique, ignoring case", async (t) => {
  const api = await serve(t);
  await api.post("/users", { ...good, username: "Ann" }, api.admin);
  await api.post("/users", { name: "Bob", email: "bob@example.com", username: "cid@example.com" }, api.admin);
  const rows: readonly (readonly [body: object, pointer: string])[] = [
    [{ ...good, email: "ANN@Example.com" }, "/email"],
    [{ ...good, email: "a@example.com", username: "aNN" }, "/username"],
    [{ name: "Cid", email: "Cid@example.com" }, "/username"],
  ];

  for (const [body, pointer] of rows) {
    for (const answer of [await api.post("/users", body, api.admin), await api.put("/users/77", body, api.admin)]) {
      assert.deepEqual(
        [answer.status, answer.json.code, answer.json.errors[0].pointer, answer.json.errors[0].code],
        [409, "taken", pointer, "taken"],
      );
    }
  }
  assert.equal((await api.get("/users", api.admin)).json.length, 3);
  assert.equal(
    (await api.put("/users/2", { name: "Ann", email: "ANN@example.com" }, api.admin)).json.email,
    "ANN@example.com",
  );
});

test("lets one of many concurrent requests take an email", async (t) => {
  const api = await serve(t);

  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, at) =>
      api.post("/users", { name: `n${at}`, email: at % 2 === 0 ? "same@example.com" : "SAME@example.com" }, api.admin),
    ),
  );

  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  assert.equal(answers.filter(({ status, json }) => status === 409 && json.code === "taken").length, 29);
});

test("changes the username together with the email, until the user chooses a username", async (t) => {
  const api = await serve(t);
  await api.post("/users", { ...good, password: "password of ann" }, api.admin);
  const readUsername = async (): Promise<string> => (await api.get("/users/2/account", api.admin)).json.username;

  await api.patch("/users/2", { email: "bea@example.com" }, api.admin);
  const followed = await readUsername();
  await api.put("/users/2", { name: "Ann", email: "cid@example.com", username: "bea@example.com" }, api.admin);
  await api.patch("/users/2", { email: "dan@example.com" }, api.admin);

  assert.equal(followed, "bea@example.com");
  assert.equal(await readUsername(), "bea@example.com");
  assert.equal((await api.get("/users", basicHeader("BEA@example.com", "password of ann"))).status, 200);
});

test("deactivates an account whose username came from its email and would be invalid as a chosen username", async (t) => {
  const api = await serve(t);

  for (const [at, email] of [longMailbox, "ann@[IPv6:::1]"].entries()) {
    assert.equal((await api.post("/users", { name: "x", email }, api.admin)).status, 201);
    const changed = await api.patch(`/users/${at + 2}/account`, { active: false }, api.admin);
    assert.deepEqual([changed.status, changed.json.username, changed.json.active], [200, email, false], changed.text);
    const renamed = await api.patch(`/users/${at + 2}/account`, { username: `x${email}`.slice(0, 254) }, api.admin);
    assert.deepEqual([renamed.status, renamed.json.errors[0].pointer], [400, "/username"]);
  }
});
