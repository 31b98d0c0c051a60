import assert from "node:assert/strict";
import { test } from "node:test";
import { addTOTP, readCookies, startLogin } from "../harness/factors.ts";
import { serve, type API } from "../harness/serve.ts";

const bearer = (access: string) => ({ authorization: `Bearer ${access}` });

async function lastLogin(api: API, id: number): Promise<unknown> {
  return (await api.get(`/users/${id}/account`, api.admin)).json.last_login_at;
}

test("asks for a second factor after the password, and then gives the token pair", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");

  const first = await startLogin(api, ann);
  assert.equal(first.status, 401);
  assert.equal(first.json.code, "factor_required");
  assert.ok(first.json.detail);
  assert.equal(first.headers.get("cache-control"), "no-store");
  assert.equal(first.json.login.needs, "factor");
  assert.deepEqual(
    first.json.login.factors.map(({ id, kind, label }: Record<string, string>) => [id, kind, label]),
    [
      [ann.factor, "totp", "Phone"],
      ["recovery", "recovery", "Recovery code"],
    ],
  );

  const { pending } = first.json.login;
  const done = await api.post("/api/login/", { pending, factor: ann.factor, code: ann.code() });
  assert.equal(done.status, 200, done.text);
  const who = (await api.get("/api/session/", bearer(done.json.access))).json;
  assert.deepEqual([who.amr, who.level], [["pwd", "otp"], 2]);
  const again = await api.post("/api/login/", { pending, factor: ann.factor, code: ann.code() });
  assert.deepEqual([again.status, again.json.code], [401, "login_expired"]);
});

test("keeps the waiting login of a session in a cookie", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");

  const first = await api.post("/api/session/", { username: ann.email, password: ann.password });
  assert.equal(first.status, 401);
  assert.equal("pending" in first.json.login, false);
  const cookie = readCookies(first);
  assert.match(cookie["cookie"]!, /^login=/);
  assert.equal((await api.get("/api/login/", cookie)).json.needs, "factor");
  assert.deepEqual((await api.get("/api/login/")).json.code, "login_expired");
  assert.equal((await api.get("/protected/", cookie)).status, 401);

  const done = await api.post("/api/login/", { factor: ann.factor, code: ann.code() }, cookie);
  assert.equal(done.status, 201, done.text);
  assert.equal((await api.get("/api/session/", readCookies(done))).json.level, 2);
});

test("gives the API token after the second factor", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");

  const first = await api.post("/api-token-auth/", { username: ann.email, password: ann.password });
  const { pending } = first.json.login;
  const done = await api.post("/api/login/", { pending, factor: ann.factor, code: ann.code() });

  assert.equal((await api.get("/protected/", { authorization: `Token ${done.json.token}` })).status, 200);
});

test("updates last_login_at only when a login is complete", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const before = await lastLogin(api, ann.id);
  api.clock.turn(3600);

  const { pending } = (await startLogin(api, ann)).json.login;
  assert.equal(await lastLogin(api, ann.id), before);
  await api.post("/api/login/", { pending, factor: ann.factor, code: ann.code() });

  assert.notEqual(await lastLogin(api, ann.id), before);
});

test("accepts a TOTP code once if several logins send it at the same time", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const logins = await Promise.all([1, 2, 3].map(async () => (await startLogin(api, ann)).json.login.pending));
  const code = ann.code();

  const answers = await Promise.all(
    logins.map((pending: string) => api.post("/api/login/", { pending, factor: ann.factor, code })),
  );

  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((one, other) => one - other),
    [200, 401, 401],
  );
});

test("accepts a recovery code once if fifty requests send it at the same time, and shows how many codes are left", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const code = ann.recoveryCodes[3]!;
  const logins = await Promise.all(Array.from({ length: 5 }, () => startLogin(api, ann)));

  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, at) => {
      const { pending } = logins[at % 5]!.json.login;
      return api.post("/api/login/", { pending, factor: "recovery", code: code.toUpperCase() });
    }),
  );

  const good = answers.filter(({ status }) => status === 200);
  assert.equal(good.length, 1);
  const factors = (await api.get(`/users/${ann.id}/factors`, api.admin)).json;
  assert.equal(factors.at(-1).remaining, 9);
});

test("accepts only the newest recovery codes", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const made = await api.post(`/users/${ann.id}/factors/recovery`, undefined, ann.headers);
  assert.equal(made.status, 201, made.text);
  const { pending } = (await startLogin(api, ann)).json.login;

  const complete = (code: string) => api.post("/api/login/", { pending, factor: "recovery", code });
  const old = await complete(ann.recoveryCodes[0]!);
  const newest = await complete(made.json.recovery_codes[0]);

  assert.deepEqual([old.status, old.json.code, newest.status], [401, "invalid_credentials", 200]);
});

test("ends a waiting login after five wrong codes, after five minutes, and with a changed password", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const complete = (pending: string, code: string) => api.post("/api/login/", { pending, factor: ann.factor, code });

  const tried = (await startLogin(api, ann)).json.login.pending;
  for (let at = 0; at < 5; at++) assert.equal((await complete(tried, "000000")).json.code, "invalid_credentials");
  assert.equal((await complete(tried, ann.code())).json.code, "login_expired");

  const late = (await startLogin(api, ann)).json.login.pending;
  api.clock.turn(300);
  assert.equal((await complete(late, ann.code())).json.code, "login_expired");

  const changed = (await startLogin(api, ann)).json.login.pending;
  await api.patch(`/users/${ann.id}`, { password: "another good one" }, api.admin);
  assert.equal((await complete(changed, ann.code())).json.code, "login_expired");
});

test("permits ten wrong codes an hour for an account, in all its logins together", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");

  const statuses: number[] = [];
  for (let round = 0; round < 3; round++) {
    const { pending } = (await startLogin(api, ann)).json.login;
    for (let at = 0; at < 4; at++)
      statuses.push((await api.post("/api/login/", { pending, factor: ann.factor, code: "000000" })).status);
  }
  assert.deepEqual(statuses, [...Array<number>(10).fill(401), 429, 429]);

  api.clock.turn(3601);
  const { pending } = (await startLogin(api, ann)).json.login;
  assert.equal((await api.post("/api/login/", { pending, factor: ann.factor, code: ann.code() })).status, 200);
});

test("accepts a code after wrong codes of a clock that was ahead, in the same hour and at any other time", async (t) => {
  for (const aheadSeconds of [120, 90 * 60, 23 * 3600, 48 * 3600]) {
    const api = await serve(t);
    const ann = await addTOTP(api, "Ann");
    const logIn = async () => (await startLogin(api, ann)).json.login.pending as string;
    api.clock.turn(aheadSeconds);
    for (let round = 0; round < 2; round++) {
      const pending = await logIn();
      for (let tries = 0; tries < 5; tries++)
        assert.equal((await api.post("/api/login/", { pending, factor: ann.factor, code: "000000" })).status, 401);
    }

    api.clock.turn(-aheadSeconds);

    const answer = { pending: await logIn(), factor: ann.factor, code: ann.code() };
    const { status } = await api.post("/api/login/", answer);
    assert.equal(status, 200, `${aheadSeconds} seconds ahead`);
  }
});

test("counts the wrong codes of processes whose clocks differ by seconds", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");

  const statuses: number[] = [];
  for (let round = 0; round < 3; round++) {
    const { pending } = (await startLogin(api, ann)).json.login;
    for (let at = 0; at < 4; at++) {
      // Alternates between two times, like two processes whose clocks differ by five seconds.
      api.clock.turn(at % 2 === 0 ? 5 : -5);
      statuses.push((await api.post("/api/login/", { pending, factor: ann.factor, code: "000000" })).status);
    }
  }
  assert.deepEqual(statuses, [...Array<number>(10).fill(401), 429, 429]);
});

test("ends every other login when the first factor is added, and renews the login that added it", async (t) => {
  const api = await serve(t);
  const { id, email: username, password } = await api.user("Ann");
  const other = (await api.post("/api/token/", { username, password })).json;
  const own = (await api.post("/api/token/", { username, password })).json;
  const { token } = (await api.post("/api-token-auth/", { username, password })).json;
  const made = (await api.post(`/users/${id}/factors`, { kind: "totp" }, bearer(own.access))).json;
  const { computeCode, computeStep } = await import("../../src/features/auth/totp/codes.ts");
  const { parseBase32 } = await import("../harness/factors.ts");
  const code = computeCode(parseBase32(made.secret), computeStep(api.clock.now));

  const confirmed = await api.post(`/users/${id}/factors/${made.id}/confirm`, { code }, bearer(own.access));

  assert.equal(confirmed.status, 200, confirmed.text);
  assert.equal(confirmed.json.recovery_codes.length, 10);
  assert.equal((await api.get("/protected/", bearer(other.access))).status, 401);
  assert.equal((await api.post("/api/token/refresh/", { refresh: other.refresh })).status, 401);
  assert.equal((await api.get("/protected/", bearer(own.access))).status, 401);
  assert.equal((await api.get("/api/session/", bearer(confirmed.json.access))).json.level, 2);
  const refreshed = await api.post("/api/token/refresh/", { refresh: confirmed.json.refresh });
  assert.equal((await api.get("/api/session/", bearer(refreshed.json.access))).json.level, 2);
  assert.equal((await api.get("/protected/", { authorization: `Token ${token}` })).status, 200);
});

test("refuses Basic for an account with a factor, and names keys as the way for programs", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const basic = { authorization: `Basic ${Buffer.from(`${ann.email}:${ann.password}`).toString("base64")}` };

  const answer = await api.get("/protected/", basic);

  assert.deepEqual([answer.status, answer.json.code], [401, "factor_required"]);
  assert.equal("login" in answer.json, false);
  assert.match(answer.json.detail, /key for programs/);
});

test("asks a user with a factor to confirm a login of ten minutes ago before the user makes keys or changes the password", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const make = () => api.post(`/users/${ann.id}/keys`, { name: "k", current_password: ann.password }, ann.headers);
  const change = () => api.patch(`/users/${ann.id}`, { password: "another good one" }, ann.headers);
  assert.equal((await make()).status, 201);

  api.clock.turn(600);
  for (const each of [make, change]) {
    const refused = await each();
    assert.deepEqual([refused.status, refused.json.code], [401, "confirmation_required"]);
    assert.match(
      refused.headers.get("www-authenticate")!,
      /insufficient_user_authentication.*max_age="600".*acr_values="2"/,
    );
  }

  const started = await api.post("/api/login/confirm/", undefined, ann.headers);
  assert.equal(started.status, 200, started.text);
  const cookie = { cookie: `${ann.headers["cookie"]}; ${readCookies(started)["cookie"]}` };
  const confirmed = await api.post("/api/login/", { factor: ann.factor, code: ann.code() }, cookie);
  assert.equal(confirmed.status, 201, confirmed.text);
  const renewed = readCookies(confirmed);
  assert.notEqual(renewed["cookie"], ann.headers["cookie"]);
  assert.equal((await api.post(`/users/${ann.id}/keys`, { name: "k" }, renewed)).status, 201);
  assert.equal((await api.get("/protected/", ann.headers)).status, 200);
  api.clock.turn(10);
  assert.equal((await api.get("/protected/", ann.headers)).status, 401);
});

test("makes administrators add a factor while they log in, if LATCHKEY_SECOND_FACTOR requires it", async (t) => {
  const api = await serve(t, { settings: { LATCHKEY_SECOND_FACTOR: "admins" } });
  const { computeCode, computeStep } = await import("../../src/features/auth/totp/codes.ts");
  const { parseBase32 } = await import("../harness/factors.ts");

  const first = await api.post("/api/token/", { username: "admin", password: "first-administrator" });
  assert.deepEqual([first.status, first.json.login.needs, first.json.login.factors], [401, "enrolment", []]);
  assert.equal((await api.get("/users", api.admin)).json.code, "factor_required");
  const { pending } = first.json.login;
  const made = await api.post("/api/login/factors/", { pending, kind: "totp" });
  assert.equal(made.status, 201, made.text);
  const code = computeCode(parseBase32(made.json.secret), computeStep(api.clock.now));
  const done = await api.post("/api/login/", { pending, factor: made.json.id, code });

  assert.equal(done.status, 200, done.text);
  assert.equal(done.json.recovery_codes.length, 10);
  const admin = bearer(done.json.access);
  assert.equal((await api.get("/users", admin)).status, 200);
  const refused = await api.delete(`/users/1/factors/${made.json.id}`, admin);
  assert.deepEqual([refused.status, refused.json.code], [409, "last_factor"]);
});

test("lets only the user add factors, lets an administrator delete them, and ends every login after a deletion", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");

  assert.equal((await api.post(`/users/${ann.id}/factors`, { kind: "totp" }, api.admin)).status, 403);
  assert.equal((await api.post(`/users/${ann.id}/factors/recovery`, undefined, api.admin)).status, 403);
  assert.equal((await api.get(`/users/${ann.id}/factors`, api.admin)).json.length, 2);
  assert.equal((await api.delete(`/users/${ann.id}/factors/${ann.factor}`, api.admin)).status, 204);

  assert.equal((await api.get("/protected/", ann.headers)).status, 401);
  assert.equal((await api.post("/api/token/", { username: ann.email, password: ann.password })).status, 200);
  assert.deepEqual((await api.get(`/users/${ann.id}/factors`, api.admin)).json, []);
});
