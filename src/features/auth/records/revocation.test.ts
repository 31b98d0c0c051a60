import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem } from "../../../core/problem/problem.ts";
import { sqliteStore } from "../../../store/sqlite/sqlite.ts";
import type { Change, Collection, Feed, Row, Store } from "../../../store/store.ts";
import { accountsCollection, firstGeneration } from "./accounts.ts";
import { makeRevocations, type Revocations } from "./revocation.ts";
import { revocationsCollection } from "./revoked.ts";

const now = Date.parse("2026-03-01T12:00:00Z");
const accessSeconds = 300;

const owned = (name: string): Collection => ({
  name,
  key: "text",
  columns: [{ name: "user_id", type: "integer", references: { collection: "accounts", onDelete: "cascade" } }],
});
const sessions = owned("sessions");
const tokens = owned("api_tokens");

interface Scene {
  readonly store: Store;
  readonly revocations: Revocations;
  write(changes: readonly Change[]): Promise<string>;
}

async function scene(path = ":memory:"): Promise<Scene> {
  const store = sqliteStore({ path });
  await store.open([accountsCollection, sessions, tokens, revocationsCollection]);
  const revocations = makeRevocations({
    store,
    accessSeconds,
    endWithGeneration: [sessions],
    endWithAccount: [tokens],
  });
  await revocations.open();
  return { store, revocations, write: async (changes) => (await store.write({ changes })).kind };
}

const claims = { sub: 7, gen: 3, role: "admin", roleChanges: 0, fam: "family" } as const;
const account = { id: 7, generation: 3, roleChanges: 0 };
const ada: Change = {
  kind: "insert",
  collection: accountsCollection,
  key: 7,
  values: {
    username: "ada",
    username_follows_email: false,
    role: "admin",
    active: true,
    password_hash: null,
    generation: 3,
    created_at: new Date(now).toISOString(),
    last_login_at: null,
  },
};
const owns = (collection: Collection): Change => ({ kind: "insert", collection, key: "one", values: { user_id: 7 } });

test("revokes nothing at first", async () => {
  const { revocations } = await scene();

  assert.equal(revocations.isRevoked(claims, now), false);
});

test("ends sessions and earlier access tokens when the password changes, but not the API token", async () => {
  const { store, revocations, write } = await scene();
  await write([ada, owns(sessions), owns(tokens)]);

  assert.equal(await write(revocations.endAccount(account, now)), "written");

  assert.equal(revocations.isRevoked(claims, now), true);
  assert.equal(revocations.isRevoked({ ...claims, gen: 4 }, now), false);
  assert.equal(revocations.isRevoked({ ...claims, sub: 8 }, now), false);
  assert.equal((await store.find(accountsCollection, 7))?.record["generation"], 4);
  assert.equal(await store.find(sessions, "one"), null);
  assert.notEqual(await store.find(tokens, "one"), null);
});

test("also ends the API token on a deactivation", async () => {
  const { store, revocations, write } = await scene();
  await write([ada, owns(sessions), owns(tokens)]);

  await write(revocations.endAccount(account, now, true));

  assert.equal(await store.find(sessions, "one"), null);
  assert.equal(await store.find(tokens, "one"), null);
});

test("refuses the second of two concurrent requests that end all logins of an account", async () => {
  const { revocations, write } = await scene();
  await write([ada]);
  const changes = revocations.endAccount(account, now);

  assert.deepEqual([await write(changes), await write(changes)], ["written", "refused"]);
});

test("ends every token on a deletion, but no token of a later account with the same id", async () => {
  const { revocations, write } = await scene();

  await write(revocations.endDeletedAccount(account, now));

  assert.equal(revocations.isRevoked(claims, now), true);
  assert.equal(revocations.isRevoked({ ...claims, gen: now - 1 }, now), true);
  assert.equal(revocations.isRevoked({ ...claims, gen: firstGeneration(now) }, now), false);
});

test("ends the tokens of a deleted account whose generation is ahead of the clock", async () => {
  const { revocations, write } = await scene();

  await write(revocations.endDeletedAccount({ id: 7, generation: now + 5000 }, now));

  assert.equal(revocations.isRevoked({ ...claims, gen: now + 5000 }, now), true);
});

test("revokes every token that is older than a lost role, even if the user gets the role back", async () => {
  const { store, revocations, write } = await scene();
  await write([ada]);

  await write(revocations.endAccess(account, now, "user"));
  assert.equal(revocations.isRevoked(claims, now), true);
  assert.equal(revocations.isRevoked({ ...claims, role: "user" }, now), true);
  assert.equal(revocations.isRevoked({ ...claims, role: "user", roleChanges: 1 }, now), false);

  await write(revocations.endAccess({ ...account, roleChanges: 1 }, now, "admin"));
  assert.equal(revocations.isRevoked(claims, now), true);
  assert.equal(revocations.isRevoked({ ...claims, role: "user", roleChanges: 1 }, now), true);
  assert.equal(revocations.isRevoked({ ...claims, roleChanges: 2 }, now), false);
  assert.equal((await store.find(accountsCollection, 7))?.record["role_changes"], 2);
});

test("keeps the given login each time all other logins end, and ends it when the password changes", async () => {
  const { store, revocations, write } = await scene();
  await write([ada, owns(sessions), { ...owns(sessions), key: "two" } as Change]);

  await write(revocations.endLogins(account, { family: "family", sessionId: "two" }, now));
  assert.equal(revocations.isRevoked(claims, now), false);
  assert.equal(revocations.isRevoked({ ...claims, fam: "other" }, now), true);
  assert.deepEqual([await store.find(sessions, "one"), (await store.find(sessions, "two")) === null], [null, false]);
  await write(revocations.endAccess({ ...account, generation: 4 }, now, "user"));
  assert.equal(revocations.isRevoked(claims, now), true);
  const renewed = { ...claims, role: "user", roleChanges: 1 } as const;
  assert.equal(revocations.isRevoked(renewed, now), false);

  await write(revocations.endLogins({ id: 7, generation: 4 }, { family: "family", sessionId: null }, now));
  assert.equal(revocations.isRevoked(renewed, now), false);
  assert.equal(revocations.isRevoked(claims, now), true);
  assert.equal(await store.find(sessions, "two"), null);

  await write(revocations.endAccount({ id: 7, generation: 5 }, now));
  assert.equal(revocations.isRevoked(renewed, now), true);
});

test("applies a lost role and a changed password in any order", async () => {
  for (const order of [
    [0, 1],
    [1, 0],
  ] as const) {
    const { revocations, write } = await scene();
    await write([ada]);
    const changes = [revocations.endAccess(account, now, "user"), revocations.endAccount(account, now)];

    for (const index of order) assert.equal(await write(changes[index]!), "written");

    assert.equal(revocations.isRevoked(claims, now), true);
    assert.equal(revocations.isRevoked({ ...claims, gen: 4, role: "user", roleChanges: 1 }, now), false);
  }
});

test("still revokes tokens by a lost role when the row of an earlier password change arrives after it", async () => {
  const { revocations, write } = await scene();
  await write([ada]);
  await write(revocations.endAccess({ ...account, generation: 4 }, now, "user"));

  await write(revocations.endAccount(account, now));

  assert.equal(revocations.isRevoked({ ...claims, gen: 4 }, now), true);
});

test("does not apply the role of a deleted account to a later account with the same id", async () => {
  const { revocations, write } = await scene();
  await write(revocations.endAccess(account, now, "user"));

  await write(revocations.endDeletedAccount(account, now));

  assert.equal(revocations.isRevoked({ ...claims, gen: now + 1 }, now), false);
});

test("ends the tokens of a family when the family ends", async () => {
  const { revocations, write } = await scene();

  await write(revocations.endFamily("family", now));

  assert.equal(revocations.isRevoked(claims, now), true);
  assert.equal(revocations.isRevoked({ ...claims, fam: "another" }, now), false);
});

test("reads earlier revocations from the store when it opens", async () => {
  const { store, revocations, write } = await scene();
  await write(revocations.endFamily("family", now));

  const later = makeRevocations({ store, accessSeconds, endWithGeneration: [], endWithAccount: [] });
  await later.open();

  assert.equal(later.isRevoked(claims, now), true);
});

test("deletes a revocation when the last token that it could revoke has expired", async () => {
  const { store, revocations, write } = await scene();
  await write([...revocations.endFamily("family", now), ...revocations.endDeletedAccount(account, now)]);
  // The expiry in a row follows from the token lifetime of the process that wrote it. Other processes may use a longer
  // lifetime.
  const last = now + (accessSeconds + 60 + accessSeconds) * 1000;

  assert.equal(revocations.isRevoked(claims, last - 1), true);
  await write(revocations.prune(last - 1));
  assert.equal(await store.count(revocationsCollection, null), 2);

  assert.equal(revocations.isRevoked(claims, last), false);
  await write(revocations.prune(last));
  assert.equal(await store.count(revocationsCollection, null), 0);
});

/** Returns revocations over a feed with a chosen age, and without a real store. */
function revocationsOfAge(age: { ms: number }): Revocations {
  const feed: Feed = { catchUp: () => {}, ageMs: () => age.ms, close: () => {} };
  const follow = async (_collection: Collection, _onRow: (row: Row) => void): Promise<Feed> => feed;
  return makeRevocations({
    store: { follow, list: async () => [] },
    accessSeconds,
    endWithGeneration: [],
    endWithAccount: [],
  });
}

test("answers 503 if its view of the revocations is older than 5 seconds or not open yet", async () => {
  const age = { ms: 5000 };
  const revocations = revocationsOfAge(age);
  const isUnavailable = (error: unknown) =>
    error instanceof Problem && error.status === 503 && error.headers.some(([name]) => name === "Retry-After");

  assert.throws(() => revocations.isRevoked(claims, now), isUnavailable);
  await revocations.open();
  assert.equal(revocations.isRevoked(claims, now), false);
  age.ms = 5001;
  assert.throws(() => revocations.isRevoked(claims, now), isUnavailable);
});
