import assert from "node:assert/strict";
import { test } from "node:test";
import { accountsCollection } from "../../src/door/auth.ts";
import type { WrittenValues } from "../../src/door/stores.ts";
import { makeMarking } from "../../src/features/auth/accounts/passwords/marking.ts";
import { factorsCollection } from "../../src/features/auth/gate/factors.ts";
import { computeCode, computeStep } from "../../src/features/auth/totp/codes.ts";
import { addTOTP, addTOTPTo, parseBase32, startLogin, type TOTPUser } from "../harness/factors.ts";
import { basicHeader, serve, withMail, type API } from "../harness/serve.ts";

const mark = "factor$";
const chosen = "quartz lantern 42";

/** The password `lètmein änd stay`, as other systems store it. */
const imported = {
  "Django's pbkdf2_sha256": "pbkdf2_sha256$260000$BuE6lNIUpykjiX9qMQbYjL$y0e0YxvaTNpKVU5i2KZMNVtE950v/h392AErN10aq98=",
  "Django's argon2": "argon2$argon2id$v=19$m=102400,t=2,p=8$OFkyOWVlQnpLWmlrR21mT2swbDJ2dg$2DKeEaiBQRRyiGUpxCn73w",
  bcrypt: "$2b$06$b1CCF9pVdo6J5aIP8Puc3.fKStSBAI4pMD7SwyVZdRIzPR03Xq3l2",
};

async function readHash(api: API, id: number): Promise<string> {
  return (await api.service.store.find(accountsCollection, id))!.record["password_hash"] as string;
}

/** Writes an account as a version does that knows no mark. */
async function writeAsOlder(api: API, id: number, values: WrittenValues): Promise<void> {
  const { kind } = await api.service.store.write({
    changes: [{ kind: "update", collection: accountsCollection, key: id, values }],
  });
  assert.equal(kind, "written");
}

const without = (hash: string): string => hash.replace(mark, "");

async function logIn(api: API, ann: TOTPUser, password = ann.password): Promise<Readonly<Record<string, string>>> {
  const first = await startLogin(api, { ...ann, password });
  assert.equal(first.json.code, "factor_required", first.text);
  api.clock.turn(30);
  const { pending } = first.json.login;
  const done = await api.post("/api/login/", { pending, factor: ann.factor, code: ann.code() });
  assert.equal(done.status, 200, done.text);
  return { authorization: `Bearer ${done.json.access}` };
}

test("marks the password hash with the first factor, and removes the mark with the last one", async (t) => {
  const api = await serve(t);
  const { id, email, password } = await api.user("Ann");
  const before = await readHash(api, id);
  assert.ok(!before.startsWith(mark));

  const ann = await addTOTPTo(api, { id, email, password });
  assert.equal(await readHash(api, id), mark + before);
  const headers = await logIn(api, ann);
  api.clock.turn(30);
  const second = await api.post(`/users/${id}/factors`, { kind: "totp", label: "Tablet" }, headers);
  assert.equal(second.status, 201);
  assert.equal((await api.delete(`/users/${id}/factors/${second.json.id}`, headers)).status, 204);
  assert.equal(await readHash(api, id), mark + before);
  const removed = await api.delete(`/users/${id}/factors/${ann.factor}`, headers);

  assert.equal(removed.status, 204, removed.text);
  assert.equal(await readHash(api, id), before);
  assert.equal((await api.post("/api/token/", { username: email, password })).status, 200);
});

test("marks the hash when a login has to add the factor", async (t) => {
  const api = await serve(t, { settings: { LATCHKEY_SECOND_FACTOR: "everyone" } });
  const first = await api.post("/api/token/", { username: "admin", password: "first-administrator" });
  const { pending } = first.json.login;
  const enrolment = await api.post("/api/login/factors/", { pending, kind: "totp" });
  const code = computeCode(parseBase32(enrolment.json.secret), computeStep(api.clock.now));

  const done = await api.post("/api/login/", { pending, factor: enrolment.json.id, code });

  assert.equal(done.status, 200, done.text);
  assert.ok((await readHash(api, 1)).startsWith(mark));
  assert.notEqual((await api.service.store.find(accountsCollection, 1))!.record["last_login_at"], null);
});

test("keeps the mark when the password changes", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const headers = await logIn(api, ann);
  const own = await api.patch(`/users/${ann.id}`, { password: chosen }, headers);
  assert.equal(own.status, 200, own.text);
  assert.ok((await readHash(api, ann.id)).startsWith(mark));
  await logIn(api, ann, chosen);

  const drawn = await api.post(`/users/${ann.id}/password`, undefined, api.admin);

  assert.equal(drawn.status, 201, drawn.text);
  assert.ok((await readHash(api, ann.id)).startsWith(mark));
  await logIn(api, ann, drawn.json.password);
});

test("keeps the mark when the password is reset by mail", async (t) => {
  const api = await serve(t, { settings: withMail });
  const ann = await addTOTP(api, "Ann");
  await api.mails();
  assert.equal((await api.post("/api/password/reset/", { email: ann.email })).status, 202);
  const [, code] = /^(\d{8})$/m.exec((await api.mails()).map(({ text }) => text).join("\n"))!;

  const reset = await api.post("/api/password/reset/confirm/", { email: ann.email, code, password: chosen });

  assert.equal(reset.status, 204, reset.text);
  assert.ok((await readHash(api, ann.id)).startsWith(mark));
  await logIn(api, ann, chosen);
});

for (const [system, hash] of Object.entries(imported))
  test(`marks a hash of ${system}, and accepts its password together with the factor`, async (t) => {
    const api = await serve(t);
    const ann = await addTOTP(api, "Ann");
    await writeAsOlder(api, ann.id, { password_hash: hash });

    await makeMarking(partsOf(api)).run();

    assert.equal(await readHash(api, ann.id), mark + hash);
    await logIn(api, ann, "lètmein änd stay");
    assert.equal((await startLogin(api, { ...ann, password: "lètmein änd stay?" })).json.code, "invalid_credentials");
  });

test("marks what an older version has written, at the start and at the next login", async (t) => {
  const api = await serve(t);
  const [ann, bob] = [await addTOTP(api, "Ann"), await api.user("Bob")];
  const marked = await readHash(api, ann.id);
  const plain = await readHash(api, bob.id);
  await writeAsOlder(api, ann.id, { password_hash: without(marked) });

  assert.equal(await makeMarking(partsOf(api)).run(), 1);
  assert.equal(await readHash(api, ann.id), marked);
  assert.equal(await readHash(api, bob.id), plain);
  assert.equal(await makeMarking(partsOf(api)).run(), 0);

  await writeAsOlder(api, ann.id, { password_hash: without(marked) });
  await logIn(api, ann);
  assert.equal(await readHash(api, ann.id), marked);
});

test("removes a mark that an older version has left behind at the next login", async (t) => {
  const api = await serve(t);
  const bob = await api.user("Bob");
  const plain = await readHash(api, bob.id);

  for (const logInAsBob of [
    () => api.post("/api/token/", { username: bob.email, password: bob.password }),
    () => api.get("/protected/", basicHeader(bob.email, bob.password)),
  ]) {
    await writeAsOlder(api, bob.id, { password_hash: mark + plain });
    assert.equal((await logInAsBob()).status, 200);
    assert.equal(await readHash(api, bob.id), plain);
  }
});

test("keeps sessions, tokens and API tokens when it marks a hash later", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const headers = await logIn(api, ann);
  await writeAsOlder(api, ann.id, { password_hash: without(await readHash(api, ann.id)) });

  await makeMarking(partsOf(api)).run();

  assert.equal((await api.get("/protected/", headers)).status, 200);
  assert.equal((await api.get("/protected/", ann.headers)).status, 200);
});

test("marks the hashes of many accounts, and stops in the middle", async (t) => {
  // The pauses of the work let the process end, and the test would end silently.
  const alive = setInterval(() => undefined, 1000);
  t.after(() => clearInterval(alive));
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const hash = without(await readHash(api, ann.id));
  const people = await addPeople(api, 450, hash);

  // The service does the same work, so it may have marked some of them.
  await makeMarking(partsOf(api)).run();
  for (const id of people) assert.equal(await readHash(api, id), mark + hash);
  const stopped = makeMarking(partsOf(api));
  await stopped.close();
  await writeAsOlder(api, people.at(-1)!, { password_hash: hash });
  assert.equal(await stopped.run(), 0);
});

/** Adds accounts with one factor each, and returns their ids. */
async function addPeople(api: API, count: number, hash: string): Promise<readonly number[]> {
  const now = new Date(api.clock.now).toISOString();
  const account = { username_follows_email: false, role: "user", active: true, password_hash: hash, factors: 1 };
  const factor = { kind: "totp", label: "Phone", active: true, data: {}, handle: null, pending: null };
  const ids = Array.from({ length: count }, (_, at) => 1000 + at);
  for (const id of ids) {
    const values = { ...account, username: `person ${id}`, generation: 1, created_at: now, last_login_at: null };
    await api.service.store.write({
      changes: [
        { kind: "insert", collection: accountsCollection, key: id, values },
        {
          kind: "insert",
          collection: factorsCollection,
          values: { ...factor, user_id: id, created_at: now, last_used_at: null },
        },
      ],
    });
  }
  return ids;
}

function partsOf(api: API) {
  return { store: api.service.store, observe: () => assert.fail("nothing fails") };
}
