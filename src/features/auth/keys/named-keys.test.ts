import assert from "node:assert/strict";
import { test } from "node:test";
import { admitted } from "../../../../tests/harness/admitted.ts";
import { opaqueTokenPattern, parseOpaqueToken } from "../../../core/crypto/opaque-token.ts";
import { Secret } from "../../../core/crypto/secret.ts";
import { sqliteStore } from "../../../store/sqlite/sqlite.ts";
import type { Change } from "../../../store/store.ts";
import { accountsCollection } from "../records/accounts.ts";
import { storeNamedKeys, namedKeysCollection } from "./named-keys.ts";

const now = Date.parse("2026-03-01T12:00:00Z");

async function server() {
  const store = sqliteStore({ path: ":memory:" });
  await store.open([accountsCollection, namedKeysCollection]);
  const account = { username_follows_email: false, role: "user", active: true, password_hash: null, generation: 0 };
  const times = { created_at: new Date(now).toISOString(), last_login_at: null };
  const insert = (username: string): Change => ({
    kind: "insert",
    collection: accountsCollection,
    values: { username, ...account, ...times },
  });
  await store.write({ changes: [insert("ada"), insert("bob")] });
  const createKeys = (secret: string) => storeNamedKeys({ store, secret: new Secret(secret), observe: () => {} });
  const keys = createKeys("a secret of the server, long enough");
  const { key, listed } = await keys.create(admitted(1), { name: "laptop", scopes: ["read"], expiresAt: null }, now);
  return { store, keys, createKeys, key, listed, parsed: parseOpaqueToken(key)! };
}

test("creates a key in the common form of tokens, with its user and its scopes", async () => {
  const { keys, key, parsed, listed } = await server();
  const limits = { scopes: ["read"], expiresAt: null, keyId: listed.id };

  assert.match(key, opaqueTokenPattern);
  assert.deepEqual(await keys.check(parsed, now), { kind: "genuine", userId: 1, ...limits });
});

test("refuses a key whose row was written directly into the database", async () => {
  const { store, keys, parsed, listed } = await server();
  const stored = (await store.find(namedKeysCollection, listed.id))!.record;
  const { id: _id, ...values } = stored;

  await store.write({ changes: [{ kind: "insert", collection: namedKeysCollection, key: "A".repeat(14), values }] });
  assert.equal((await keys.check({ ...parsed, lookup: "A".repeat(14) }, now)).kind, "forged");

  await store.write({
    changes: [{ kind: "update", collection: namedKeysCollection, key: listed.id, values: { user_id: 2 } }],
  });
  assert.equal((await keys.check(parsed, now)).kind, "forged");
});

test("refuses keys of a server with another secret", async () => {
  const { createKeys, keys, parsed } = await server();
  const other = createKeys("another secret of another server");

  assert.equal((await other.check(parsed, now)).kind, "forged");
  await keys.revoke(1, parsed.lookup);
  assert.deepEqual(
    [(await keys.check(parsed, now)).kind, (await other.check(parsed, now)).kind],
    ["revoked", "unknown"],
  );
});

test("finds and revokes only the user's own keys", async () => {
  const { keys, listed } = await server();

  assert.deepEqual([await keys.find(2, listed.id), await keys.revoke(2, listed.id)], [null, false]);
  assert.deepEqual([await keys.find(1, listed.id), await keys.list(1), await keys.list(2)], [listed, [listed], []]);
  assert.deepEqual([await keys.revoke(1, listed.id), await keys.revoke(1, listed.id)], [true, false]);
});

test("creates no key if the account was deactivated after the admission", async () => {
  const { store, keys } = await server();
  const values = { active: false };
  await store.write({ changes: [{ kind: "update", collection: accountsCollection, key: 2, values }] });

  await assert.rejects(keys.create(admitted(2), { name: "x", scopes: null, expiresAt: null }, now), {
    code: "conflict",
    detail: "The account is not active, or its logins were revoked during this request.",
  });
  assert.deepEqual(await keys.list(2), []);
});

test("refuses to make a key for a missing user", async () => {
  const { keys } = await server();

  await assert.rejects(keys.create(admitted(99), { name: "x", scopes: null, expiresAt: null }, now), {
    code: "not_found",
  });
});
