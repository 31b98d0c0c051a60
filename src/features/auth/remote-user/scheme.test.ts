import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Secret } from "../../../core/crypto/secret.ts";
import { sqliteStore } from "../../../store/sqlite/sqlite.ts";
import type { Change } from "../../../store/store.ts";
import { accountsIn } from "../../../testing/accounts.ts";
import { callOf } from "../../../testing/calls.ts";
import { accountsCollection } from "../records/accounts.ts";
import { storeBindings } from "../records/bindings.ts";
import { remoteUser, type RemoteUserOptions } from "./scheme.ts";

async function set(options: Partial<RemoteUserOptions> = {}) {
  const store = sqliteStore({ path: ":memory:" });
  const accounts = await accountsIn(store, [
    { username: "ada" },
    { username: "gone", active: false },
    { username: "zoë" },
  ]);
  const bindings = storeBindings({ store, accounts, observe: () => undefined });
  const scheme = remoteUser({ bindings, ...options });
  return {
    async ask(name: string, headers: [string, string][] = []) {
      const verdict = await scheme.authenticate(name, callOf({ headers }), scheme.carriers[0]!);
      return verdict.kind === "accepted"
        ? verdict.identity.id
        : verdict.kind === "rejected"
          ? verdict.reason
          : verdict.kind;
    },
    [Symbol.asyncDispose]: () => store.close(),
  };
}

const latin1 = (text: string) => Buffer.from(text).toString("latin1");

const names: [name: string, answer: number | string][] = [
  ["ada", 1],
  ["gone", "inactive"],
  ["nobody", "inactive"],
  [latin1("zoë"), 3],
  ["zoë", 3],
  ["a:b", "malformed"],
  ["tab\there", "malformed"],
  [latin1("next\u0085line"), "malformed"],
  [latin1("\u00a0ada"), "malformed"],
  ["a".repeat(150), "inactive"],
  ["a".repeat(151), "malformed"],
  ["a".repeat(8192), "malformed"],
];

for (const [name, answer] of names) {
  test(`answers ${answer} (an account id or a reason) for the remote user ${JSON.stringify(name.slice(0, 20))}`, async () => {
    await using house = await set();

    assert.equal(await house.ask(name), answer);
  });
}

test("requires the secret from the proxy if one is set", async () => {
  await using house = await set({ secret: new Secret("ein größeres Geheimnis") });
  const right: [string, string] = ["X-Remote-User-Secret", latin1("ein größeres Geheimnis")];

  assert.equal(await house.ask("ada", [right]), 1);
  assert.equal(await house.ask("ada"), "forged");
  assert.equal(await house.ask("ada", [["X-Remote-User-Secret", ""]]), "forged");
  assert.equal(await house.ask("ada", [["X-Remote-User-Secret", "wrong"]]), "forged");
  await assert.rejects(house.ask("ada", [right, right]), { code: "duplicate_credentials" });
});

test("makes an account for a user that only the proxy knows", async () => {
  const made: string[] = [];
  const create = (username: string): readonly Change[] | null => {
    made.push(username);
    if (username === "vague") return null;
    const values = {
      username,
      username_follows_email: false,
      role: "user",
      active: username !== "closed",
      password_hash: null,
      generation: 1,
      created_at: "2026-01-01T00:00:00.000Z",
      last_login_at: null,
    };
    return [{ kind: "insert", collection: accountsCollection, key: 8 + made.length, values }];
  };
  await using house = await set({ create });

  assert.equal(await house.ask(latin1("chloë")), 9);
  assert.equal(await house.ask("vague"), "inactive");
  assert.equal(await house.ask("closed"), "inactive");
  assert.equal(await house.ask("ada"), 1);
  assert.equal(await house.ask(latin1("chloë")), 9);
  assert.deepEqual(made, ["chloë", "vague", "closed"]);
});

test("does not accept another spelling of a username as the same user", async () => {
  await using house = await set();

  for (const name of ["ADA", "Ada", "ad\u0430", "ada\u0301"])
    await house.ask(latin1(name)).then(
      (answer) => assert.equal(answer, "inactive"),
      (error) => assert.equal(error.code, "identity_not_bound"),
    );
  await assert.rejects(house.ask("ADA"), { code: "identity_not_bound" });
  assert.equal(await house.ask("ada"), 1);
  await assert.rejects(house.ask("ADA"), { code: "identity_not_bound" });
});

test("accepts or rejects any username from a proxy without a fault", async () => {
  await using house = await set();

  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary" }), async (name) =>
      assert.match(String(await house.ask(name)), /^(\d|inactive|malformed)$/),
    ),
  );
});
