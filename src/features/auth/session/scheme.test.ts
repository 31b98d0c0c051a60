import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { admitted } from "../../../../tests/harness/admitted.ts";
import type { Verdict } from "../../../access/scheme/scheme.ts";
import type { Observation } from "../../../core/observation.ts";
import { Problem } from "../../../core/problem/problem.ts";
import { sqliteStore } from "../../../store/sqlite/sqlite.ts";
import type { Change, Store } from "../../../store/store.ts";
import { callOf } from "../../../testing/calls.ts";
import { accountsCollection, storeAccounts, type Account } from "../records/accounts.ts";
import { session } from "./scheme.ts";
import { sessions, sessionsCollection } from "./sessions.ts";

const now = Date.parse("2026-03-01T12:00:00Z");
const hour = 3_600_000;

function insertAccount(id: number, username: string): Change {
  const created_at = new Date(now).toISOString();
  const values = {
    username,
    username_follows_email: false,
    role: "user",
    active: true,
    password_hash: null,
    generation: 1,
    created_at,
    last_login_at: null,
  };
  return { kind: "insert", collection: accountsCollection, key: id, values };
}

async function server(file = ":memory:") {
  const store = sqliteStore({ path: file });
  await store.open([accountsCollection, sessionsCollection]);
  await store.write({ changes: [insertAccount(7, "ada"), insertAccount(8, "bob")] });
  const observed: Observation[] = [];
  const sessionStore = sessions({
    store,
    idleSeconds: 86_400,
    lifetimeSeconds: 1_209_600,
    observe: (each) => observed.push(each),
  });
  const accounts = storeAccounts(store);
  const scheme = session({ sessions: sessionStore, accounts });
  const account = async (id = 7): Promise<Account> => (await accounts.find(id))!;
  return {
    store,
    sessions: sessionStore,
    scheme,
    observed,
    account,
    login: async (id = 7, headers: Record<string, string> = {}) =>
      sessionStore.create(admitted(await account(id), now), callOf({ now, headers })),
    present: (id: string, ms = 0) => scheme.authenticate(id, callOf({ now: now + ms }), scheme.carriers[0]!),
    write: async (...changes: Change[]) => (await store.write({ changes })).kind,
  };
}

function reason(verdict: Verdict): string {
  return verdict.kind === "rejected" ? verdict.reason : verdict.kind;
}

async function written(store: Store): Promise<string | undefined> {
  const [row] = await store.list({ collection: sessionsCollection, where: null, sort: [{ column: "id" }], limit: 1 });
  return row?.record["last_seen_at"] as string | undefined;
}

/** Waits until pending background writes are in the store, by adding a write after them. */
async function settle(store: Store): Promise<void> {
  await store.write({ changes: [] });
  await new Promise((resolve) => setImmediate(resolve));
}

test("accepts a session for its account, and answers without waiting", async () => {
  const { login, present } = await server();
  const { id, expiresAt } = await login();

  const verdict = present(id);

  assert.equal(expiresAt, now + 1_209_600_000);
  assert.ok(!(verdict instanceof Promise) && verdict.kind === "accepted");
  const { sessionId, ...identity } = verdict.identity;
  assert.deepEqual(identity, {
    id: 7,
    username: "ada",
    role: "user",
    scheme: "session",
    scopes: null,
    expiresAt,
    needs: 1,
    level: 2,
    proofs: [{ method: "operator", at: now }],
    authTime: now,
  });
  assert.notEqual(sessionId, id);
});

test("ends a replaced session ten seconds later, and never later than it would have ended", async () => {
  const { store, sessions: all, login, present } = await server();
  const [replaced, ending] = [await login(), await login()];
  const keyOf = async (id: string): Promise<string> => {
    const verdict = await present(id);
    return verdict.kind === "accepted" ? String(verdict.identity.sessionId) : assert.fail(reason(verdict));
  };
  const key = await keyOf(ending.id);
  const expires_at = new Date(now + 3000).toISOString();
  await store.write({ changes: [{ kind: "update", collection: sessionsCollection, key, values: { expires_at } }] });

  await all.endSoon(await keyOf(replaced.id), now + 10_000);
  await all.endSoon(key, now + 10_000);

  assert.deepEqual(
    [reason(await present(replaced.id, 9999)), reason(await present(replaced.id, 10_000))],
    ["accepted", "expired"],
  );
  assert.deepEqual(
    [reason(await present(ending.id, 2999)), reason(await present(ending.id, 3000))],
    ["accepted", "expired"],
  );
});

test("makes a new id of 256 bits for every login", async () => {
  const { login } = await server();
  const ids = new Set<string>();

  for (let n = 0; n < 20; n += 1) ids.add((await login()).id);

  assert.equal(ids.size, 20);
  for (const id of ids) assert.equal(Buffer.from(id, "base64url").length, 32);
});

test("reports an unknown id as expired, so that the cookie of an ended session does not count as a guess", async () => {
  const { present } = await server();

  for (const id of ["A".repeat(43), "_".repeat(43)]) assert.equal(reason(await present(id)), "expired");
});

test("ignores a cookie whose value is not a session id", async () => {
  const { present } = await server();

  for (const id of [
    "",
    "x",
    "A".repeat(42),
    "A".repeat(44),
    "é".repeat(43),
    "A".repeat(100_000),
    "__proto__",
    "' or 1=1 --",
  ])
    assert.equal(reason(await present(id)), "absent");
});

test("ends a session that was idle too long, and extends one that is used", async () => {
  const { store, login, present } = await server();
  const { id } = await login();

  assert.equal(reason(await present(id, 23 * hour)), "accepted");
  await settle(store);
  assert.equal(reason(await present(id, 47 * hour - 1)), "accepted");
  await settle(store);
  assert.equal(reason(await present(id, 71 * hour - 1)), "expired");
});

test("ends a session at its latest expiry, regardless of use", async () => {
  const { store, login, present } = await server();
  const { id } = await login();

  for (let hours = 20; hours < 336; hours += 20) {
    assert.equal(reason(await present(id, hours * hour)), "accepted");
    await settle(store);
  }

  assert.equal(reason(await present(id, 336 * hour - 1)), "accepted");
  assert.equal(reason(await present(id, 336 * hour)), "expired");
});

test("writes the last use at most once a minute", async () => {
  const { store, login, present } = await server();
  const { id } = await login();

  for (const [ms, expected] of [
    [59_999, 0],
    [60_000, 60_000],
    [119_999, 60_000],
    [120_000, 120_000],
  ] as const) {
    await present(id, ms);
    await present(id, ms);
    await settle(store);
    assert.equal(await written(store), new Date(now + expected).toISOString());
  }
});

test("logs a notice and still answers if the store cannot write the last use", async () => {
  const { store, observed } = await server();
  const failing = { ...store, find: store.find.bind(store), write: async () => Promise.reject(new Error("disk full")) };
  const broken = sessions({
    store: failing,
    idleSeconds: 86_400,
    lifetimeSeconds: 1_209_600,
    observe: (each) => observed.push(each),
  });
  const { id } = await sessions({ store, idleSeconds: 86_400, lifetimeSeconds: 1_209_600, observe: () => {} }).create(
    admitted((await storeAccounts(store).find(7))!, now),
    callOf({ now }),
  );

  assert.notEqual(await broken.find(id, now + 60_000), null);
  await settle(store);

  assert.deepEqual(
    observed.map(({ kind }) => kind),
    ["notice"],
  );
});

test("refuses a session of an older generation or of an inactive or deleted account", async () => {
  const { login, present, write } = await server();
  const [ada, bob] = [await login(7), await login(8)];

  await write({ kind: "update", collection: accountsCollection, key: 7, values: { generation: 2 } });
  await write({ kind: "update", collection: accountsCollection, key: 8, values: { active: false } });
  assert.deepEqual([reason(await present(ada.id)), reason(await present(bob.id))], ["revoked", "inactive"]);

  await write({ kind: "delete", collection: accountsCollection, key: 7 });
  assert.equal(reason(await present(ada.id)), "expired");
});

test("refuses with invalid_credentials a login to an account that was just deleted", async () => {
  const { sessions: sessionStore, account, write } = await server();
  const ada = await account();
  await write({ kind: "delete", collection: accountsCollection, key: 7 });

  await assert.rejects(
    sessionStore.create(admitted(ada, now), callOf({ now })),
    (error) => error instanceof Problem && error.code === "invalid_credentials",
  );
});

test("ends the session at logout, and accepts a second logout", async () => {
  const { login, present, sessions: sessionStore } = await server();
  const [one, other] = [await login(), await login()];

  for (const id of [one.id, one.id, "nonsense"]) await sessionStore.end(id);

  assert.equal(reason(await present(one.id)), "expired");
  assert.equal(reason(await present(other.id)), "accepted");
});

const pageAt = (at: number) => ({ after: null, backwards: false, limit: 100, now: at });

test("lists the active sessions of a user, newest first, and marks the current one", async () => {
  const { store, account, sessions: sessionStore, login, present } = await server();
  await login(8);
  const { id } = await login(7, { "User-Agent": "x".repeat(1000) });
  await sessionStore.create(admitted(await account(), now), callOf({ now: now + 1000, peer: "192.0.2.1" }));
  const verdict = await present(id);
  assert.ok(verdict.kind === "accepted");

  const list = await sessionStore.list(7, pageAt(now + 2000), verdict.identity.sessionId ?? null);

  assert.deepEqual(
    list.map(({ address, current, user_agent }) => [address, current, user_agent]),
    [
      ["192.0.2.1", false, null],
      ["127.0.0.1", true, "x".repeat(300)],
    ],
  );
  assert.deepEqual(Object.keys(list[0]!), [
    "id",
    "kind",
    "created_at",
    "last_seen_at",
    "expires_at",
    "address",
    "user_agent",
    "current",
  ]);
  assert.equal(JSON.stringify(list).includes(id) || JSON.stringify(list).includes(verdict.identity.sessionId!), false);
  assert.deepEqual(await sessionStore.list(7, pageAt(now + 25 * hour), null), []);
  assert.equal(await store.count(sessionsCollection, null), 3);
});

test("ends one session of a user, but never another user's", async () => {
  const { sessions: sessionStore, login, present } = await server();
  const [ada, adaToo, bob] = [await login(7), await login(7), await login(8)];
  const publicId = (await sessionStore.list(7, pageAt(now), null))[0]!.id;

  assert.equal(await sessionStore.endOne(8, publicId), false);
  assert.equal(await sessionStore.endOne(7, "nonsense"), false);
  assert.equal(await sessionStore.endOne(7, publicId), true);
  assert.equal(await sessionStore.endOne(7, publicId), false);
  assert.equal((await sessionStore.list(7, pageAt(now), null)).length, 1);

  assert.deepEqual([reason(await present(ada.id)), reason(await present(adaToo.id))].toSorted(), [
    "accepted",
    "expired",
  ]);
  assert.equal(reason(await present(bob.id)), "accepted");
});

test("deletes expired sessions and keeps active ones", async () => {
  const { store, sessions: sessionStore, login, account, write } = await server();
  await login();
  await sessionStore.create(admitted(await account(), now), callOf({ now: now + hour }));

  await write(...sessionStore.prune(now + 24 * hour));

  assert.equal(await store.count(sessionsCollection, null), 1);
});

test("stores no session id in the database files", async (context) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const { store, login } = await server(path.join(folder, "test.db"));

  const { id } = await login();

  const bytes = readdirSync(folder).map((name) => readFileSync(path.join(folder, name), "latin1"));
  assert.equal(
    bytes.some((text) => text.includes(id)),
    false,
  );
  await store.close();
});
