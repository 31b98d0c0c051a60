import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { totpCode } from "../../src/testing/testing.ts";
import { makeAuthenticator } from "../harness/authenticator.ts";
import { addTOTP, addTOTPTo, readCookies, startLogin, type TOTPUser } from "../harness/factors.ts";
import { serve, withMail, type API } from "../harness/serve.ts";
import { sharedDatabase } from "../harness/test-store.ts";

// A thief of a factor is logged in no longer when the factor is deleted, and a recovery code changes no other factor,
// also not in steps.

const origin = "https://app.example.com";
const settings = { LATCHKEY_PUBLIC_URL: "https://example.com", LATCHKEY_ALLOWED_ORIGINS: origin };
const bearer = (access: string) => ({ authorization: `Bearer ${access}` });
type Headers = Readonly<Record<string, string>>;

/** Adds a passkey. Returns its id and a function that logs in with it alone. */
async function addPasskey(api: API, { id }: Pick<TOTPUser, "id">, headers: Headers) {
  const made = await api.post(`/users/${id}/factors`, { kind: "passkey", label: "Laptop" }, headers);
  assert.equal(made.status, 201, made.text);
  const authenticator = makeAuthenticator(origin);
  const credential = authenticator.register(made.json.options);
  const confirmed = await api.post(`/users/${id}/factors/${made.json.id}/confirm`, { credential }, headers);
  assert.equal(confirmed.status, 200, confirmed.text);
  const logIn = async (path: string) => {
    const { pending, ask } = (await api.post("/api/login/passkey/")).json;
    return api.post(path, { pending, credential: authenticator.assert(ask) });
  };
  return { factor: made.json.id as string, authenticator, logIn };
}

async function logIn(api: API, ann: TOTPUser, path: string): Promise<Headers> {
  api.clock.turn(30);
  const first = await api.post(path, { username: ann.email, password: ann.password });
  const { pending } = first.json.login;
  const body = { ...(pending === undefined ? {} : { pending }), factor: ann.factor, code: ann.code() };
  const done = await api.post("/api/login/", body, pending === undefined ? readCookies(first) : {});
  return path === "/api/token/" ? bearer(done.json.access) : readCookies(done);
}

const works = async (api: API, headers: Headers) => (await api.get("/protected/", headers)).status === 200;

for (const current of ["/api/session/", "/api/token/"] as const)
  test(`ends the logins that a deleted passkey began, by a caller from ${current}`, async (t) => {
    const api = await serve(t, { settings });
    const ann = await addTOTP(api, "Ann");
    const passkey = await addPasskey(api, ann, ann.headers);
    const stolen = readCookies(await passkey.logIn("/api/session/"));
    const pair = (await passkey.logIn("/api/token/")).json;
    const refreshed = (await passkey.logIn("/api/token/")).json;
    const newer = (await api.post("/api/token/refresh/", { refresh: refreshed.refresh })).json;
    const other = await logIn(api, ann, "/api/session/");
    const own = await logIn(api, ann, current);
    for (const each of [stolen, bearer(pair.access), bearer(newer.access), other, own])
      assert.ok(await works(api, each));
    const waiting = (await startLogin(api, ann)).json.login.pending as string;

    const removed = await api.delete(`/users/${ann.id}/factors/${passkey.factor}`, own);

    assert.equal(removed.status, 204, removed.text);
    assert.equal(await works(api, stolen), false);
    for (const { access } of [pair, newer]) assert.equal(await works(api, bearer(access)), false);
    for (const { refresh } of [pair, newer])
      assert.equal((await api.post("/api/token/refresh/", { refresh })).status, 401);
    assert.deepEqual([await works(api, own), await works(api, other)], [true, true]);
    // The waiting login started with the password alone, so it goes on.
    api.clock.turn(30);
    const done = await api.post("/api/login/", { pending: waiting, factor: ann.factor, code: ann.code() });
    assert.equal(done.status, 200, done.text);
  });

test("ends the waiting logins that a deleted factor began, and the caller's own login if nothing else proves it", async (t) => {
  const api = await serve(t, { settings });
  const ann = await addTOTP(api, "Ann");
  const passkey = await addPasskey(api, ann, ann.headers);
  const stolen = readCookies(await passkey.logIn("/api/session/"));
  const confirmation = readCookies(await api.post("/api/login/confirm/", undefined, stolen));
  assert.equal((await api.get("/api/login/", confirmation)).status, 200);
  const own = readCookies(await passkey.logIn("/api/session/"));

  assert.equal((await api.delete(`/users/${ann.id}/factors/${passkey.factor}`, own)).status, 204);

  assert.deepEqual([await works(api, stolen), await works(api, own)], [false, false]);
  assert.equal((await api.get("/api/login/", confirmation)).status, 401);
});

test("ends no login when a factor is deleted that was never confirmed", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const other = await logIn(api, ann, "/api/token/");
  const made = await api.post(`/users/${ann.id}/factors`, { kind: "totp" }, ann.headers);
  assert.equal(made.status, 201, made.text);

  assert.equal((await api.delete(`/users/${ann.id}/factors/${made.json.id}`, ann.headers)).status, 204);

  assert.deepEqual([await works(api, ann.headers), await works(api, other)], [true, true]);
});

test("keeps the caller's login if a password proves it too", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const thief = await logIn(api, ann, "/api/session/");

  assert.equal((await api.delete(`/users/${ann.id}/factors/${ann.factor}`, ann.headers)).status, 204);

  assert.deepEqual([await works(api, ann.headers), await works(api, thief)], [true, false]);
});

/** Logs in with a recovery code. */
async function recover(api: API, ann: TOTPUser, at = 0): Promise<Headers> {
  const { pending } = (await startLogin(api, ann)).json.login;
  const body = { pending, factor: "recovery", code: ann.recoveryCodes[at] };
  return bearer((await api.post("/api/login/", body)).json.access);
}

/** Confirms a login with a passkey. */
async function confirmBy(
  api: API,
  passkey: Awaited<ReturnType<typeof addPasskey>>,
  headers: Headers,
): Promise<Headers> {
  const { pending, factors } = (await api.post("/api/login/confirm/", undefined, headers)).json;
  const { ask } = factors.find(({ id }: { readonly id: string }) => id === passkey.factor);
  const credential = passkey.authenticator.assert(ask);
  const done = await api.post("/api/login/", { pending, factor: passkey.factor, credential });
  assert.equal(done.status, 200, done.text);
  return bearer(done.json.access);
}

test("lets a factor that a login by recovery code added change no factors for a day", async (t) => {
  const api = await serve(t, { settings });
  const ann = await addTOTP(api, "Ann");
  const recovered = await recover(api, ann);
  const passkey = await addPasskey(api, ann, recovered);
  const further = await addPasskey(api, ann, bearer((await passkey.logIn("/api/token/")).json.access));
  const changes = async (headers: Headers) => [
    (await api.delete(`/users/${ann.id}/factors/${ann.factor}`, headers)).json?.code,
    (await api.post(`/users/${ann.id}/factors/recovery`, undefined, headers)).json.code,
  ];
  const refused = ["confirmation_required", "confirmation_required"];

  assert.deepEqual(await changes(recovered), refused);
  assert.deepEqual(await changes(await confirmBy(api, passkey, recovered)), refused);
  for (const each of [passkey, further])
    for (const path of ["/api/token/", "/api/session/"]) {
      const done = await each.logIn(path);
      assert.deepEqual(await changes(done.json.access ? bearer(done.json.access) : readCookies(done)), refused);
    }
  api.clock.turn(86_300);
  assert.deepEqual(await changes(bearer((await further.logIn("/api/token/")).json.access)), refused);
  api.clock.turn(200);
  assert.deepEqual(await changes(bearer((await passkey.logIn("/api/token/")).json.access)), [undefined, undefined]);
});

test("lets a factor of a login by recovery code change no factors for a day, also if it becomes the only factor", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const waiting = readCookies(await api.post("/api/session/", { username: ann.email, password: ann.password }));
  const body = { factor: "recovery", code: ann.recoveryCodes[0] };
  const recovered = readCookies(await api.post("/api/login/", body, waiting));
  const path = `/users/${ann.id}/factors`;
  const made = (await api.post(path, { kind: "totp" }, recovered)).json;
  assert.equal((await api.delete(`${path}/${ann.factor}`, ann.headers)).status, 204);

  const code = totpCode(made.secret, api.clock.now);
  const confirmed = await api.post(`${path}/${made.id}/confirm`, { code }, recovered);
  assert.equal(confirmed.json.recovery_codes?.length, 10, confirmed.text);
  const renewed = readCookies(confirmed);

  assert.equal(await works(api, renewed), true);
  for (const refused of [
    await api.delete(`${path}/${made.id}`, renewed),
    await api.post(`${path}/recovery`, undefined, renewed),
  ])
    assert.deepEqual([refused.status, refused.json.code], [401, "confirmation_required"], refused.text);
});

test("lets the owner's older factor change factors at once, also in a login that started with a recovery code", async (t) => {
  const api = await serve(t, { settings });
  const ann = await addTOTP(api, "Ann");
  const recovered = await recover(api, ann);
  const passkey = await addPasskey(api, ann, recovered);
  const { pending } = (await api.post("/api/login/confirm/", undefined, recovered)).json;
  const done = await api.post("/api/login/", { pending, factor: ann.factor, code: ann.code() });

  const removed = await api.delete(`/users/${ann.id}/factors/${passkey.factor}`, bearer(done.json.access));

  assert.equal(removed.status, 204, removed.text);
});

test("refuses the first factor of an address that its user chose and never proved, and names the call that proves it", async (t) => {
  const api = await serve(t, { settings: { ...withMail, LATCHKEY_REGISTRATION: "open" } });
  const ben = { name: "Ben", email: "ben@example.com", password: "quartz lantern 42" };
  const { id } = (await api.post("/users", ben)).json;
  const session = readCookies(await api.post("/api/session/", { username: ben.email, password: ben.password }));
  const add = () => api.post(`/users/${id}/factors`, { kind: "totp" }, session);
  for (const kind of ["totp", "passkey"]) {
    const refused = await api.post(`/users/${id}/factors`, { kind }, session);
    assert.deepEqual([refused.status, refused.json.code], [409, "unverified_email"], refused.text);
    assert.match(refused.json.detail, new RegExp(`POST /users/${id}/email with the same address`));
  }

  await api.mails();
  const body = { email: ben.email, current_password: ben.password };
  assert.equal((await api.post(`/users/${id}/email`, body, session)).status, 202);
  const [mail] = await api.mails();
  const code = /^\d{8}$/m.exec(mail!.text)![0];
  const proved = await api.post("/api/email/confirm/", { email: ben.email, code }, session);
  assert.deepEqual([proved.status, proved.json], [200, { id, name: "Ben", email: ben.email }], proved.text);
  assert.equal((await add()).status, 201);
});

test("takes the first factor of an address that an administrator chose, that has no mailbox, or that nobody can prove", async (t) => {
  const withoutMail = await serve(t, { settings: { LATCHKEY_REGISTRATION: "open" } });
  const api = await serve(t, { settings: { ...withMail, LATCHKEY_REGISTRATION: "open" } });
  await addTOTP(api, "Ann");
  for (const [each, email] of [
    [api, "ben@example.invalid"],
    [withoutMail, "ben@example.com"],
  ] as const) {
    const { id } = (await each.post("/users", { name: "Ben", email, password: "quartz lantern 42" })).json;
    const login = await each.post("/api/session/", { username: email, password: "quartz lantern 42" });
    assert.equal((await each.post(`/users/${id}/factors`, { kind: "totp" }, readCookies(login))).status, 201, email);
  }
});

/** Starts a service without mail, in which Ben signs up, and one with mail on the same database. */
async function startBesideMail(t: TestContext) {
  const settings = {
    LATCHKEY_DATABASE: (await sharedDatabase(t)).url,
    LATCHKEY_SECRET: "a secret that both of the services know",
    LATCHKEY_REGISTRATION: "open",
  };
  const withoutMail = await serve(t, { settings });
  const ben = { name: "Ben", email: "ben@example.com", password: "quartz lantern 42" };
  const made = await withoutMail.post("/users", ben);
  assert.equal(made.status, 201, made.text);
  return {
    withoutMail,
    api: await serve(t, { settings: { ...settings, ...withMail } }),
    ben: { ...ben, ...made.json },
  };
}

test("takes a further factor of an address that was never proved, because its first factor is active already", async (t) => {
  const { withoutMail, api, ben } = await startBesideMail(t);
  const { id, headers } = await addTOTPTo(withoutMail, ben);
  const path = `/users/${id}/factors`;

  const made = await api.post(path, { kind: "totp" }, headers);

  assert.equal(made.status, 201, made.text);
  const confirmed = await api.post(
    `${path}/${made.json.id}/confirm`,
    { code: totpCode(made.json.secret, api.clock.now) },
    headers,
  );
  assert.equal(confirmed.status, 200, confirmed.text);
});

test("activates no first factor of an address that was never proved, if it was started before mail was turned on", async (t) => {
  const { withoutMail, api, ben } = await startBesideMail(t);
  const login = { username: ben.email, password: ben.password };
  const session = readCookies(await withoutMail.post("/api/session/", login));
  const path = `/users/${ben.id}/factors`;
  const made = (await withoutMail.post(path, { kind: "totp" }, session)).json;

  const code = totpCode(made.secret, api.clock.now);
  const refused = await api.post(`${path}/${made.id}/confirm`, { code }, session);

  assert.deepEqual([refused.status, refused.json.code], [409, "unverified_email"], refused.text);
  assert.deepEqual((await api.get(path, session)).json, []);
});
