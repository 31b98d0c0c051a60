import assert from "node:assert/strict";
import { test } from "node:test";
import type { Verdict } from "../../../access/scheme/scheme.ts";
import { loginThrottle } from "../../../access/throttle/throttle.ts";
import { hashPassword } from "../../../core/crypto/password-hash.ts";
import { Problem } from "../../../core/problem/problem.ts";
import { sqliteStore } from "../../../store/sqlite/sqlite.ts";
import type { WrittenValues } from "../../../store/store.ts";
import { accountsIn } from "../../../testing/accounts.ts";
import { callOf, type CallSketch } from "../../../testing/calls.ts";
import { makePasswords } from "../passwords/passwords.ts";
import { accountsCollection } from "../records/accounts.ts";
import { basic } from "./scheme.ts";

const password = "lovelace: 1815 £";

/** Creates a scheme over a store with one account, and counts the passwords that were really checked. */
async function set(limit = 10) {
  const store = sqliteStore({ path: ":memory:" });
  const accounts = await accountsIn(store, [{ username: "ada", password }]);
  const passwords = makePasswords({ accounts, store, throttle: loginThrottle({ store, limit }), cores: 2 });
  const checks = { count: 0 };
  const scheme = basic({
    accounts,
    passwords: {
      verify(...input) {
        checks.count++;
        return passwords.verify(...input);
      },
    },
  });
  const [carrier] = scheme.carriers;
  return {
    checks,
    scheme,
    ask: (credential = encodeCredential(password), sketch: CallSketch = {}) =>
      scheme.authenticate(credential, callOf(sketch), carrier!),
    change: (values: WrittenValues) =>
      store.write({ changes: [{ kind: "update", collection: accountsCollection, key: 1, values }] }),
    [Symbol.asyncDispose]: () => store.close(),
  };
}

const encodeCredential = (password: string): string => Buffer.from(`ada:${password}`).toString("base64");

function describeVerdict(verdict: Verdict): string {
  return verdict.kind === "rejected" ? verdict.reason : verdict.kind;
}

test("accepts the right password, and accepts it again without a hash", async () => {
  await using house = await set();

  const first = await house.ask();
  const second = house.ask();

  assert.deepEqual(first, {
    kind: "accepted",
    identity: {
      id: 1,
      username: "ada",
      role: "user",
      scheme: "basic",
      scopes: null,
      expiresAt: null,
      needs: 1,
      authTime: 0,
    },
  });
  assert.ok(!(second instanceof Promise), "no promise where the accounts answer at once");
  assert.deepEqual(second, first);
  assert.equal(house.checks.count, 1);
});

test("reports a wrong password with the same message as every other failed login", async () => {
  await using house = await set();

  const verdict = await house.ask(encodeCredential("wrong"));

  assert.deepEqual(verdict, {
    kind: "rejected",
    reason: "password",
    detail: "No active account found with the given credentials",
  });
});

test("rejects a malformed Basic credential without checking it", async () => {
  await using house = await set();

  assert.equal(describeVerdict(await house.ask("dGVzdDoxMjPCow")), "malformed");
  assert.equal(house.checks.count, 0);
});

test("checks a remembered password again after 60 seconds", async () => {
  await using house = await set();
  await house.ask();

  await house.ask(undefined, { now: 59_999 });
  assert.equal(house.checks.count, 1);

  await house.ask(undefined, { now: 60_000 });
  assert.equal(house.checks.count, 2);
});

const endings: { title: string; values: WrittenValues | (() => Promise<WrittenValues>); verdict: string }[] = [
  {
    title: "a changed password",
    values: async () => ({ password_hash: await hashPassword("another one") }),
    verdict: "password",
  },
  { title: "a removed password", values: { password_hash: null }, verdict: "password" },
  { title: "a deactivation", values: { active: false }, verdict: "password" },
  { title: "a changed username", values: { username: "countess" }, verdict: "password" },
  { title: "a new generation", values: { generation: 2 }, verdict: "accepted" },
];

for (const { title, values, verdict } of endings) {
  test(`checks a remembered password again immediately after ${title}`, async () => {
    await using house = await set();
    await house.ask();

    await house.change(typeof values === "function" ? await values() : values);

    assert.equal(describeVerdict(await house.ask()), verdict);
    assert.equal(house.checks.count, 2);
  });
}

test("uses a changed role immediately for a remembered password", async () => {
  await using house = await set();
  await house.ask();

  await house.change({ role: "admin" });

  const verdict = await house.ask();
  assert.equal(verdict.kind === "accepted" && verdict.identity.role, "admin");
});

test("still accepts a remembered password after too many guesses", async () => {
  await using house = await set(1);
  await house.ask();
  await house.ask(encodeCredential("wrong"));

  assert.equal((await house.ask()).kind, "accepted");
  await assert.rejects(async () => house.ask(encodeCredential("wrong")), {
    code: "too_many_attempts",
  });
});

test("computes one hash for a hundred concurrent requests with one password", async () => {
  await using house = await set();

  const verdicts = await Promise.all(Array.from({ length: 100 }, async () => house.ask()));

  assert.ok(verdicts.every(({ kind }) => kind === "accepted"));
  assert.equal(house.checks.count, 1);
});

test("counts the same wrong password for each of several concurrent callers", async () => {
  await using house = await set();
  const credential = encodeCredential("wrong");

  const tries = await Promise.allSettled(Array.from({ length: 40 }, async () => house.ask(credential)));

  const answered = tries.filter(({ status }) => status === "fulfilled").length;
  assert.ok(answered >= 10 && answered <= 11, `${answered} were answered`);
});

const transports: { what: string; sketch: CallSketch; secure: boolean }[] = [
  { what: "cleartext from this machine", sketch: {}, secure: true },
  { what: "cleartext from another machine", sketch: { peer: "192.0.2.7" }, secure: false },
  { what: "TLS from another machine", sketch: { peer: "192.0.2.7", encrypted: true }, secure: true },
  {
    what: "an untrusted proxy that says https",
    sketch: { peer: "192.0.2.7", headers: { "x-forwarded-proto": "https" } },
    secure: false,
  },
  {
    what: "a trusted proxy that says https",
    sketch: {
      peer: "10.0.0.1",
      trustedProxies: ["10.0.0.1"],
      headers: { "x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.7" },
    },
    secure: true,
  },
  {
    what: "a trusted proxy on this machine for a caller elsewhere",
    sketch: { trustedProxies: ["127.0.0.1"], headers: { "x-forwarded-for": "192.0.2.7" } },
    secure: false,
  },
];

for (const { what, sketch, secure } of transports) {
  test(`${secure ? "accepts" : "refuses"} credentials over ${what}${secure ? "" : " before it reads them"}`, async () => {
    await using house = await set();

    if (secure) assert.equal((await house.ask(undefined, sketch)).kind, "accepted");
    else
      assert.throws(
        () => house.ask("not even Base64", sketch),
        (error) => error instanceof Problem && error.code === "insecure_transport",
      );
  });
}

test("sends no Basic challenge to scripts in a browser, but to all other callers", async () => {
  await using house = await set();
  const challenge = (headers: Record<string, string>) => house.scheme.challenge?.(callOf({ headers }), null);

  assert.equal(challenge({}), 'Basic realm="api", charset="UTF-8"');
  assert.equal(challenge({ "sec-fetch-mode": "navigate" }), 'Basic realm="api", charset="UTF-8"');
  assert.equal(challenge({ "sec-fetch-mode": "cors" }), null);
});
