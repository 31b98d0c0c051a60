import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate as nextRound, setTimeout as sleep } from "node:timers/promises";
import type { Tracer } from "../../src/core/tracer.ts";
import { anyone, defineResource, mount, text } from "../../src/door/index.ts";
import { rawSocket, type RawSocket } from "../harness/raw-socket.ts";
import type { ServeOptions } from "../harness/serve.ts";

/** Sends the rest of the body that a request waits for. Returns the response. */
type Held = () => Promise<string>;

async function hold({ socket, permitted }: World, line: string, credential: string, body: unknown): Promise<Held> {
  const before = permitted();
  const connection = await socket.open();
  const text = JSON.stringify(body);
  connection.write(
    `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\n${credential}\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n{`,
  );
  const answer = socket.read(connection, /\r\n\r\n.*\}$/);
  // Waits for the permission, because PostgreSQL may need time to identify the caller.
  while (permitted() === before) await nextRound();
  return async () => {
    connection.write(text.slice(1));
    return answer;
  };
}

/** Makes a second administrator, with every kind of credential. */
async function secondAdministrator({ api }: RawSocket) {
  const eve = await api.user("Eve");
  await api.patch(`/users/${eve.id}/account`, { role: "admin" }, api.admin);
  const credentials = { username: eve.email, password: eve.password };
  const session = await api.post("/api/session/", credentials);
  const { access } = (await api.post("/api/token/", credentials)).json;
  const { token } = (await api.post(`/users/${eve.id}/token`, undefined, eve.headers)).json;
  await api.get("/protected/", eve.headers);
  const ways = {
    session: `Cookie: ${session.headers.get("set-cookie")!.split(";")[0]!}`,
    bearer: `Authorization: Bearer ${access}`,
    basic: `Authorization: ${eve.headers["authorization"]!}`,
    token: `Authorization: Token ${token}`,
  };
  return { ...eve, ways };
}

/**
 * Makes a tracer that counts the requests whose caller got permission. After that step, a request waits for its body.
 */
function counter(): { readonly tracer: Tracer; permitted(): number } {
  let permitted = 0;
  return {
    tracer: {
      request: (_call, work) => work(),
      part(name, _facts, work) {
        const done = work();
        if (name === "permission") permitted++;
        return done;
      },
      observe: () => undefined,
    },
    permitted: () => permitted,
  };
}

async function world(t: TestContext, served: ServeOptions = {}) {
  const { tracer, permitted } = counter();
  const socket = await rawSocket(t, { tracer, ...served });
  const ann = await socket.api.user("Ann");
  return { socket, permitted, api: socket.api, ann, eve: await secondAdministrator(socket) };
}

type World = Awaited<ReturnType<typeof world>>;

const ends = [
  { what: "deactivated", status: 401 },
  { what: "deleted", status: 401 },
  { what: "no administrator any more", status: 403 },
] as const;

for (const { what, status } of ends)
  test(`refuses the request of a caller who is ${what} while the body arrives`, async (t) => {
    const served = await world(t);
    const { api, ann, eve } = served;
    const held: Held[] = [];
    for (const credential of Object.values(eve.ways))
      held.push(await hold(served, `PATCH /users/${ann.id}/account`, credential, { role: "admin" }));
    await sleep(150);

    if (what === "deactivated") await api.patch(`/users/${eve.id}/account`, { active: false }, api.admin);
    if (what === "deleted") await api.delete(`/users/${eve.id}`, api.admin);
    if (what === "no administrator any more") await api.patch(`/users/${eve.id}/account`, { role: "user" }, api.admin);
    const statuses = (await Promise.all(held.map((end) => end()))).map((text) => Number(text.slice(9, 12)));

    // An access token contains the role, so a change of the role always makes the token invalid.
    const expected = Object.keys(eve.ways).map((way) => (way === "bearer" ? 401 : status));
    assert.deepEqual(statuses, expected);
    assert.equal((await api.get(`/users/${ann.id}/account`, api.admin)).json.role, "user");
  });

test("makes no key if the login ends while the body arrives", async (t) => {
  const served = await world(t);
  const { api, eve } = served;
  const held = await hold(served, `POST /users/${eve.id}/keys`, eve.ways.session, { name: "one more" });
  await sleep(150);

  const changed = { password: "another password of Eve", current_password: eve.password, end_keys: true };
  await api.patch(`/users/${eve.id}`, changed, eve.headers);

  assert.match(await held(), /^HTTP\/1.1 401 /);
  assert.deepEqual((await api.get(`/users/${eve.id}/keys`, api.admin)).json, []);
});

test("refuses a request whose login is revoked while the body arrives, on an open endpoint too", async (t) => {
  const note = mount(defineResource({ name: "note", fields: { title: text() } }), { permission: anyone });
  const served = await world(t, { config: { mounts: [note] } });
  const { api, eve } = served;
  const held = await hold(served, "POST /notes", eve.ways.session, { title: "a" });
  await sleep(150);

  await api.patch(`/users/${eve.id}/account`, { active: false }, api.admin);

  assert.match(await held(), /^HTTP\/1.1 401 /);
  assert.deepEqual((await api.get("/notes")).json, []);
});

test("accepts a slow body of a login that is still valid", async (t) => {
  const served = await world(t);
  const { api, ann, eve } = served;
  const held: Held[] = [];
  for (const credential of Object.values(eve.ways))
    held.push(await hold(served, `PATCH /users/${ann.id}`, credential, { name: "Anna" }));
  await sleep(150);

  for (const end of held) assert.match(await end(), /^HTTP\/1.1 200 /);
  assert.equal((await api.get(`/users/${ann.id}`, api.admin)).json.name, "Anna");
});

test("issues no working API token if the password changes while the request waits for the check of the old one", async (t) => {
  const { api, ann } = await world(t);
  const credentials = { username: ann.email, password: ann.password };
  // These delay the check of the next request. Only eight: the change makes their passwords wrong, and ten reach the
  // limit.
  const others = Array.from({ length: 8 }, () => api.post("/api/token/", credentials));
  const request = api.post("/api-token-auth/", credentials);

  await api.patch(`/users/${ann.id}`, { password: "another password of Ann", end_keys: true }, api.admin);
  const answer = await request;

  await Promise.all(others);
  if (answer.status === 200)
    assert.equal(
      (await api.get("/protected/", { authorization: `Token ${answer.json.token}` })).status,
      401,
      "the token was made before the password change, so the change revoked it",
    );
  // 409: the password changed between its check and the write of the token.
  else assert.ok([401, 409].includes(answer.status), answer.text);
});

const choices = [
  ["is generated", "POST", "/password", undefined],
  ["is set", "PATCH", "", { password: "a password of Eve's choice" }],
] as const;

/** The hashes that start after a call of `hold`. Their results are delayed until a call of `release`. */
interface HeldHashes {
  readonly begun: Promise<void>;
  release(): void;
}

/** Makes a tracer that can delay the result of each hash, and a function that starts the delay. */
function holder(): { readonly tracer: Tracer; hold(): HeldHashes } {
  let held: { readonly begun: () => void; readonly released: Promise<void> } | null = null;
  return {
    tracer: {
      request: (_call, work) => work(),
      part(name, _facts, work) {
        const made = work();
        if (name !== "hash" || held === null || !(made instanceof Promise)) return made;
        held.begun();
        return Promise.all([made, held.released]).then(([hash]) => hash) as typeof made;
      },
      observe: () => undefined,
    },
    hold() {
      const begun = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      held = { begun: begun.resolve, released: released.promise };
      return { begun: begun.promise, release: released.resolve };
    },
  };
}

for (const [what, method, path, body] of choices)
  test(`reveals no password to an administrator who is deactivated while a password ${what}`, async (t) => {
    const { tracer, hold } = holder();
    const { api, ann, eve } = await world(t, { tracer });
    const headers = { authorization: eve.ways.bearer.replace("Authorization: ", "") };
    await api.get("/protected/", headers);
    // Makes the service cache the administrator's password, so that the deactivation below needs no hash. A hash would
    // be delayed too.
    await api.get("/protected/", api.admin);
    const hashes = hold();
    const request = api.ask(method, `/users/${ann.id}${path}`, { headers, body });
    await hashes.begun;

    assert.equal((await api.patch(`/users/${eve.id}/account`, { active: false }, api.admin)).status, 200);
    hashes.release();
    const answer = await request;

    assert.equal(answer.status, 401);
    assert.equal(answer.json.password, undefined);
    if (what === "is set") assert.equal((await api.get("/protected/", ann.headers)).status, 200);
  });
