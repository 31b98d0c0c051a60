import assert from "node:assert/strict";
import { test } from "node:test";
import { familiesCollection, sessionsCollection } from "../../src/door/auth.ts";
import { serve, type API } from "../harness/serve.ts";

type User = Awaited<ReturnType<API["user"]>>;
type Headers = Readonly<Record<string, string>>;
interface Listed {
  readonly id: string;
  readonly kind: string;
  readonly current: boolean;
}

async function bySession(api: API, { email: username, password }: User, headers: Headers = {}): Promise<Headers> {
  const reply = await api.post("/api/session/", { username, password }, headers);
  assert.equal(reply.status, 201, reply.text);
  return { cookie: reply.headers.get("set-cookie")!.split(";")[0]! };
}

/** Logs in for tokens. Refreshes the tokens once if `used` is true. */
async function byTokens(api: API, { email: username, password }: User, used = true) {
  const first = (await api.post("/api/token/", { username, password })).json;
  const pair = used ? (await api.post("/api/token/refresh/", { refresh: first.refresh })).json : first;
  return { headers: { authorization: `Bearer ${pair.access}` }, refresh: pair.refresh as string };
}

async function lives(api: API, headers: Headers): Promise<boolean> {
  const { status } = await api.get("/protected/", headers);
  assert.ok(status === 200 || status === 401, String(status));
  return status === 200;
}

async function refreshes(api: API, refresh: string): Promise<boolean> {
  return (await api.post("/api/token/refresh/", { refresh })).status === 200;
}

test("lists a token login after its first refresh, with its address and user agent, and ends it without ending other logins", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const path = `/users/${ann.id}/sessions`;
  const unused = await byTokens(api, ann, false);
  assert.equal((await api.get(path, ann.headers)).text, "[]");

  const session = await bySession(api, ann);
  api.clock.turn(1);
  const { email: username, password } = ann;
  const first = (await api.post("/api/token/", { username, password })).json;
  api.clock.turn(60);
  const pair = (await api.post("/api/token/refresh/", { refresh: first.refresh }, { "user-agent": "App/1" })).json;
  const tokens = { authorization: `Bearer ${pair.access}` };
  const listed = (await api.get(path, tokens)).json;

  assert.deepEqual(
    listed.map((each: Listed) => ({ ...each, id: "" })),
    [
      {
        id: "",
        kind: "tokens",
        created_at: "2026-01-31T09:30:01.000Z",
        last_seen_at: "2026-01-31T09:31:01.000Z",
        expires_at: "2026-03-02T09:30:01.000Z",
        address: "127.0.0.1",
        user_agent: "App/1",
        current: true,
      },
      {
        id: "",
        kind: "session",
        created_at: "2026-01-31T09:30:00.000Z",
        last_seen_at: "2026-01-31T09:30:00.000Z",
        expires_at: "2026-02-14T09:30:00.000Z",
        address: "127.0.0.1",
        user_agent: null,
        current: false,
      },
    ],
  );
  assert.equal((await api.delete(`${path}/${listed[0].id}`, api.admin)).status, 204);
  assert.deepEqual([await lives(api, tokens), await refreshes(api, pair.refresh)], [false, false]);
  assert.deepEqual([await lives(api, session), await refreshes(api, unused.refresh)], [true, true]);
  assert.equal((await api.delete(`${path}/${listed[0].id}`, api.admin)).status, 404);
  const bob = await api.user("Bob");
  const hers = (await api.get(path, ann.headers)).json[0].id;
  assert.equal((await api.delete(`/users/${bob.id}/sessions/${hers}`, bob.headers)).status, 404);
  assert.deepEqual(
    api.observed.filter(({ kind }) => kind === "logins_ended").map((each) => ({ ...each, requestId: "" })),
    [{ kind: "logins_ended", requestId: "", userId: ann.id, which: "one", by: 1 }],
  );
});

test("lists a token login until its family expires, even if a refresh token has a longer lifetime", async (t) => {
  const api = await serve(t, {
    settings: {
      LATCHKEY_ACCESS_SECONDS: "60",
      LATCHKEY_REFRESH_SECONDS: "120",
      LATCHKEY_REFRESH_FAMILY_SECONDS: "180",
    },
  });
  const ann = await api.user("Ann");
  const path = `/users/${ann.id}/sessions`;
  const { email: username, password } = ann;
  const first = (await api.post("/api/token/", { username, password })).json;
  api.clock.turn(100);
  const second = (await api.post("/api/token/refresh/", { refresh: first.refresh })).json;
  const ends = async (): Promise<readonly string[]> =>
    (await api.get(path, ann.headers)).json.map(({ expires_at }: { expires_at: string }) => expires_at);

  api.clock.turn(79);
  assert.deepEqual(await ends(), ["2026-01-31T09:33:00.000Z"]);
  api.clock.turn(1);
  assert.deepEqual(await ends(), []);
  assert.equal(await refreshes(api, second.refresh), false);
});

test("ends all logins of a user, also token logins that were never listed", async (t) => {
  const api = await serve(t);
  const [ann, bob] = [await api.user("Ann"), await api.user("Bob")];
  const sessions = [await bySession(api, ann), await bySession(api, ann)];
  const tokens = [await byTokens(api, ann), await byTokens(api, ann, false)];
  const bobs = await byTokens(api, bob);

  assert.equal((await api.delete(`/users/${ann.id}/sessions`, sessions[0])).status, 204);

  for (const headers of [...sessions, ...tokens.map((each) => each.headers)])
    assert.equal(await lives(api, headers), false);
  for (const { refresh } of tokens) assert.equal(await refreshes(api, refresh), false);
  assert.equal(await lives(api, ann.headers), true, "a Basic password belongs to no login");
  assert.equal(await lives(api, bobs.headers), true);
  const again = await byTokens(api, ann);
  assert.deepEqual([await lives(api, again.headers), await lives(api, await bySession(api, ann))], [true, true]);
});

test("ends all logins except the caller's, under every scheme", async (t) => {
  const api = await serve(t, {
    settings: {
      LATCHKEY_SCHEMES: "basic,session,token,bearer,custom-header",
      LATCHKEY_CUSTOM_TOKEN: "a-token-of-thirty-two-characters",
      LATCHKEY_CUSTOM_TOKEN_USERNAME: "admin",
    },
  });
  const ann = await api.user("Ann");
  const token = (await api.post(`/users/${ann.id}/token`, undefined, ann.headers)).json.token;
  const path = `/users/${ann.id}/sessions?except=current`;

  for (const [scheme, isKept] of [
    ["session", true],
    ["used tokens", true],
    ["unused tokens", true],
    ["basic", false],
    ["token", false],
    ["custom-header", false],
  ] as const) {
    const [session, used, unused] = [
      await bySession(api, ann),
      await byTokens(api, ann),
      await byTokens(api, ann, false),
    ];
    const own: Record<typeof scheme, Headers> = {
      session,
      "used tokens": used.headers,
      "unused tokens": unused.headers,
      basic: ann.headers,
      token: { authorization: `Token ${token}` },
      "custom-header": { "x-custom-token": "a-token-of-thirty-two-characters" },
    };
    assert.equal((await api.delete(path, own[scheme])).status, 204, scheme);

    const living = [await lives(api, session), await lives(api, used.headers), await lives(api, unused.headers)];
    const names = ["session", "used tokens", "unused tokens"];
    assert.deepEqual(
      names.filter((_, at) => living[at]),
      isKept ? [scheme] : [],
      scheme,
    );
    assert.equal(await refreshes(api, used.refresh), scheme === "used tokens", scheme);
    assert.equal(await refreshes(api, unused.refresh), scheme === "unused tokens", scheme);
    assert.equal((await api.get(path.split("?")[0]!, ann.headers)).json.length, isKept ? 1 : 0, scheme);
  }
  for (const query of ["?except=all", "?except=", "?except=current&except=current", "?which=current"])
    assert.equal((await api.delete(path.replace(/\?.*/, query), ann.headers)).status, 400, query);
});

test("keeps a token family when its user refreshes it or ends the other logins, and revokes the family at a password change", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  let { headers, refresh } = await byTokens(api, ann, false);
  for (let turn = 0; turn < 3; turn++) {
    const other = await byTokens(api, ann);
    assert.equal((await api.delete(`/users/${ann.id}/sessions?except=current`, headers)).status, 204);
    assert.equal(await refreshes(api, other.refresh), false);
    const next = await api.post("/api/token/refresh/", { refresh });
    assert.equal(next.status, 200, next.text);
    headers = { authorization: `Bearer ${next.json.access}` };
    refresh = next.json.refresh;
    assert.equal(await lives(api, headers), true);
  }

  const change = { password: "another password of Ann", current_password: ann.password };
  assert.equal((await api.patch(`/users/${ann.id}`, change, ann.headers)).status, 200);

  assert.deepEqual([await lives(api, headers), await refreshes(api, refresh)], [false, false]);
});

test("lists sessions and token logins together in pages, forwards and backwards", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  for (let turn = 0; turn < 4; turn++) {
    await bySession(api, ann);
    await byTokens(api, ann);
    if (turn % 2 === 0) api.clock.turn(1);
  }
  const path = `/users/${ann.id}/sessions`;
  const all = (await api.get(path, ann.headers)).json.map(({ id }: Listed) => id);
  assert.equal(all.length, 8);

  const seen: string[] = [];
  let page = await api.get(`${path}?limit=3`, ann.headers);
  assert.equal(findLink(page, "prev"), undefined);
  for (;;) {
    seen.push(...page.json.map(({ id }: Listed) => id));
    const next = findLink(page, "next");
    if (next === undefined) break;
    page = await api.get(next, ann.headers);
  }
  assert.deepEqual(seen, all);
  const back: string[] = [];
  for (let link = findLink(page, "prev"); link !== undefined; link = findLink(page, "prev")) {
    page = await api.get(link, ann.headers);
    back.unshift(...page.json.map(({ id }: Listed) => id));
  }
  assert.deepEqual(back, all.slice(0, 6));
  assert.ok(findLink(page, "next"));
  assert.equal(findLink(page, "first"), `${path}?limit=3`);

  const cursor = findLink(page, "next")!;
  for (const query of ["?limit=0", "?limit=1001", "?cursor=x", "?sort=id", "?limit=1&limit=2", "?name=x"])
    assert.equal((await api.get(path + query, ann.headers)).status, 400, query);
  const bob = await api.user("Bob");
  assert.equal((await api.get(cursor.replace(path, `/users/${bob.id}/sessions`), bob.headers)).status, 400);
});

function findLink({ headers }: { headers: globalThis.Headers }, rel: string): string | undefined {
  return new RegExp(`<([^>]+)>; rel="${rel}"`).exec(headers.get("link")!)?.[1];
}

test("links to no previous page if its logins have ended, and binds a cursor to its caller and its user", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  for (let login = 0; login < 3; login++) {
    api.clock.turn(1);
    await bySession(api, ann);
  }
  const path = `/users/${ann.id}/sessions`;
  const first = await api.get(`${path}?limit=1`, ann.headers);
  const next = findLink(first, "next")!;
  assert.ok(findLink(await api.get(next, ann.headers), "prev"));

  assert.equal((await api.get(next, api.admin)).status, 400);
  const ofAdmin = findLink(await api.get(`${path}?limit=1`, api.admin), "next")!;
  assert.equal((await api.get(ofAdmin, api.admin)).status, 200);
  assert.equal((await api.get(ofAdmin, ann.headers)).status, 400);
  assert.equal((await api.get(ofAdmin.replace(path, "/users/1/sessions"), api.admin)).status, 400);

  assert.equal((await api.delete(`${path}/${first.json[0].id}`, ann.headers)).status, 204);
  const page = await api.get(next, ann.headers);
  assert.deepEqual([page.status, page.json.length, findLink(page, "prev")], [200, 1, undefined]);
});

test("links to no next page if its logins have ended, also from a page that was reached backwards", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  for (let login = 0; login < 3; login++) {
    api.clock.turn(1);
    await bySession(api, ann);
  }
  const path = `/users/${ann.id}/sessions`;
  const [first, ...later]: Listed[] = (await api.get(path, ann.headers)).json;
  const second = await api.get(findLink(await api.get(`${path}?limit=1`, ann.headers), "next")!, ann.headers);
  const back = findLink(second, "prev")!;
  assert.ok(findLink(await api.get(back, ann.headers), "next"));

  for (const { id } of later) assert.equal((await api.delete(`${path}/${id}`, ann.headers)).status, 204);
  const page = await api.get(back, ann.headers);
  assert.deepEqual([page.status, page.json.map(({ id }: Listed) => id)], [200, [first!.id]]);
  assert.deepEqual([findLink(page, "prev"), findLink(page, "next")], [undefined, undefined]);
});

test("keeps at most a hundred sessions of a user, also for concurrent logins, and ends the oldest", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const first = await bySession(api, ann);
  api.clock.turn(1);
  await Promise.all(Array.from({ length: 64 }, () => bySession(api, ann)));
  api.clock.turn(1);
  const rest = await Promise.all(Array.from({ length: 45 }, () => bySession(api, ann)));

  assert.equal(await api.service.store.count(sessionsCollection, null), 100);
  assert.equal(await lives(api, first), false);
  assert.deepEqual(new Set(await Promise.all(rest.map((each) => lives(api, each)))), new Set([true]));
});

test("keeps at most a hundred refreshed token families of a user, and deletes the oldest", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const first = await byTokens(api, ann);
  api.clock.turn(1);

  const rest = await Promise.all(Array.from({ length: 60 }, () => byTokens(api, ann)));
  await Promise.all(Array.from({ length: 44 }, () => byTokens(api, ann)));

  assert.equal(await api.service.store.count(familiesCollection, null), 100);
  assert.equal(await refreshes(api, first.refresh), false);
  assert.ok((await Promise.all(rest.map(({ refresh }) => refreshes(api, refresh)))).filter(Boolean).length >= 55);
});

test("ends the browser's previous session at a login, but not at a failed one", async (t) => {
  const api = await serve(t);
  const [ann, bob] = [await api.user("Ann"), await api.user("Bob")];
  const before = await bySession(api, ann);
  const elsewhere = await bySession(api, ann);

  await api.post("/api/session/", { username: ann.email, password: "wrong password" }, before);
  assert.equal(await lives(api, before), true);
  const after = await bySession(api, bob, before);

  assert.deepEqual(
    [await lives(api, before), await lives(api, elsewhere), await lives(api, after)],
    [false, true, true],
  );
});

test("revokes the tokens in a browser's cookies when that browser logs in for cookies again, and no other tokens", async (t) => {
  const api = await serve(t);
  const { email: username, password } = await api.user("Ann");
  const login = async (headers: Headers = {}) => {
    const reply = await api.post("/api/token/", { username, password, cookie: true }, headers);
    assert.equal(reply.status, 200, reply.text);
    return {
      cookie: reply.headers
        .getSetCookie()
        .map((each) => each.split(";")[0]!)
        .join("; "),
    };
  };
  const [before, elsewhere] = [await login(), await login()];

  const after = await login(before);
  await login({ cookie: "refresh_token=nonsense" });

  assert.deepEqual(
    [await lives(api, before), await lives(api, elsewhere), await lives(api, after)],
    [false, true, true],
  );
});
