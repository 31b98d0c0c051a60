import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { accountsCollection, totp } from "../../src/door/auth.ts";
import { accounts, sessionLogin, tokenLogin } from "../../src/door/index.ts";
import { StoreUnavailable, type Change, type Outcome, type Store, type WrittenValues } from "../../src/door/stores.ts";
import { pendingLoginsCollection } from "../../src/features/auth/gate/pending.ts";
import { totpCode } from "../../src/testing/testing.ts";
import { readCookies } from "../harness/factors.ts";
import { email as username, open, password, serve } from "../harness/own-logins.ts";
import { emptyStore } from "../harness/test-store.ts";

// Logins whose writes fail, or are too late.

/** Answers a transaction instead of the store. Returns null if the store must answer it. */
type Interfere = (changes: readonly Change[]) => Promise<Outcome | null>;

/** Starts a service with logins. A test can answer the transactions of the service instead of the store. */
async function start(t: TestContext) {
  const inner = await emptyStore();
  let interfere: Interfere = async () => null;
  const store: Store = {
    ...inner,
    write: async (transaction) => (await interfere(transaction.changes)) ?? inner.write(transaction),
  };
  const people = accounts(open);
  const features = [sessionLogin(people), tokenLogin(people), totp(people)];
  const api = await serve(t, people, features, { store });
  const post = (path: string, body?: unknown, headers = {}) => api.ask("POST", path, body, headers);
  return {
    ...api,
    store: inner,
    post,
    logIn: () => post("/api/token/", { username, password }),
    async writeAccount(values: WrittenValues) {
      const changes = [{ kind: "update", collection: accountsCollection, key: 1, values }] as const;
      assert.equal((await inner.write({ changes })).kind, "written");
    },
    /** Adds a TOTP factor. Returns its id, a function that makes its codes, and the session that added it. */
    async addTOTP() {
      const session = readCookies(await post("/api/session/", { username, password }));
      const { id, secret } = (await post("/users/1/factors", { kind: "totp" }, session)).json;
      const code = () => totpCode(secret, api.clock.now);
      const confirmed = await post(`/users/1/factors/${id}/confirm`, { code: code() }, session);
      assert.equal(confirmed.status, 200, confirmed.text);
      api.clock.now += 30_000;
      return { factor: id as string, code, session: readCookies(confirmed) };
    },
    /** Runs a task. `meanwhile` can answer the transactions of the task instead of the store. */
    async during<T>(meanwhile: Interfere, task: () => Promise<T>): Promise<T> {
      interfere = meanwhile;
      const result = await task();
      interfere = async () => null;
      return result;
    },
  };
}

/** Returns true for the transaction that admits a login after its proofs were checked. */
const admits = (changes: readonly Change[]): boolean =>
  changes.some((change) => change.kind === "updateAll" && change.collection.name === accountsCollection.name);

const full: Interfere = async (changes) => {
  if (admits(changes)) throw new StoreUnavailable("the disk is full");
  return null;
};

test("logs in while the store is full, except if the login must use up a password or a code", async (t) => {
  const api = await start(t);
  assert.equal((await api.during(full, api.logIn)).status, 200);

  await api.writeAccount({ password_once: "unused" });
  assert.equal((await api.during(full, api.logIn)).status, 503);
  assert.equal((await api.logIn()).status, 200);
  assert.equal((await api.logIn()).status, 401);
  await api.writeAccount({ password_once: null });

  const { factor, code } = await api.addTOTP();
  const { pending } = (await api.logIn()).json.login;
  const complete = () => api.post("/api/login/", { pending, factor, code: code() });
  assert.equal((await api.during(full, complete)).status, 503);
  assert.equal((await complete()).status, 200);
});

test("starts no login if the store throws an unexpected error", async (t) => {
  const api = await start(t);
  const faulty: Interfere = async (changes) => {
    if (admits(changes)) throw new TypeError("a bug");
    return null;
  };
  assert.equal((await api.during(faulty, api.logIn)).status, 500);
});

for (const order of ["before", "after"] as const)
  test(`starts no login that outlives a password change directly ${order} the transaction that admits the login`, async (t) => {
    const api = await start(t);
    const { factor, code, session } = await api.addTOTP();
    const { pending } = (await api.logIn()).json.login;
    const changing: Interfere = async (changes) => {
      if (!admits(changes)) return null;
      const outcome = order === "after" ? await api.store.write({ changes }) : null;
      const changed = await api.ask("PATCH", "/users/1", { password: "another-engine" }, session);
      assert.equal(changed.status, 200, changed.text);
      return outcome;
    };

    const login = () => api.post("/api/login/", { pending, factor, code: code() });
    const { status, json } = await api.during(changing, login);

    if (order === "before") assert.deepEqual([status, json.code], [401, "login_expired"]);
    else assert.equal((await api.get("/users/1", { authorization: `Bearer ${json.access}` })).status, 401);
  });

test("renews no login that ends while its user adds the first factor", async (t) => {
  const api = await start(t);
  const activates = (changes: readonly Change[]): boolean =>
    changes.some((change) => change.kind === "update" && change.values["factors"] === 1);
  const ending: Interfere = async (changes) => {
    if (!activates(changes)) return null;
    const outcome = await api.store.write({ changes });
    const { generation } = (await api.store.find(accountsCollection, 1))!.record;
    await api.writeAccount({ generation: Number(generation) + 1 });
    return outcome;
  };

  const { session } = await api.during(ending, api.addTOTP);

  assert.match(session["cookie"]!, /session=/);
  assert.equal((await api.get("/users/1", session)).status, 401);
});

test("starts no waiting login if the account is deleted in the meantime, or if the store refuses the write", async (t) => {
  const api = await start(t);
  const { session } = await api.addTOTP();
  const waits = (changes: readonly Change[]): boolean =>
    changes.some((change) => change.kind === "insert" && change.collection.name === pendingLoginsCollection.name);

  const refusing: Interfere = async (changes) => (waits(changes) ? { kind: "stale", change: 0 } : null);
  assert.equal((await api.during(refusing, api.logIn)).status, 500);

  const deleting: Interfere = async (changes) => {
    if (!waits(changes)) return null;
    const deleted = await api.ask("DELETE", "/users/1", undefined, session);
    assert.equal(deleted.status, 204, deleted.text);
    return null;
  };
  const refused = await api.during(deleting, api.logIn);
  assert.deepEqual([refused.status, refused.json.code], [401, "invalid_credentials"], refused.text);
});
