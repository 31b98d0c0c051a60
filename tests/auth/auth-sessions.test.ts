import assert from "node:assert/strict";
import { test } from "node:test";
import { serve, type API } from "../harness/serve.ts";

type User = Awaited<ReturnType<API["user"]>>;

async function logIn(
  api: API,
  { email: username, password }: User,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ cookie: string }> {
  const reply = await api.post("/api/session/", { username, password }, headers);
  assert.equal(reply.status, 201, reply.text);
  return { cookie: reply.headers.get("set-cookie")!.split(";")[0]! };
}

const requestStatus = async (api: API, headers: Readonly<Record<string, string>>) =>
  (await api.get("/protected/", headers)).status;

test("answers each login with the user and a new session id, regardless of the sent cookie", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");

  const reply = await api.post("/api/session/", { username: ann.email, password: ann.password });
  assert.equal(reply.status, 201);
  assert.deepEqual(reply.json, {
    user: { id: ann.id, name: "Ann", email: ann.email },
    expires_at: "2026-02-14T09:30:00.000Z",
  });
  assert.equal(reply.headers.get("cache-control"), "no-store");

  const fixed = { cookie: `session=${"A".repeat(43)}` };
  const [one, other] = [await logIn(api, ann, fixed), await logIn(api, ann)];
  assert.notEqual(one.cookie, other.cookie);
  assert.notEqual(one.cookie, fixed.cookie);
  assert.match(one.cookie, /^session=[\w-]{43}$/);
  assert.equal(await requestStatus(api, fixed), 401);
});

test("shows the logged-in user under any scheme", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const pair = (await api.post("/api/token/", { username: ann.email, password: ann.password })).json;
  const { token } = (await api.post("/api-token-auth/", { username: ann.email, password: ann.password })).json;
  const [in14Days, in5Minutes] = ["2026-02-14T09:30:00.000Z", "2026-01-31T09:35:00.000Z"];
  const proved = { amr: ["pwd"], level: 1, auth_time: "2026-01-31T09:30:00.000Z" };
  const ofProgram = { amr: [], level: null, auth_time: null };
  const rows = [
    { scheme: "basic", headers: ann.headers, expires_at: null, ...proved },
    { scheme: "session", headers: await logIn(api, ann), expires_at: in14Days, ...proved },
    { scheme: "token", headers: { authorization: `Token ${token}` }, expires_at: null, ...ofProgram },
    { scheme: "bearer", headers: { authorization: `Bearer ${pair.access}` }, expires_at: in5Minutes, ...proved },
    { scheme: "bearer", headers: { cookie: `access_token=${pair.access}` }, expires_at: in5Minutes, ...proved },
  ];

  for (const { scheme, headers, expires_at, amr, level, auth_time } of rows) {
    const who = await api.get("/api/session/", headers);
    assert.deepEqual(who.json, {
      user: { id: ann.id, name: "Ann", email: ann.email },
      username: ann.email,
      role: "user",
      scheme,
      expires_at,
      amr,
      level,
      auth_time,
    });
    const greeting = await api.get("/protected/", headers);
    assert.deepEqual(Object.keys(greeting.json), ["message", "user", "username", "scheme"]);
    assert.deepEqual(
      [greeting.json.user.id, greeting.json.username, greeting.json.scheme],
      [ann.id, ann.email, scheme],
    );
    assert.equal((await api.ask("HEAD", "/protected", { headers })).status, 200);
  }
  const none = await api.get("/api/session");
  assert.deepEqual([none.status, none.json.code], [401, "not_authenticated"]);
});

test("ends a session that is idle for too long, and a used session at the end of its maximum lifetime", async (t) => {
  const api = await serve(t, { settings: { LATCHKEY_SESSION_IDLE_SECONDS: "100", LATCHKEY_SESSION_SECONDS: "250" } });
  const ann = await api.user("Ann");
  const [used, idle] = [await logIn(api, ann), await logIn(api, ann)];

  for (const seconds of [80, 80, 80]) {
    api.clock.turn(seconds);
    assert.equal(await requestStatus(api, used), 200);
    await new Promise((resolve) => setTimeout(resolve, 20)); // the last use is written after the response
  }
  assert.equal(await requestStatus(api, idle), 401);
  assert.equal((await api.get(`/users/${ann.id}/sessions`, ann.headers)).json.length, 1);
  api.clock.turn(9);
  assert.equal(await requestStatus(api, used), 200);
  api.clock.turn(1);
  const ended = await api.get("/protected/", used);
  assert.deepEqual([ended.status, ended.json.code], [401, "invalid_token"]);
  assert.equal((await api.get(`/users/${ann.id}/sessions`, ann.headers)).text, "[]");
});

test("lists the caller's sessions and ends one or all, but not another user's", async (t) => {
  const api = await serve(t);
  const [ann, bob] = [await api.user("Ann"), await api.user("Bob")];
  const here = await logIn(api, ann, { "user-agent": "Browser/1" });
  api.clock.turn(5);
  const there = await logIn(api, ann, { "user-agent": "x".repeat(2000) });
  const bobs = await logIn(api, bob);
  const path = `/users/${ann.id}/sessions`;

  const listed = await api.get(path, here);
  assert.equal(listed.status, 200);
  assert.equal(listed.headers.get("cache-control"), "no-store");
  assert.equal(listed.json.length, 2);
  for (const each of listed.json)
    assert.deepEqual(Object.keys(each), [
      "id",
      "kind",
      "created_at",
      "last_seen_at",
      "expires_at",
      "address",
      "user_agent",
      "current",
    ]);
  assert.deepEqual(
    listed.json.map(({ current }: { current: boolean }) => current),
    [false, true],
  );
  const [newer, older] = listed.json;
  assert.deepEqual(
    [older.user_agent, older.address, older.created_at, older.expires_at],
    ["Browser/1", "127.0.0.1", "2026-01-31T09:30:00.000Z", "2026-02-14T09:30:00.000Z"],
  );
  assert.ok(!listed.text.includes(here.cookie.slice(8)));
  assert.deepEqual(
    (await api.get(path, api.admin)).json.map(({ current }: { current: boolean }) => current),
    [false, false],
  );

  for (const [method, target] of [
    ["GET", path],
    ["DELETE", path],
    ["DELETE", `${path}/${newer.id}`],
  ] as const) {
    assert.equal((await api.ask(method, target, { headers: bob.headers })).status, 403);
    assert.equal((await api.ask(method, target)).status, 401);
  }
  // The path names Ann, so it has no session of Bob, not even for an administrator.
  const bobsId = (await api.get(`/users/${bob.id}/sessions`, bobs)).json[0].id;
  assert.equal((await api.delete(`${path}/${bobsId}`, here)).status, 404);
  assert.equal((await api.delete(`${path}/${bobsId}`, api.admin)).status, 404);
  assert.equal(await requestStatus(api, bobs), 200);

  assert.equal((await api.delete(`${path}/${newer.id}`, here)).status, 204);
  assert.equal((await api.delete(`${path}/${newer.id}`, here)).status, 404);
  assert.deepEqual([await requestStatus(api, here), await requestStatus(api, there)], [200, 401]);
  const gone = await api.delete(`${path}/`, here);
  assert.deepEqual([gone.status, gone.text], [204, ""]);
  assert.equal(await requestStatus(api, here), 401);
  assert.equal(await requestStatus(api, bobs), 200);
  assert.equal((await api.get("/users/999/sessions", api.admin)).status, 404);
  assert.equal((await api.get("/users/999/sessions", ann.headers)).status, 403);
});

test("clears the cookie at logout, with or without a session", async (t) => {
  const api = await serve(t);
  const mine = await logIn(api, await api.user("Ann"));

  for (const headers of [mine, mine, { cookie: "session=x" }, {}, { authorization: "Bearer x" }]) {
    const reply = await api.delete("/api/session/", headers);
    assert.deepEqual([reply.status, reply.text], [204, ""]);
    assert.match(reply.headers.get("set-cookie")!, /^session=; Max-Age=0; /);
  }
  assert.equal(await requestStatus(api, mine), 401);
});

test("reads a login in XML, and answers in XML", async (t) => {
  const api = await serve(t);
  const { email, password } = await api.user("Ann");

  const reply = await api.post(
    "/api/session/",
    `<credentials><username>${email}</username><password>${password}</password></credentials>`,
    { "content-type": "application/xml", accept: "application/xml" },
  );

  assert.equal(reply.status, 201, reply.text);
  assert.match(reply.text, /<session><user><id>2<\/id>/);
});
