import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { loginThrottle } from "../../../access/throttle/throttle.ts";
import type { LoginThrottle } from "../../../access/throttle/throttle.ts";
import { needsUpgrade } from "../../../core/crypto/password-hash.ts";
import { Problem } from "../../../core/problem/problem.ts";
import { sqliteStore } from "../../../store/sqlite/sqlite.ts";
import type { Store } from "../../../store/store.ts";
import { accountsIn, type Person } from "../../../testing/accounts.ts";
import { callOf } from "../../../testing/calls.ts";
import { makeFactors } from "../gate/factors.ts";
import { makeGate } from "../gate/gate.ts";
import type { Gate } from "../gate/parts.ts";
import { makePendingLogins } from "../gate/pending.ts";
import { accountsCollection, type Accounts } from "../records/accounts.ts";
import { makeRevocations } from "../records/revocation.ts";
import { checkNewPassword, makePasswords } from "./passwords.ts";

const foreignHash = "pbkdf2_sha256$260000$Xq3SaltOfDjango$m8hu99PQl2ruiMx5Xl7nkwFTI6PEvlX8P6QCdbypeI4=";
const people: Person[] = [
  { username: "ada", password: "lovelace 1815" },
  { username: "gone", password: "lovelace 1815", active: false },
  { username: "nopass", passwordHash: null },
  { username: "django", passwordHash: foreignHash },
  { username: "broken", passwordHash: "no hash at all" },
];

async function set(limit = 10) {
  const store = sqliteStore({ path: ":memory:" });
  const accounts = await accountsIn(store, people);
  const throttle = loginThrottle({ store, limit });
  const passwords = makePasswords({ accounts, store, throttle, cores: 2 });
  const gate = createGate(store, accounts, throttle);
  return { store, accounts, passwords, gate, [Symbol.asyncDispose]: () => store.close() };
}

function createGate(store: Store, accounts: Accounts, throttle: LoginThrottle): Gate {
  const askFor = () => assert.fail("nothing more is asked");
  const parts = {
    store,
    accounts,
    throttle,
    revocations: makeRevocations({ store, accessSeconds: () => 0, endWithGeneration: [], endWithAccount: [] }),
    rule: "optional",
    pending: makePendingLogins(store, throttle),
    factors: makeFactors(store),
    challenge: () => "Session",
  } as const;
  return makeGate(parts, askFor);
}

const call = callOf({ now: Date.parse("2026-03-01T12:00:00Z") });

test("accepts the right password of an active account, in any case of the username", async () => {
  await using house = await set();

  assert.equal((await house.passwords.verify(call, "ada", "lovelace 1815"))?.id, 1);
  assert.equal((await house.passwords.verify(call, "ADA", "lovelace 1815"))?.id, 1);
});

const wrong: [username: string, password: string][] = [
  ["ada", "lovelace 1816"],
  ["ada", ""],
  ["nobody", "lovelace 1815"],
  ["", "lovelace 1815"],
  ["ada\0", "lovelace 1815"],
  ["\ud800", "lovelace 1815"],
  ["a".repeat(100_000), "lovelace 1815"],
  ["gone", "lovelace 1815"],
  ["nopass", ""],
  ["broken", "no hash at all"],
];

for (const [username, password] of wrong) {
  test(`rejects ${JSON.stringify(username.slice(0, 20))} with password ${JSON.stringify(password)} and counts the failure`, async () => {
    await using house = await set(1);

    assert.equal(await house.passwords.verify(call, username, password), null);
    await assert.rejects(
      house.passwords.verify(call, username, password),
      (error) => error instanceof Problem && error.status === 429,
    );
  });
}

test("stores the time of a complete login, but not of a right password alone", async () => {
  await using house = await set();

  await house.passwords.verify(call, "ada", "lovelace 1815");
  assert.equal((await house.accounts.find(1))?.lastLoginAt, null);

  const proved = await house.passwords.login(call, "ada", "lovelace 1815");
  assert.equal((await house.accounts.find(1))?.lastLoginAt, null);

  await house.gate.admitLogin(call, proved!, []);
  assert.equal((await house.accounts.find(1))?.lastLoginAt, "2026-03-01T12:00:00.000Z");
});

test("replaces a hash of another format on the first right password, and keeps the credentials of the account", async () => {
  await using house = await set();

  const account = await house.passwords.verify(call, "django", "lètmein änd stay");

  const stored = await house.accounts.find(4);
  assert.equal(needsUpgrade(stored?.passwordHash ?? ""), false);
  assert.equal(stored?.generation, 1);
  assert.deepEqual(account, stored);
  assert.equal((await house.passwords.verify(call, "django", "lètmein änd stay"))?.id, 4);
  assert.equal(await house.passwords.verify(call, "django", "lètmein"), null);
});

test("accepts a one-time password of another cost or format once, and replaces its hash", async () => {
  await using house = await set();
  const values = { password_once: "unused", password_until: "2026-03-08T12:00:00.000Z" };
  await house.store.write({ changes: [{ kind: "update", collection: accountsCollection, key: 4, values }] });

  const logins = await Promise.all(
    [1, 2].map(async () => {
      const proved = await house.passwords.login(call, "django", "lètmein änd stay");
      return house.gate.admitLogin(call, proved!, []);
    }),
  );

  assert.equal(logins.filter((admission) => admission?.userId === 4).length, 1);
  assert.equal(logins.filter((admission) => admission === null).length, 1);
  const stored = await house.accounts.find(4);
  assert.equal(stored?.passwordOnce, "used");
  assert.equal(needsUpgrade(stored?.passwordHash ?? ""), false);
  assert.equal((await house.passwords.prove(call, "django", "lètmein änd stay"))?.id, 4);
});

test("keeps a password that is changed while its old hash is being replaced", async () => {
  await using house = await set();

  const verified = house.passwords.verify(call, "django", "lètmein änd stay");
  await new Promise((resolve) => setImmediate(resolve));
  await house.store.write({
    changes: [{ kind: "update", collection: accountsCollection, key: 4, values: { password_hash: "changed" } }],
  });
  await verified;

  assert.equal((await house.accounts.find(4))?.passwordHash, "changed");
});

for (const values of [{ generation: 2, password_hash: foreignHash }, { active: false }, null])
  test(`rejects a password if the account has ${values === null ? "been deleted" : `changed (${Object.keys(values).join()})`} while the check waited`, async () => {
    await using house = await set(1);

    const verified = house.passwords.login(call, "ada", "lovelace 1815");
    await turn();
    const one = { collection: accountsCollection, key: 1 } as const;
    await house.store.write({
      changes: [values === null ? { kind: "delete", ...one } : { kind: "update", ...one, values }],
    });

    assert.equal(await verified, null);
  });

test("computes no second hash for a repeated write within one request, except for another password", async () => {
  await using house = await set();
  const request = callOf({ now: call.now });

  const first = await house.passwords.hash(request, "lovelace 1815");

  assert.equal(await house.passwords.hash(request, "lovelace 1815"), first);
  assert.notEqual(await house.passwords.hash(request, "lovelace 1816"), first);
  assert.notEqual(await house.passwords.hash(callOf({ now: call.now }), "lovelace 1815"), first);
  assert.notEqual(await house.passwords.hash(null, "lovelace 1815"), await house.passwords.hash(null, "lovelace 1815"));
});

test("computes at most one hash more than the limit in a burst of wrong passwords", async () => {
  await using house = await set();

  const tries = await Promise.allSettled(
    Array.from({ length: 60 }, (_, at) => house.passwords.verify(call, "ada", `guess ${at}`)),
  );

  const hashed = tries.filter(({ status }) => status === "fulfilled").length;
  assert.ok(hashed >= 10 && hashed <= 11, `${hashed} were hashed`);
});

test("answers 503 with Retry-After if more than 64 hashes wait", async () => {
  await using house = await set();

  const tries = await Promise.allSettled(
    Array.from({ length: 80 }, (_, at) => house.passwords.hash(call, `correct horse ${at}`)),
  );

  const refused = tries.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
  assert.equal(refused.length, 80 - 64 - 2);
  for (const reason of refused) {
    assert.ok(reason instanceof Problem && reason.code === "unavailable");
    assert.deepEqual(reason.headers, [["Retry-After", "1"]]);
  }
  assert.match(await house.passwords.hash(call, "correct horse"), /^\$argon2id\$/);
});

test("refuses a caller who fills the queue, with one read of the store, and refuses no other caller", async () => {
  await using house = await set();
  const reads: string[] = [];
  const accounts: Accounts = {
    ...house.accounts,
    findByUsername: (name) => (reads.push("accounts"), house.accounts.findByUsername(name)),
  };
  const store: Store = {
    ...house.store,
    find: (collection, key) => (reads.push(collection.name), house.store.find(collection, key)),
    list: (query) => (reads.push(query.collection.name), house.store.list(query)),
  };
  const passwords = makePasswords({ accounts, store, throttle: loginThrottle({ store }), cores: 1 });
  const verify = (name: string, from = call) => passwords.verify(from, name, "lovelace 1815").catch(requireStatus);
  const flood = Array.from({ length: 65 }, () => verify("ada"));
  // Ten turns of the event loop are enough to read the accounts, after which all requests of the flood have their
  // places.
  await Promise.all(Array.from({ length: 10 }, () => turn()));
  const before = reads.length;

  const refused = await Promise.all(Array.from({ length: 100 }, () => verify("ADA")));

  assert.deepEqual(new Set(refused), new Set([503]));
  assert.deepEqual(reads.slice(before), Array<string>(100).fill("known_addresses"));
  const other = await verify("django", callOf({ now: call.now, peer: "192.0.2.9", encrypted: true }));
  assert.equal(other, null);
  await Promise.all(flood);
});

test("waits in the queue as the found account, whose addresses are known, if another spelling was typed", async () => {
  await using house = await set();
  const { store } = house;
  const accounts: Accounts = { ...house.accounts, findByUsername: () => house.accounts.findByUsername("ada") };
  const throttle = loginThrottle({ store });
  const asked: string[] = [];
  const isKnown: typeof throttle.isKnown = (from, name) => (asked.push(name), throttle.isKnown(from, name));
  const passwords = makePasswords({ accounts, store, throttle: { ...throttle, isKnown }, cores: 1 });

  await passwords.verify(call, "another spelling", "wrong");
  await passwords.verify(call, "ADA", "wrong");

  assert.deepEqual(asked, ["another spelling", "ada", "ADA", "ada"]);
});

function requireStatus(error: unknown): number {
  assert.ok(error instanceof Problem);
  return error.status;
}

const account = { username: "ada.lovelace", email: "Ada@Example.com" };
const rules: [password: string, code: string | null][] = [
  ["correct horse", null],
  ["12345é78", null],
  ["short 7", "too_short"],
  ["😀".repeat(7), "too_short"],
  ["😀".repeat(8), null],
  ["😀".repeat(256), null],
  ["😀".repeat(257), "too_long"],
  ["x".repeat(1_000_000), "too_long"],
  ["tab\there!", "invalid"],
  ["nul\0 here", "invalid"],
  ["lone \ud800 surrogate", "invalid"],
  ["PassWord1", "too_common"],
  ["ADA.lovelace", "same_as_username"],
  ["ada@example.COM", "same_as_email"],
  ["LatchKey", "same_as_service"],
];

for (const [password, code] of rules) {
  test(`finds the new password ${JSON.stringify(password.slice(0, 24))} to be ${code ?? "accepted"}`, () => {
    const issue = checkNewPassword(password, account, ["latchkey"]);

    assert.equal(issue?.code ?? null, code);
    assert.equal(issue?.pointer ?? "/password", "/password");
  });
}

test("compares no e-mail if the account has none", () => {
  assert.equal(checkNewPassword("correct horse", { username: "ada", email: null }), null);
});

test("hashes with the cost in its options, and replaces a hash of another cost on login", async () => {
  const store = sqliteStore({ path: ":memory:" });
  const accounts = await accountsIn(store, [{ username: "ada", password: "lovelace 1815" }]);
  const throttle = loginThrottle({ store });

  for (const passes of [3, 2]) {
    const cost = { memoryKiB: 19_456, passes, lanes: 1 };
    const passwords = makePasswords({ accounts, store, throttle, cores: 2, cost });
    assert.equal(await passwords.verify(call, "nobody", "lovelace 1815"), null);
    await passwords.verify(call, "ada", "lovelace 1815");

    assert.ok((await accounts.find(1))!.passwordHash!.startsWith(`$argon2id$v=19$m=19456,t=${passes},p=1$`));
  }
  await store.close();
});
