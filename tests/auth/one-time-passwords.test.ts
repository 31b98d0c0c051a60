import assert from "node:assert/strict";
import { test } from "node:test";
import { defineEndpoint, defineFeature, problem } from "../../src/door/index.ts";
import type { ConfigFile } from "../../src/service/settings/config-file/config-file.ts";
import { totpCode } from "../../src/testing/testing.ts";
import { addTOTP, readCookies } from "../harness/factors.ts";
import { basicHeader, serve, type API } from "../harness/serve.ts";

const chosen = "quartz lantern 42";

async function newcomer(api: API): Promise<{ readonly id: number; readonly email: string }> {
  const { json } = await api.post("/users", { name: "Ann", email: "ann@example.com" }, api.admin);
  return json;
}

async function drawFor(api: API, id: number): Promise<string> {
  const drawn = await api.post(`/users/${id}/password`, undefined, api.admin);
  assert.equal(drawn.status, 201);
  assert.equal(drawn.headers.get("cache-control"), "no-store");
  return drawn.json.password;
}

const logIn = (api: API, username: string, password: string) => api.post("/api/session/", { username, password });

test("accepts a one-time password for one login, and in that login as the proof for a new password", async (t) => {
  const api = await serve(t);
  const { id, email } = await newcomer(api);
  const password = await drawFor(api, id);

  const first = await logIn(api, email, password);
  const cookie = { cookie: first.headers.getSetCookie()[0]!.split(";")[0]!, "sec-fetch-site": "same-origin" };
  const second = await logIn(api, email, password);
  const asProof = await api.patch(`/users/${id}`, { password: chosen, current_password: password }, cookie);

  assert.deepEqual([first.status, second.status, asProof.status], [201, 401, 200]);
  assert.equal((await logIn(api, email, chosen)).status, 201);
  assert.equal((await logIn(api, email, chosen)).status, 201);
  assert.equal((await logIn(api, email, password)).status, 401);
});

test("accepts one of many concurrent logins with a one-time password, in any kind of login", async (t) => {
  const api = await serve(t);
  const { id, email } = await newcomer(api);
  const password = await drawFor(api, id);
  const paths = ["/api/session/", "/api/token/", "/api-token-auth/"];

  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, at) => api.post(paths[at % paths.length]!, { username: email, password })),
  );

  const lost = answers.filter(({ status }) => status >= 400);
  assert.equal(lost.length, answers.length - 1);
  for (const { status, json, text } of lost) assert.deepEqual([status, json.code], [401, "invalid_credentials"], text);
});

test("refuses a one-time password with Basic, and at a login after seven days", async (t) => {
  const api = await serve(t);
  const { id, email } = await newcomer(api);
  const password = await drawFor(api, id);

  assert.equal((await api.get("/protected/", basicHeader(email, password))).status, 401);
  api.clock.turn(7 * 86_400 + 1);
  assert.equal((await logIn(api, email, password)).status, 401);
});

test("revokes the old password and all logins when a one-time password is made, and shows it in no observation and no account", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const pair = (await api.post("/api/token/", { username: ann.email, password: ann.password })).json;
  const session = await logIn(api, ann.email, ann.password);
  const cookie = { cookie: session.headers.getSetCookie()[0]!.split(";")[0]! };

  const password = await drawFor(api, ann.id);

  assert.equal((await api.get("/protected/", cookie)).status, 401);
  assert.equal((await api.get("/protected/", { authorization: `Bearer ${pair.access}` })).status, 401);
  assert.equal((await api.get("/protected/", ann.headers)).status, 401);
  assert.ok(!JSON.stringify(api.observed).includes(password));
  const stored = JSON.stringify(await api.get(`/users/${ann.id}/account`, api.admin));
  assert.ok(!stored.includes(password));
});

test("lets only administrators with a fresh login create a one-time password, for another active user", async (t) => {
  const api = await serve(t);
  const [ann, ben] = [await api.user("Ann"), await api.user("Ben")];
  const draw = (id: number, headers = api.admin, body?: unknown) => api.post(`/users/${id}/password`, body, headers);
  const { token } = (await api.post("/users/1/token", undefined, api.admin)).json;
  const program = { authorization: `Token ${token}` };

  assert.equal((await draw(ben.id, ann.headers)).status, 403);
  assert.equal((await draw(ann.id, ann.headers)).status, 403);
  assert.equal((await draw(ann.id, {})).status, 401);
  assert.equal((await draw(1)).status, 409);
  assert.equal((await draw(999)).status, 404);
  assert.equal((await draw(ben.id, program)).status, 403);
  assert.equal((await draw(ben.id, program, { current_password: "first-administrator" })).status, 403);
  const { key } = (await api.post("/users/1/keys", { name: "laptop" }, api.admin)).json;
  const byKey = await draw(ben.id, { authorization: `Token ${key}` }, { current_password: "first-administrator" });
  assert.deepEqual([byKey.status, byKey.json.code], [403, "permission_denied"], byKey.text);
  const unread = await draw(ben.id, { authorization: `Token ${key}` }, { wrong: 1 });
  assert.equal(unread.status, 403, unread.text);
  assert.equal((await draw(ben.id, { ...api.admin, "idempotency-key": "12345678" })).status, 400);
  await api.patch(`/users/${ben.id}/account`, { active: false }, api.admin);
  assert.equal((await draw(ben.id)).status, 409);
});

/**
 * Starts logins of several kinds with a one-time password. Returns the names of the logins that wait, with their
 * headers.
 */
async function waiting(api: API, username: string, password: string) {
  const body = { username, password };
  const session = readCookies(await api.post("/api/session/", body));
  const names = [];
  for (const path of ["/api/token/", "/api-token-auth/", "/api/token/"])
    names.push((await api.post(path, body)).json.login.pending);
  return [...names.map((pending) => [{ pending }, {}] as const), [{}, session] as const];
}

for (const together of [false, true])
  test(`uses a one-time password up by the first login that completes${together ? ", of logins at the same time" : ""}`, async (t) => {
    const api = await serve(t);
    const ann = await addTOTP(api, "Ann");
    const logins = await waiting(api, ann.email, await drawFor(api, ann.id));

    const complete = ([pending, headers]: (typeof logins)[number], at: number) =>
      api.post("/api/login/", { ...pending, factor: "recovery", code: ann.recoveryCodes[at] }, headers);
    const answers = [];
    if (together) answers.push(...(await Promise.all(logins.map(complete))));
    else for (const [at, each] of logins.entries()) answers.push(await complete(each, at));

    assert.equal(answers.filter(({ status }) => status < 300).length, 1);
    const lost = answers.filter(({ status }) => status >= 300);
    for (const { status, json, text } of lost) {
      assert.equal(status, 401, text);
      // Only a login that lost the race is told that its answer was refused.
      assert.ok(together || json.code === "login_expired", text);
    }
    const { json } = await api.get(`/users/${ann.id}/factors`, api.admin);
    const codes = json.find(({ kind }: { readonly kind: string }) => kind === "recovery");
    assert.equal(codes.remaining, 9);
  });

test("uses a one-time password up by the first login that adds a factor", async (t) => {
  const api = await serve(t, { settings: { LATCHKEY_SECOND_FACTOR: "everyone" } });
  const username = "ann@example.com";
  const admin = await addTOTPOfAdmin(api);
  const { id } = (await api.post("/users", { name: "Ann", email: username }, admin)).json;
  const { password } = (await api.post(`/users/${id}/password`, undefined, admin)).json;
  const [one, other] = await waiting(api, username, password);
  const add = async ([pending, headers]: NonNullable<typeof one>) => {
    const made = await api.post("/api/login/factors/", { ...pending, kind: "totp" }, headers);
    if (made.status !== 201) return made;
    const code = totpCode(made.json.secret, api.clock.now);
    return api.post("/api/login/", { ...pending, factor: made.json.id, code }, headers);
  };

  assert.equal((await add(one!)).status, 200);
  assert.deepEqual([(await add(other!)).status, (await add(other!)).json.code], [401, "login_expired"]);
});

test("starts no login with a used one-time password, also if code of a third party checked it", async (t) => {
  const features: ConfigFile["features"] = ({ accounts, "session-login": sessions }) => [
    defineFeature({
      name: "own-login",
      needs: [accounts, sessions],
      setUp(host) {
        const { passwords, beginLogin } = host.use(accounts).logins;
        const { begin } = host.use(sessions);
        const endpoint = defineEndpoint({
          method: "POST",
          path: "/own-login",
          access: "open",
          logsIn: true,
          async handle(context) {
            const [username = "", password = ""] = (context.call.header("x-login") ?? "").split(" ");
            const account = await passwords.prove(context.call, username, password);
            if (account === null) throw problem("invalid_credentials");
            return beginLogin(context, { account, proofs: [{ method: "pwd", at: context.now }], begin, options: {} });
          },
        });
        return { offer: null, endpoints: [endpoint] };
      },
    }),
  ];
  const api = await serve(t, { config: { features } });
  const { id, email } = await newcomer(api);
  const login = { "x-login": `${email} ${await drawFor(api, id)}` };

  assert.equal((await api.post("/own-login", undefined, login)).status, 201);
  const again = await api.post("/own-login", undefined, login);
  assert.deepEqual([again.status, again.json.code], [401, "invalid_credentials"], again.text);
});

/** Logs the first administrator in, who must add a factor. Returns the headers of the session. */
async function addTOTPOfAdmin(api: API): Promise<Readonly<Record<string, string>>> {
  const login = { username: "admin", password: "first-administrator" };
  const cookie = readCookies(await api.post("/api/session/", login));
  const made = (await api.post("/api/login/factors/", { kind: "totp" }, cookie)).json;
  const code = totpCode(made.secret, api.clock.now);
  return readCookies(await api.post("/api/login/", { factor: made.id, code }, cookie));
}
