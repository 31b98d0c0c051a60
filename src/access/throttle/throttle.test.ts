import assert from "node:assert/strict";
import { test } from "node:test";
import { digest, Secret } from "../../core/crypto/secret.ts";
import { Problem } from "../../core/problem/problem.ts";
import { sqliteStore } from "../../store/sqlite/sqlite.ts";
import type { Store } from "../../store/store.ts";
import { callOf } from "../../testing/calls.ts";
import { guessStreaksCollection, knownAddressesCollection } from "./records.ts";
import { throttleCollections, loginThrottle, type LoginThrottle, type Throttle } from "./throttle.ts";
import { guessesCollection } from "./window.ts";

const noon = Date.parse("2026-03-01T12:00:00Z");

async function openStore(): Promise<Store> {
  const store = sqliteStore({ path: ":memory:" });
  await store.open(throttleCollections);
  return store;
}

function at(seconds: number, peer = "192.0.2.7") {
  return callOf({ peer, now: noon + seconds * 1000 });
}

/** The seconds in Retry-After; 0 where a try is allowed. */
async function retryAfter(throttle: Throttle, ...asked: Parameters<Throttle["check"]>): Promise<number> {
  try {
    await throttle.check(...asked);
    return 0;
  } catch (error) {
    assert.ok(error instanceof Problem && error.code === "too_many_attempts");
    return Number(new Map(error.headers).get("Retry-After"));
  }
}

test("the eleventh try within a minute waits until the first has left the window", async () => {
  const store = await openStore();
  const throttle = loginThrottle({ store });

  for (let second = 0; second < 10; second++) {
    assert.equal(await retryAfter(throttle, at(second)), 0);
    await throttle.fail(at(second));
  }

  assert.equal(await retryAfter(throttle, at(10)), 50);
  assert.equal(await retryAfter(throttle, at(59.5)), 1);
  assert.equal(await retryAfter(throttle, at(60)), 0);
  await throttle.fail(at(60));
  assert.equal(await retryAfter(throttle, at(60)), 1);
  await store.close();
});

test("addresses, and accounts in any case, are counted on their own", async () => {
  const store = await openStore();
  const throttle = loginThrottle({ store, limit: 2 });

  await throttle.fail(at(0, "192.0.2.1"), "Ada");
  await throttle.fail(at(0, "192.0.2.2"), "ADA");

  assert.equal(await retryAfter(throttle, at(1, "192.0.2.3"), "ada"), 59);
  assert.equal(await retryAfter(throttle, at(1, "192.0.2.3"), "bob"), 0);
  assert.equal(await retryAfter(throttle, at(1, "192.0.2.1")), 0);
  await store.close();
});

test("a name is one account however its accents are spelled, whether there is such an account or not", async () => {
  const store = await openStore();
  const throttle = loginThrottle({ store, limit: 2 });

  await throttle.fail(at(0, "192.0.2.1"), "Jos\u00e9");
  await throttle.fail(at(0, "192.0.2.2"), "jose\u0301");

  assert.equal(await retryAfter(throttle, at(1, "192.0.2.3"), "JOSE\u0301"), 59);
  await store.close();
});

test("an IPv6 caller is counted by the /64 it owns", async () => {
  const store = await openStore();
  const throttle = loginThrottle({ store, limit: 2 });

  await throttle.fail(at(0, "2001:db8::1"));
  await throttle.fail(at(0, "2001:db8::2"));

  assert.equal(await retryAfter(throttle, at(0, "2001:db8::3")), 60);
  assert.equal(await retryAfter(throttle, at(0, "2001:db8:0:1::3")), 0);
  await store.close();
});

test("an IPv6 site is counted by its /48, with ten times the limit", async () => {
  const store = await openStore();
  const throttle = loginThrottle({ store, limit: 2 });
  const network = (of: number, site = "1") => at(0, `2001:db8:${site}:${of.toString(16)}::1`);

  for (let of = 0; of < 20; of++) {
    assert.equal(await retryAfter(throttle, network(of), "ada"), 0);
    await throttle.fail(network(of));
  }

  assert.equal(await retryAfter(throttle, network(99)), 60);
  assert.equal(await retryAfter(throttle, network(99), "ada"), 60);
  assert.equal(await retryAfter(loginThrottle({ store, limit: 2 }), network(99), "ada"), 60);
  assert.equal(await retryAfter(throttle, network(99, "2"), "ada"), 0);
  assert.equal(await retryAfter(throttle, at(60, "2001:db8:1::1"), "ada"), 0);
  await store.close();
});

test("a site closes no login of an account from an address that it used before", async () => {
  const store = await openStore();
  const throttle = loginThrottle({ store, limit: 1 });
  await passed(store, throttle, at(0, "2001:db8:1:ffff::1"), "ada");

  for (let of = 0; of < 10; of++) await throttle.fail(at(1, `2001:db8:1:${of}::1`), "ada");

  assert.equal(await retryAfter(throttle, at(2, "2001:db8:1:ffff::2"), "ada"), 0);
  assert.equal(await throttle.isKnown(at(2, "2001:db8:1:ffff::2"), "ADA"), true);
  assert.equal(await throttle.isKnown(at(2, "2001:db8:1:fffe::2"), "ada"), false);
  assert.equal(await retryAfter(throttle, at(2, "2001:db8:1:ffff::2"), "bob"), 59);
  await store.close();
});

test("probing is counted by the /48 too", async () => {
  const store = await openStore();
  const throttle = loginThrottle({ store, limit: 1 });
  const probe = (of: number) =>
    throttle
      .probe(at(0, `2001:db8:1:${of.toString(16)}::1`), async () => ({ counts: true, result: 200 }))
      .catch(({ status }: Problem) => status);

  const burst = await Promise.all(Array.from({ length: 30 }, (_, of) => probe(of)));

  assert.equal(burst.filter((each) => each === 200).length, 10);
  await store.close();
});

test("IPv4 addresses are counted one by one", async () => {
  const store = await openStore();
  const throttle = loginThrottle({ store, limit: 1 });

  for (let host = 1; host <= 50; host++) await throttle.fail(at(0, `192.0.2.${host}`));

  assert.equal(await retryAfter(throttle, at(0, "192.0.2.99")), 0);
  assert.equal(await store.count(guessesCollection, null), 50);
  await store.close();
});

test("a failure counts at once, before the store has it", async () => {
  const store = await openStore();
  const throttle = loginThrottle({ store, limit: 1 });

  const written = throttle.fail(at(0));

  assert.throws(() => throttle.check(at(0)), Problem);
  await written;
  await store.close();
});

test("processes on one store count together", async () => {
  const store = await openStore();
  const one = loginThrottle({ store, limit: 2 });
  const other = loginThrottle({ store, limit: 2 });

  await one.fail(at(0), "ada");
  await other.fail(at(0), "ada");

  assert.equal(await retryAfter(one, at(0), "ada"), 60);
  assert.equal(await retryAfter(loginThrottle({ store, limit: 2 }), at(30), "ada"), 30);
  await store.close();
});

test("the store keeps no guess for longer than two windows, and nothing that what was typed could be guessed by", async () => {
  const store = await openStore();
  const throttle = loginThrottle({ store, secret: new Secret("a secret of the server, long enough") });

  for (let minute = 0; minute < 5; minute++) {
    await throttle.fail(at(minute * 60), "hunter2");
    await erase(store, throttle, minute * 60);
  }

  const rows = await store.list({ collection: guessesCollection, where: null, sort: [{ column: "id" }], limit: 100 });
  assert.equal(rows.length, 2);
  for (const told of ["hunter2", digest("hunter2").toString("base64url")])
    assert.ok(!JSON.stringify(rows).includes(told), told);
  await store.close();
});

/** Fails so often in a row, without ever being throttled: ten a minute. Gives the second after it. */
async function failInARow(throttle: Throttle, times: number, account: string, peer?: string): Promise<number> {
  let second = 0;
  for (let turn = 0; turn < times; turn++, second += 6) await throttle.fail(at(second, peer), account);
  return second;
}

/** What the service does every minute. */
async function erase(store: Store, throttle: Throttle, second: number): Promise<void> {
  await store.write({ changes: throttle.due!(noon + second * 1000) });
}

async function passed(store: Store, throttle: LoginThrottle, ...asked: Parameters<LoginThrottle["pass"]>) {
  const changes = await throttle.pass(...asked);
  if (changes.length > 0) await store.write({ changes });
  return changes;
}

for (const account of ["ada", "nobody has this name"]) {
  test(`after a hundred failures in a row there is one try a minute for ${account}, until one is right`, async () => {
    const store = await openStore();
    const throttle = loginThrottle({ store });

    const nearly = await failInARow(throttle, 99, account, "192.0.2.1");
    assert.equal(await retryAfter(throttle, at(nearly), account), 0);
    await throttle.fail(at(nearly, "192.0.2.2"), account.toUpperCase());
    const later = nearly + 59;
    assert.equal(await retryAfter(throttle, at(later), account), 1);
    assert.equal(await retryAfter(throttle, at(later + 1), account), 0);
    await throttle.fail(at(later + 1), account);
    assert.equal(await retryAfter(throttle, at(later + 2), account), 59);
    assert.equal(await retryAfter(loginThrottle({ store }), at(later + 2), account), 59);

    await passed(store, throttle, at(later + 61), account);
    for (let turn = 0; turn < 9; turn++) {
      assert.equal(await retryAfter(throttle, at(later + 62, "192.0.2.3"), account), 0);
      await throttle.fail(at(later + 62, "192.0.2.3"), account);
    }
    await store.close();
  });
}

test("from where an account has logged in nobody locks it out, and that count has its own ceiling", async () => {
  const store = await openStore();
  const throttle = loginThrottle({ store });
  const home = "2001:db8:0:7::1";
  await passed(store, throttle, at(0, home), "Ada");

  const later = await failInARow(throttle, 110, "ada", "192.0.2.1");
  assert.equal(await retryAfter(throttle, at(later), "ada"), 54);
  for (let turn = 0; turn < 10; turn++) {
    assert.equal(await retryAfter(throttle, at(later, "2001:db8:0:7::2"), "ADA"), 0);
    await throttle.fail(at(later, home), "ada");
  }
  assert.equal(await retryAfter(throttle, at(later, home), "ada"), 60);
  assert.equal(await retryAfter(throttle, at(later, "2001:db8:0:8::1"), "ada"), 54);

  let much = later + 60;
  for (let turn = 0; turn < 90; turn++, much += 6) await throttle.fail(at(much, home), "ada");
  assert.equal(await retryAfter(throttle, at(much, home), "ada"), 54);
  await store.close();
});

test("whoever guesses from elsewhere gets no fresh start by the logins of the account from home", async () => {
  const store = await openStore();
  const throttle = loginThrottle({ store });
  await passed(store, throttle, at(0, "192.0.2.99"), "ada");
  const later = await failInARow(throttle, 100, "ada", "192.0.2.1");

  await passed(store, throttle, at(later, "192.0.2.99"), "ada");

  assert.equal(await retryAfter(throttle, at(later, "192.0.2.2"), "ada"), 54);
  await store.close();
});

test("an address is known for 30 days, is noted once a day, and an account has 32 of them", async () => {
  const store = await openStore();
  const throttle = loginThrottle({ store, limit: 1 });
  const day = 24 * 3600;
  const isKnown = async (second: number, peer: string): Promise<boolean> => {
    await throttle.fail(at(second, "192.0.2.250"), "ada");
    return (await retryAfter(throttle, at(second, peer), "ada")) === 0;
  };

  assert.notDeepEqual(await passed(store, throttle, at(0, "192.0.2.1"), "ada"), []);
  assert.deepEqual(await passed(store, throttle, at(day - 1, "192.0.2.1"), "ada"), []);
  assert.notDeepEqual(await passed(store, throttle, at(day, "192.0.2.1"), "ada"), []);
  assert.equal(await isKnown(31 * day - 1, "192.0.2.1"), true);
  assert.equal(await isKnown(31 * day, "192.0.2.1"), false);

  const later = 40 * day;
  for (let host = 1; host <= 40; host++) await passed(store, throttle, at(later + host, `198.51.100.${host}`), "ada");
  assert.equal(await store.count(knownAddressesCollection, null), 32);
  assert.equal(await isKnown(later + 60, "198.51.100.40"), true);
  assert.equal(await isKnown(later + 60, "198.51.100.1"), false);
  await store.close();
});

test("what is kept of rows of failures and of addresses goes in time, and names neither", async () => {
  const store = await openStore();
  const throttle = loginThrottle({ store, secret: new Secret("a secret of the server, long enough") });
  const day = 24 * 3600;
  await passed(store, throttle, at(0, "192.0.2.77"), "hunter2");
  for (let name = 0; name < 50; name++) await throttle.fail(at(name), `nobody ${name}`);
  await failInARow(throttle, 100, "hunter2");

  const rows = async () => ({
    streaks: await store.list({
      collection: guessStreaksCollection,
      where: null,
      sort: [{ column: "id" }],
      limit: 100,
    }),
    known: await store.list({ collection: knownAddressesCollection, where: null, sort: [{ column: "id" }], limit: 9 }),
  });
  const before = JSON.stringify(await rows());
  for (const told of ["hunter2", "192.0.2", "nobody"]) assert.ok(!before.includes(told), told);
  await erase(store, throttle, 2 * day);
  assert.equal((await rows()).streaks.length, 1, "a row that has begun goes after a day");
  await erase(store, throttle, 32 * day);
  assert.deepEqual(await rows(), { streaks: [], known: [] });
  await store.close();
});

test("unlocking forgives the failures of an account from everywhere, in every process", async () => {
  const store = await openStore();
  const serving = loginThrottle({ store });
  await passed(store, serving, at(0, "192.0.2.99"), "ada");
  const later = await failInARow(serving, 110, "ada", "192.0.2.1");
  for (let turn = 0; turn < 10; turn++) await serving.fail(at(later, "192.0.2.99"), "ada");
  for (let turn = 0; turn < 10; turn++) await serving.fail(at(later, "192.0.2.98"), "bob");
  assert.notEqual(await retryAfter(serving, at(later), "ada"), 0);

  await loginThrottle({ store }).unlock("ADA", noon + (later + 1) * 1000);

  assert.equal(await retryAfter(serving, at(later + 2), "ada"), 0);
  const rooms = await serving.look(at(later + 2), "ada");
  assert.deepEqual(
    rooms.map(({ left }) => left()),
    [10, 10],
  );
  assert.equal(await retryAfter(serving, at(later + 2), "bob"), 58);
  await store.close();
});

test("a clock that is turned back keeps nobody out for longer than a window", async () => {
  const store = await openStore();
  const throttle = loginThrottle({ store, limit: 2 });
  for (let turn = 0; turn < 2; turn++) await throttle.fail(at(3600), "ada");

  assert.equal(await retryAfter(throttle, at(0), "ada"), 0);
  assert.equal(await retryAfter(loginThrottle({ store, limit: 2 }), at(0), "ada"), 0);
  await store.close();
});

test("counts failures after an unlock that lies more than a window ahead, since the clock was set back", async () => {
  for (const [unlockedAt, waits] of [
    [62, 59],
    [61, 0],
    [30, 0],
    [3600, 59],
  ] as const) {
    const store = await openStore();
    const throttle = loginThrottle({ store, limit: 2 });
    for (let turn = 0; turn < 2; turn++) await throttle.fail(at(0), "ada");

    await throttle.unlock("ada", noon + unlockedAt * 1000);

    for (const process of [throttle, loginThrottle({ store, limit: 2 })])
      assert.equal(await retryAfter(process, at(1), "ada"), waits, `unlocked at ${unlockedAt} s`);
    await store.close();
  }
});

test("probing has a count of its own for an address, which closes no login", async () => {
  const store = await openStore();
  const throttle = loginThrottle({ store });
  const probe = (second: number, peer: string, counts: boolean) =>
    throttle.probe(at(second, peer), async () => ({ counts, result: second })).catch((error: Problem) => error.code);

  for (let turn = 0; turn < 20; turn++) assert.equal(await probe(0, "2001:db8::1", false), 0);
  const burst = await Promise.all(Array.from({ length: 30 }, (_, host) => probe(0, `2001:db8::${host}`, true)));

  assert.equal(burst.filter((each) => each === 0).length, 10);
  assert.equal(await probe(1, "2001:db8::1", false), "too_many_attempts");
  assert.equal(await probe(1, "2001:db8:1::1", true), 1);
  assert.equal(await retryAfter(throttle, at(1, "2001:db8::1"), "ada"), 0);
  assert.equal(await probe(60, "2001:db8::1", true), 60);
  await store.close();
});
