import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { admitted } from "../../../../tests/harness/admitted.ts";
import type { Verdict } from "../../../access/scheme/scheme.ts";
import { formatOpaqueToken, parseOpaqueToken } from "../../../core/crypto/opaque-token.ts";
import { Secret } from "../../../core/crypto/secret.ts";
import { Problem } from "../../../core/problem/problem.ts";
import { sqliteStore } from "../../../store/sqlite/sqlite.ts";
import type { Change, Store } from "../../../store/store.ts";
import { callOf } from "../../../testing/calls.ts";
import { accountsCollection, storeAccounts } from "../records/accounts.ts";
import { token } from "./scheme.ts";
import { storeAPITokens, apiTokensCollection } from "./tokens.ts";

const now = Date.parse("2026-03-01T12:00:00Z");

function insertAccount(id: number, username: string): Change {
  const created_at = new Date(now).toISOString();
  const values = {
    username,
    username_follows_email: false,
    role: "user",
    active: true,
    password_hash: null,
    generation: 0,
    created_at,
    last_login_at: null,
  };
  return { kind: "insert", collection: accountsCollection, key: id, values };
}

async function openStore(file = ":memory:"): Promise<Store> {
  const store = sqliteStore({ path: file });
  await store.open([accountsCollection, apiTokensCollection]);
  return store;
}

function serve(store: Store, secret = "a secret of the server, long enough") {
  const tokens = storeAPITokens({ store, secret: new Secret(secret), observe: () => {} });
  const scheme = token({ tokens, accounts: storeAccounts(store) });
  return {
    store,
    tokens,
    scheme,
    present: (text: string, ms = 0) => scheme.authenticate(text, callOf({ now: now + ms }), scheme.carriers[0]!),
    write: async (...changes: Change[]) => (await store.write({ changes })).kind,
  };
}

async function server(file?: string) {
  const store = await openStore(file);
  await store.write({ changes: [insertAccount(7, "ada"), insertAccount(8, "bob")] });
  return serve(store);
}

function reason(verdict: Verdict): string {
  return verdict.kind === "rejected" ? verdict.reason : verdict.kind;
}

async function settle(store: Store): Promise<void> {
  await store.write({ changes: [] });
  await new Promise((resolve) => setImmediate(resolve));
}

test("accepts a token for its account, without waiting for the store", async () => {
  const { tokens, present } = await server();
  const { token: text, created } = await tokens.issue(admitted(7), now);

  assert.equal(created, true);
  assert.deepEqual(present(text), {
    kind: "accepted",
    identity: { id: 7, username: "ada", role: "user", scheme: "token", scopes: null, expiresAt: null, needs: 1 },
  });
});

test("returns the same token again, also after a restart", async () => {
  const { store, tokens } = await server();
  const { token: text } = await tokens.issue(admitted(7), now);

  assert.deepEqual(await tokens.issue(admitted(7), now + 1000), { token: text, created: false });
  assert.deepEqual(await serve(store).tokens.issue(admitted(7), now + 2000), { token: text, created: false });
});

test("makes one token for many concurrent requests, and returns it to all", async () => {
  const { tokens } = await server();

  const issued = await Promise.all(Array.from({ length: 20 }, () => tokens.issue(admitted(7), now)));

  assert.equal(new Set(issued.map((each) => each.token)).size, 1);
  assert.equal(issued.filter((each) => each.created).length, 1);
});

test("distinguishes a revoked token from a guess, and issues a different token next", async () => {
  const { tokens, present } = await server();
  const { token: first } = await tokens.issue(admitted(7), now);

  assert.deepEqual([await tokens.revoke(7), await tokens.revoke(7), await tokens.revoke(9)], [true, false, false]);

  assert.equal(reason(await present(first)), "revoked");
  const { token: second, created } = await tokens.issue(admitted(7), now);
  assert.equal(created, true);
  assert.notEqual(second, first);
});

test("shows the prefix and the last use of a token, but not its secret", async () => {
  const { store, tokens, present } = await server();
  assert.equal(await tokens.find(7), null);
  const { token: text } = await tokens.issue(admitted(7), now);

  await present(text, 5000);
  await settle(store);

  const prefix = text.slice(0, "key_".length + 14);
  const created_at = new Date(now).toISOString();
  assert.deepEqual(await tokens.find(7), { prefix, created_at, last_used_at: new Date(now + 5000).toISOString() });
});

test("writes the last use at most once a minute", async () => {
  const { store, tokens, present } = await server();
  const { token: text } = await tokens.issue(admitted(7), now);

  for (const [ms, expected] of [
    [0, 0],
    [59_999, 0],
    [60_000, 60_000],
  ] as const) {
    await present(text, ms);
    await settle(store);
    assert.equal((await tokens.find(7))?.last_used_at, new Date(now + expected).toISOString());
  }
});

test("reports a wrong secret as forged, an unknown lookup id as unknown, and a wrong checksum as malformed", async () => {
  const { tokens, present } = await server();
  const { token: text } = await tokens.issue(admitted(7), now);
  const { token: bobs } = await tokens.issue(admitted(8), now);
  const [ada, bob] = [parseOpaqueToken(text)!, parseOpaqueToken(bobs)!];

  assert.equal(reason(await present(formatOpaqueToken({ lookup: ada.lookup, secret: bob.secret }))), "forged");
  assert.equal(reason(await present(formatOpaqueToken({ lookup: "0".repeat(14), secret: ada.secret }))), "unknown");
  assert.equal(reason(await present(`${text.slice(0, -1)}${text.endsWith("0") ? "1" : "0"}`)), "malformed");
});

test("rejects any text that is not a token as malformed, without a fault", async () => {
  const { present } = await server();

  for (const text of ["", "key_", "x".repeat(100_000), "key_\u0000", "null"])
    assert.equal(reason(await present(text)), "malformed");
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary" }), async (text) => reason(await present(text)) === "malformed"),
  );
});

test("reports a token as revoked if its server secret was removed", async () => {
  const { store, tokens } = await server();
  const { token: text } = await tokens.issue(admitted(7), now);

  assert.equal(reason(await serve(store, "another secret of another server").present(text)), "revoked");
});

test("refuses the token of an inactive account, and reports the token of a deleted account as revoked", async () => {
  const { tokens, present, write } = await server();
  const { token: text } = await tokens.issue(admitted(7), now);

  await write({ kind: "update", collection: accountsCollection, key: 7, values: { active: false } });
  assert.equal(reason(await present(text)), "inactive");

  await write({ kind: "delete", collection: accountsCollection, key: 7 });
  assert.equal(reason(await present(text)), "revoked");
  await assert.rejects(
    tokens.issue(admitted(7), now),
    (error) => error instanceof Problem && error.code === "not_found",
  );
});

test("issues no token if the account was deactivated after the admission", async () => {
  const { tokens, write } = await server();

  await write({ kind: "update", collection: accountsCollection, key: 7, values: { active: false } });

  await assert.rejects(
    tokens.issue(admitted(7), now),
    (error) => error instanceof Problem && error.code === "conflict",
  );
  assert.equal(await tokens.find(7), null);
});

test("sends a Token challenge with the realm", async () => {
  const { scheme } = await server();

  assert.equal(scheme.challenge?.(callOf(), null), 'Token realm="api"');
});

test("stores neither the token nor its secret in the database files", async (context) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const { store, tokens } = await server(path.join(folder, "test.db"));

  const { token: text } = await tokens.issue(admitted(7), now);

  const bytes = readdirSync(folder).map((name) => readFileSync(path.join(folder, name), "latin1"));
  assert.equal(
    bytes.some((file) => file.includes(text) || file.includes(parseOpaqueToken(text)!.secret)),
    false,
  );
  await store.close();
});
