import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import fc from "fast-check";
import { decodeJwt } from "jose";
import { admitted } from "../../../../tests/harness/admitted.ts";
import type { Rejection } from "../../../access/scheme/scheme.ts";
import { Secret } from "../../../core/crypto/secret.ts";
import type { Observation } from "../../../core/observation.ts";
import { sqliteStore } from "../../../store/sqlite/sqlite.ts";
import type { Change } from "../../../store/store.ts";
import { callOf } from "../../../testing/calls.ts";
import { accountOf, accountsCollection, storeAccounts, type Account } from "../records/accounts.ts";
import { makeRevocations } from "../records/revocation.ts";
import { revocationsCollection } from "../records/revoked.ts";
import { accessTokens } from "./access.ts";
import { familiesCollection } from "./families.ts";
import { deadFamiliesCollection, refreshUsesCollection } from "./refresh-uses.ts";
import { derivedSigningKeys } from "./signing-keys.ts";
import { tokenPairs, type FreshAccess, type TokenPair, type TokenPairsOptions } from "./token-pairs.ts";

const now = Date.parse("2026-03-01T12:00:00Z");
const issuer = "https://api.example";

async function server(file = ":memory:", more: Partial<TokenPairsOptions> = {}) {
  const store = sqliteStore({ path: file });
  await store.open([
    accountsCollection,
    revocationsCollection,
    refreshUsesCollection,
    deadFamiliesCollection,
    familiesCollection,
  ]);
  const revocations = makeRevocations({ store, accessSeconds: 300, endWithGeneration: [], endWithAccount: [] });
  await revocations.open();
  const secret = new Secret("a secret of the server, long enough");
  const observed: Observation[] = [];
  const access = accessTokens({ keys: derivedSigningKeys(secret), issuer, lifetimeSeconds: 300, revocations });
  const accounts = storeAccounts(store);
  const pairs = tokenPairs({
    store,
    accounts,
    access,
    revocations,
    secret,
    issuer,
    refreshSeconds: 604_800,
    familySeconds: 2_592_000,
    graceSeconds: 10,
    observe: (observation) => observed.push(observation),
    ...more,
  });
  const at = (ms: number) => callOf({ now: now + ms });
  return {
    store,
    revocations,
    pairs,
    access,
    observed,
    login: async () => pairs.issue(admitted((await accounts.find(7))!, now), now),
    refresh: async (token: string, ms = 0) => pairs.refresh(token, at(ms)),
    /** Returns the reason of a refusal, or null if the token is accepted. */
    refusal: async (token: string, ms = 0) => {
      const verdict = await pairs.verify(token, at(ms));
      return verdict.kind === "rejected" ? verdict.reason : null;
    },
    write: async (changes: readonly Change[]) => (await store.write({ changes })).kind,
  };
}

const ada: Change = {
  kind: "insert",
  collection: accountsCollection,
  key: 7,
  values: {
    username: "ada",
    username_follows_email: false,
    role: "user",
    active: true,
    password_hash: null,
    generation: 1,
    created_at: new Date(now).toISOString(),
    last_login_at: null,
  },
};

async function serverWithAda(file?: string, more?: Partial<TokenPairsOptions>) {
  const made = await server(file, more);
  await made.write([ada]);
  return made;
}

async function issued(answer: Promise<TokenPair | FreshAccess | Rejection>): Promise<TokenPair> {
  const pair = await answer;
  assert.ok("refresh" in pair, JSON.stringify(pair));
  return pair;
}

async function reason(answer: Promise<FreshAccess | Rejection>): Promise<string> {
  const pair = await answer;
  return pair.kind === "rejected" ? pair.reason : pair.kind;
}

function temporaryFile(context: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return path.join(folder, "test.db");
}

test("writes nothing on login and returns two valid tokens", async () => {
  const { store, login, refusal } = await serverWithAda();

  const pair = await login();

  assert.deepEqual([pair.accessSeconds, pair.refreshExpiresAt], [300, now + 604_800_000]);
  assert.deepEqual([await refusal(pair.access), await refusal(pair.refresh)], [null, null]);
  assert.equal(await store.count(refreshUsesCollection, null), 0);
});

test("verifies without using a token up", async () => {
  const { login, refusal, refresh } = await serverWithAda();
  const { refresh: token } = await login();

  for (let time = 0; time < 3; time += 1) assert.equal(await refusal(token, time), null);

  await issued(refresh(token));
});

test("replaces the token on refresh", async () => {
  const { login, refresh, refusal } = await serverWithAda();
  const first = await login();

  const second = await issued(refresh(first.refresh, 1000));

  assert.notEqual(second.refresh, first.refresh);
  assert.equal(await refusal(first.refresh, 1000), "revoked");
  assert.deepEqual([await refusal(second.access, 1000), await refusal(second.refresh, 1000)], [null, null]);
});

test("returns the same successor for a reuse within the grace window, and ends the family for a later reuse", async () => {
  const { login, refresh, refusal, observed } = await serverWithAda();
  const first = await login();
  const second = await issued(refresh(first.refresh, 0));

  assert.equal((await issued(refresh(first.refresh, 9999))).refresh, second.refresh);
  assert.deepEqual(observed, []);

  assert.equal(await reason(refresh(first.refresh, 10_000)), "revoked");
  assert.equal(await refusal(second.refresh, 10_000), "revoked");
  for (const { access } of [first, second]) assert.equal(await refusal(access, 10_000), "revoked");
  assert.equal(await reason(refresh(second.refresh, 10_000)), "revoked");
  const { fam } = decodeJwt(first.refresh);
  assert.deepEqual(observed, [{ kind: "refresh_reuse", requestId: "request-1", userId: 7, family: fam }]);
});

test("refuses a repeated use of an ended family, even within the grace window", async () => {
  const { login, refresh, pairs } = await serverWithAda();
  const first = await login();
  await issued(refresh(first.refresh, 0));

  await pairs.end(first.refresh, now + 1000);

  assert.equal(await reason(refresh(first.refresh, 2000)), "revoked");
});

test("ends the family if an older token is used again after its window, and reports it once", async () => {
  const { login, refresh, refusal, observed } = await serverWithAda();
  const tokens = [(await login()).refresh];
  for (let n = 0; n < 4; n += 1) tokens.push((await issued(refresh(tokens.at(-1)!, n * 60_000))).refresh);

  for (const ancestor of tokens.slice(0, 3)) assert.equal(await reason(refresh(ancestor, 240_000)), "revoked");

  assert.equal(await refusal(tokens.at(-1)!, 240_000), "revoked");
  assert.equal(observed.length, 1);
});

test("makes a separate family for each login", async () => {
  const { login, refresh, refusal } = await serverWithAda();
  const [phone, laptop] = [await login(), await login()];
  await issued(refresh(phone.refresh, 0));

  await reason(refresh(phone.refresh, 20_000));

  assert.deepEqual([await refusal(laptop.access, 20_000), await refusal(laptop.refresh, 20_000)], [null, null]);
});

test("ends the family on the second use if there is no grace window", async () => {
  const { login, refresh } = await serverWithAda(":memory:", { graceSeconds: 0 });
  const { refresh: token } = await login();

  await issued(refresh(token, 0));

  assert.equal(await reason(refresh(token, 0)), "revoked");
});

test("erases a nonce after its window has closed, and not before", async () => {
  const { store, login, refresh, pairs, write } = await serverWithAda();
  const { refresh: token } = await login();
  const child = await issued(refresh(token, 0));
  const hasNonce = { column: "nonce", operator: "null", value: false } as const;

  // The nonce is kept for two seconds after the window, because a slow request may have arrived in time.
  await write(pairs.sweep(now + 11_999));
  assert.equal((await issued(refresh(token, 9999))).refresh, child.refresh);
  await write(pairs.sweep(now + 12_000));

  assert.equal(await store.count(refreshUsesCollection, hasNonce), 0);
  // A machine whose clock is behind finds no nonce and does not create one.
  assert.equal(await reason(refresh(token, 5000)), "revoked");
});

test("ends the family and its access tokens on logout, also with a used token and on a second logout", async () => {
  const { login, refresh, refusal, pairs } = await serverWithAda();
  const first = await login();
  const second = await issued(refresh(first.refresh, 0));

  await pairs.end(first.refresh, now + 60_000);
  await pairs.end(first.refresh, now + 60_000);

  for (const token of [first.access, second.access, second.refresh])
    assert.equal(await refusal(token, 60_000), "revoked");
});

test("does nothing on logout with an unknown text", async () => {
  const { store, login, refusal, pairs } = await serverWithAda();
  const { access, refresh } = await login();

  for (const text of [
    "",
    "nonsense",
    access,
    `${refresh.slice(0, -2)}AA`,
    `${refresh}x`,
    "a.b.c",
    "x".repeat(100_000),
  ]) {
    await pairs.end(text, now);
  }

  assert.equal(await store.count(deadFamiliesCollection, null), 0);
  assert.deepEqual([await refusal(access), await refusal(refresh)], [null, null]);
});

test("refuses an access token for a refresh, and a refresh token as an access token", async () => {
  const { login, refresh, access } = await serverWithAda();
  const pair = await login();

  assert.equal(await reason(refresh(pair.access)), "forged");
  assert.equal((await access.verify(pair.refresh, now)).kind, "rejected");
});

const endings: Readonly<
  Record<string, (account: Account, world: Awaited<ReturnType<typeof server>>) => readonly Change[]>
> = {
  "a changed password": (account, { revocations }) => revocations.endAccount(account, now),
  "a deactivation": (account, { revocations }) => [
    { kind: "update", collection: accountsCollection, key: 7, values: { active: false } },
    ...revocations.endAccount(account, now, true),
  ],
  "a deletion": (account, { revocations }) => [
    { kind: "delete", collection: accountsCollection, key: 7 },
    ...revocations.endDeletedAccount(account, now),
  ],
};

for (const [what, changes] of Object.entries(endings)) {
  test(`ends access and refresh tokens after ${what}, also within the grace window`, async () => {
    const world = await serverWithAda();
    const first = await world.login();
    const second = await issued(world.refresh(first.refresh, 0));
    const account = accountOf((await world.store.find(accountsCollection, 7))!);

    assert.equal(await world.write(changes(account, world)), "written");

    for (const token of [first.access, second.access, second.refresh])
      assert.equal(await world.refusal(token, 1), "revoked");
    for (const token of [first.refresh, second.refresh]) assert.equal(await reason(world.refresh(token, 1)), "revoked");
  });
}

test("accepts no token of a deleted account for a later account with the same id", async () => {
  const world = await serverWithAda();
  const pair = await world.login();
  const account = accountOf((await world.store.find(accountsCollection, 7))!);
  await world.write([
    { kind: "delete", collection: accountsCollection, key: 7 },
    ...world.revocations.endDeletedAccount(account, now),
  ]);

  const again = { ...ada, values: { ...(ada as { values: object }).values, generation: now + 1 } } as Change;
  assert.equal(await world.write([again]), "written");

  assert.equal(await reason(world.refresh(pair.refresh, 2)), "revoked");
  assert.equal(await world.refusal(pair.access, 2), "revoked");
  assert.equal(await world.refusal((await world.login()).access, 2), null);
});

test("refuses an expired refresh token, and every refresh token after the maximum lifetime of its family", async () => {
  const day = 86_400_000;
  const { login, refresh } = await serverWithAda();
  let { refresh: token } = await login();

  assert.equal(await reason(refresh(token, 7 * day)), "expired");
  for (const days of [6, 12, 18, 24]) ({ refresh: token } = await issued(refresh(token, days * day)));
  const last = await issued(refresh(token, 29.9 * day));

  assert.equal(last.refreshExpiresAt, now + 30 * day);
  assert.equal(await reason(refresh(last.refresh, 30 * day)), "expired");
});

test("refreshes a login of a clock that was ahead, and detects its reuse by the same rules", async () => {
  const hour = 3_600_000;
  for (const aheadMs of [61_000, hour, 25 * hour]) {
    const { login, refresh, refusal } = await serverWithAda();
    const ahead = await login();

    assert.equal(await refusal(ahead.access, -aheadMs), "expired");
    const pair = await issued(refresh(ahead.refresh, -aheadMs));
    assert.equal(await refusal(pair.access, -aheadMs), null);
    assert.equal((await issued(refresh(ahead.refresh, 9999 - aheadMs))).refresh, pair.refresh);
    const next = await issued(refresh(pair.refresh, 10_000 - aheadMs));
    assert.equal(await reason(refresh(ahead.refresh, 10_001 - aheadMs)), "revoked");
    assert.equal(await reason(refresh(next.refresh, 10_002 - aheadMs)), "revoked");
  }
});

test("refuses a token of an ended family at a clock that is behind the one that removed expired rows", async () => {
  const { login, refresh, pairs, write } = await serverWithAda();
  const first = await login();
  const day = 86_400_000;
  const second = await issued(refresh(first.refresh, 6 * day));
  const third = await issued(refresh(second.refresh, 12 * day));
  const fourth = await issued(refresh(third.refresh, 18 * day));
  const last = await issued(refresh(fourth.refresh, 24 * day));
  await pairs.end(last.refresh, now + 25 * day);

  for (const minutesAhead of [0, 30, 59]) {
    await write(pairs.prune(now + 30 * day + minutesAhead * 60_000));
    assert.equal(await reason(refresh(last.refresh, 30 * day - 1000)), "revoked");
  }
});

test("removes only rows about expired tokens", async () => {
  const day = 86_400_000;
  const { store, login, refresh, pairs, write } = await serverWithAda();
  const first = await login();
  await issued(refresh(first.refresh, 0));
  await pairs.end((await login()).refresh, now);

  await write(pairs.prune(now + 7 * day));
  assert.equal(await store.count(refreshUsesCollection, null), 1);
  await write(pairs.prune(now + 8 * day));
  assert.equal(await store.count(refreshUsesCollection, null), 0);
  assert.equal(await store.count(deadFamiliesCollection, null), 1);
  await write(pairs.prune(now + 31 * day));
  assert.equal(await store.count(deadFamiliesCollection, null), 0);
});

test("returns one successor and logs no user out for a hundred concurrent refreshes over three stores on one file", async (context) => {
  const file = temporaryFile(context);
  const servers = [await serverWithAda(file), await server(file), await server(file)];
  const { refresh: token } = await servers[0]!.login();

  const pairs = await Promise.all(Array.from({ length: 100 }, (_, n) => issued(servers[n % 3]!.refresh(token, n))));

  const children = new Set(pairs.map((pair) => pair.refresh));
  assert.equal(children.size, 1);
  const [child = ""] = children;
  await issued(servers[1]!.refresh(child, 200));
  for (const { access } of pairs) assert.equal(await servers[2]!.refusal(access, 200), null);
  await Promise.all(servers.map(({ store }) => store.close()));
});

test("logs no user out after a crash between the write and the response", async (context) => {
  const file = temporaryFile(context);
  const before = await serverWithAda(file);
  const { refresh: token } = await before.login();
  await before.refresh(token, 0); // the response is lost
  await before.store.close();

  const after = await server(file);
  const child = await issued(after.refresh(token, 5000));

  assert.equal(await after.refusal(child.refresh, 5000), null);
  await after.store.close();
});

test("stores neither a token nor a part of a token in the database files", async (context) => {
  const file = temporaryFile(context);
  const { store, login, refresh } = await serverWithAda(file);
  const first = await login();
  const second = await issued(refresh(first.refresh, 0));
  const third = await issued(refresh(second.refresh, 1000));
  const secrets = [first, second, third].flatMap((pair) => [
    pair.access.split(".")[2]!,
    pair.refresh.split(".")[2]!,
    decodeJwt(pair.refresh).jti!,
    decodeJwt(pair.access).jti!,
  ]);

  const bytes = readdirSync(path.dirname(file)).map((name) =>
    readFileSync(path.join(path.dirname(file), name), "latin1"),
  );

  for (const secret of secrets)
    assert.equal(
      bytes.some((text) => text.includes(secret)),
      false,
    );
  await store.close();
});

interface TokenUseStep {
  readonly who: "victim" | "thief";
  /** Which of the party's refresh tokens it uses: 0 is the newest one, 1 the one before. */
  readonly back: number;
  readonly waitMs: number;
}

const step: fc.Arbitrary<TokenUseStep> = fc.record({
  who: fc.constantFrom("victim", "thief"),
  back: fc.nat(3),
  waitMs: fc.oneof(fc.constantFrom(0, 9999, 10_000, 10_001), fc.nat(30_000)),
});

test("leaves at most one party with a live token after the grace windows, for all actions of victim and thief", async () => {
  const { login, refresh, refusal } = await serverWithAda();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
      const stolen = await login();
      const held = { victim: [stolen.refresh], thief: [stolen.refresh] };
      const access = new Set<string>();
      const usedAt = new Map<string, number>();
      let ms = 0;
      let caught = false;
      for (const { who, back, waitMs } of steps) {
        ms += waitMs;
        const token = held[who].at(-1 - Math.min(back, held[who].length - 1))!;
        const used = usedAt.get(token);
        if (used !== undefined && ms >= used + 10_000) caught = true;
        const answer = await refresh(token, ms);
        // Before a late reuse, both parties get tokens. After it, neither party does.
        assert.equal(answer.kind, caught ? "rejected" : "issued");
        if (answer.kind !== "issued") continue;
        usedAt.set(token, used ?? ms);
        if ("refresh" in answer) held[who].push(answer.refresh);
        access.add(answer.access);
      }

      ms += 10_000;
      const leaves = [...new Set([...held.victim, ...held.thief])];
      const living = [];
      for (const token of leaves) if ((await refusal(token, ms)) === null) living.push(token);
      assert.equal(living.length, caught ? 0 : 1);
      if (caught) for (const token of access) assert.notEqual(await refusal(token, ms), null);
    }),
    { numRuns: 150 },
  );
});

test("never logs out a user whose token was not stolen, with any number of tabs and lost responses", async () => {
  const { login, refresh, observed } = await serverWithAda();
  const visit = fc.record({ waitMs: fc.nat(600_000), tabs: fc.integer({ min: 1, max: 5 }), retryMs: fc.nat(9999) });
  await fc.assert(
    fc.asyncProperty(fc.array(visit, { maxLength: 6 }), async (visits) => {
      let { refresh: token } = await login();
      let ms = 0;
      for (const { waitMs, tabs, retryMs } of visits) {
        ms += waitMs;
        const [first, ...others] = await Promise.all(Array.from({ length: tabs }, () => issued(refresh(token, ms))));
        const again = await issued(refresh(token, ms + retryMs));
        for (const other of [...others, again]) assert.equal(other.refresh, first!.refresh);
        token = again.refresh;
        ms += retryMs;
      }
    }),
    { numRuns: 40 },
  );
  assert.deepEqual(observed, []);
});

test("returns no new refresh token without rotation, and accepts the old one until it expires or its family ends", async () => {
  const { store, login, refresh, refusal, pairs } = await serverWithAda(undefined, { rotates: false });
  const first = await login();

  for (const seconds of [1, 600, 604_799]) {
    const fresh = await refresh(first.refresh, seconds * 1000);
    assert.deepEqual(Object.keys(fresh).toSorted(), ["access", "accessSeconds", "kind"]);
    assert.equal(await refusal((fresh as FreshAccess).access, seconds * 1000), null);
  }

  assert.equal(await store.count(refreshUsesCollection, null), 0);
  assert.equal(await reason(refresh(first.refresh, 604_800_000)), "expired");
  const last = (await refresh(first.refresh, 604_799_000)) as FreshAccess;
  await pairs.end(first.refresh, now + 604_799_000);
  assert.equal(await reason(refresh(first.refresh, 604_799_000)), "revoked");
  assert.equal(await refusal(last.access, 604_799_000), "revoked");
});

test("refuses a used token after the grace window, even if rotation was turned off after its use", async (context) => {
  const file = temporaryFile(context);
  const rotating = await serverWithAda(file);
  const first = await rotating.login();
  const second = await issued(rotating.refresh(first.refresh, 1000));
  const { refresh, observed } = await server(file, { rotates: false });

  const again = await issued(refresh(first.refresh, 5000));
  assert.equal(again.refresh, second.refresh);
  assert.equal("refresh" in (await refresh(second.refresh, 6000)), false);
  assert.equal(await reason(refresh(first.refresh, 60_000)), "revoked");

  assert.equal(await reason(refresh(second.refresh, 61_000)), "revoked");
  assert.deepEqual(
    observed.map(({ kind }) => kind),
    ["refresh_reuse"],
  );
});
