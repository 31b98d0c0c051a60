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

/** Returns the seconds in Retry-After, or 0 if a try is allowed. */
async function retryAfter(throttle: Throttle, ...parameters: Parameters<Throttle["check"]>): Promise<number> {
  try {
    await throttle.check(...parameters);
    return 0;
  } catch (error) {
    assert.ok(error instanceof Problem && error.code === "too_many_attempts");
    return Number(new Map(error.headers).get("Retry-After"));
  }
}

test("delays the eleventh try within a minute until the first try has left the window", async () => {
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

test("counts failures of an address and of an account separately, and ignores the case of the account's name", async () => {
  const store = await openStore();
  const throttle = loginThrottle({ store, limit: 2 });

  await throttle.fail(at(0, "192.0.2.1"), "Ada");
  await throttle.fail(at(0, "192.0.2.2"), "ADA");

  assert.equal(await retryAfter(throttle, at(1, "192.0.2.3"), "ada"), 59);
  assert.equal(await retryAfter(throttle, at(1, "192.0.2.3"), "bob"), 0);
  assert.equal(await retryAfter(throttle, at(1, "192.0.2.1")), 0);
  await store.close();
});

test("counts all Unicode spellings of a name as one account, even if no account has this name", async () => {
  const store = await openStore();
  const throttle = loginThrottle({ store, limit: 2 });

  await throttle.fail(at(0, "192.0.2.1"), "Jos\u00e9");
  await throttle.fail(at(0, "192.0.2.2"), "jose\u0301");

  assert.equal(await retryAfter(throttle, at(1, "192.0.2.3"), "JOSE\u0301"), 59);
  await store.close();
});

test("counts the failures of an IPv6 address for its whole /64", async () => {
  const store = await openStore();
  const throttle = loginThrottle({ store, limit: 2 });

  await throttle.fail(at(0, "2001:db8::1"));
  await throttle.fail(at(0, "2001:db8::2"));

  assert.equal(await retryAfter(throttle, at(0, "2001:db8::3")), 60);
  assert.equal(await retryAfter(throttle, at(0, "2001:db8:0:1::3")), 0);
  await store.close();
});

test("counts the failures of an IPv6 address for its /48 too, with ten times the limit", async () => {
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

test("lets an account log in from an address that it used before, even if the /48 of the address is blocked", async () => {
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

test("counts probes of an IPv6 address for its /48 too, with ten times the limit", async () => {
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

test("counts IPv4 addresses separately", async () => {
  const store = await openStore();
  const throttle = loginThrottle({ store, limit: 1 });

  for (let host = 1; host <= 50; host++) await throttle.fail(at(0, `192.0.2.${host}`));

  assert.equal(await retryAfter(throttle, at(0, "192.0.2.99")), 0);
  assert.equal(await store.count(guessesCollection, null), 50);
  await store.close();
});

test("counts a failure immediately, before the store has written it", async () => {
  const store = await openStore();
  const throttle = loginThrottle({ store, limit: 1 });

  const written = throttle.fail(at(0));

  assert.throws(() => throttle.check(at(0)), Problem);
  await written;
  await store.close();
});

test("adds up the failures of all processes with the same store", async () => {
  const store = await openStore();
  const one = loginThrottle({ store, limit: 2 });
  const other = loginThrottle({ store, limit: 2 });

  await one.fail(at(0), "ada");
  await other.fail(at(0), "ada");

  assert.equal(await retryAfter(one, at(0), "ada"), 60);
  assert.equal(await retryAfter(loginThrottle({ store, limit: 2 }), at(30), "ada"), 30);
  await store.close();
});

test("deletes guesses that have left the window, and stores nothing that reveals the typed text", async () => {
  const store = await openStore();
  const throttle = loginThrottle({ store, secret: new Secret("a secret of the server, long enough") });

  for (let minute = 0; minute < 5; minute++) {
    await throttle.fail(at(minute * 60), "hunter2");
    await erase(store, throttle, minute * 60);
  }

  const rows = await store.list({ collection: guessesCollection, where: null, sort: [{ column: "id" }], limit: 100 });
  assert.equal(rows.length, 2);
  for (const text of ["hunter2", digest("hunter2").toString("base64url")])
    assert.ok(!JSON.stringify(rows).includes(text), text);
  await store.close();
});

/**
 * Fails a number of consecutive times, ten times a minute, so that no try is refused. Returns the second after the last
 * try.
 */
async function failInARow(throttle: Throttle, times: number, account: string, peer?: string): Promise<number> {
  let second = 0;
  for (let turn = 0; turn < times; turn++, second += 6) await throttle.fail(at(second, peer), account);
  return second;
}

/** Applies the changes that the service makes every minute to delete old rows. */
async function erase(store: Store, throttle: Throttle, second: number): Promise<void> {
  await store.write({ changes: throttle.due!(noon + second * 1000) });
}

async function passed(store: Store, throttle: LoginThrottle, ...parameters: Parameters<LoginThrottle["pass"]>) {
  const changes = await throttle.pass(...parameters);
  if (changes.length > 0) await store.write({ changes });
  return changes;
}

for (const account of ["ada", "nobody has this name"]) {
  test(`allows one try a minute after a hundred consecutive failures for ${account}, until a try succeeds`, async () => {
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

test("does not lock an account out from its known addresses, which have a separate ceiling", async () => {
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

test("gives an attacker at another address no new tries after the account logs in from a known address", async () => {
  const store = await openStore();
  const throttle = loginThrottle({ store });
  await passed(store, throttle, at(0, "192.0.2.99"), "ada");
  const later = await failInARow(throttle, 100, "ada", "192.0.2.1");

  await passed(store, throttle, at(later, "192.0.2.99"), "ada");

  assert.equal(await retryAfter(throttle, at(later, "192.0.2.2"), "ada"), 54);
  await store.close();
});

test("remembers an address for 30 days, updates it once a day, and stores at most 32 for an account", async () => {
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

test("deletes old streaks and known addresses, and stores no names in them", async () => {
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
  for (const text of ["hunter2", "192.0.2", "nobody"]) assert.ok(!before.includes(text), text);
  await erase(store, throttle, 2 * day);
  assert.equal((await rows()).streaks.length, 1, "after a day, a streak below the ceiling is deleted");
  await erase(store, throttle, 32 * day);
  assert.deepEqual(await rows(), { streaks: [], known: [] });
  await store.close();
});

test("forgives the failures of an unlocked account from all addresses, in every process", async () => {
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

test("ignores failures that are more than a window in the future, because the clock was set back", async () => {
  const store = await openStore();
  const throttle = loginThrottle({ store, limit: 2 });
  for (let turn = 0; turn < 2; turn++) await throttle.fail(at(3600), "ada");

  assert.equal(await retryAfter(throttle, at(0), "ada"), 0);
  assert.equal(await retryAfter(loginThrottle({ store, limit: 2 }), at(0), "ada"), 0);
  await store.close();
});

test("deletes failures that are more than a window in the future, because the clock was set back", async () => {
  const store = await openStore();
  const throttle = loginThrottle({ store });
  for (const second of [0, 60, 61, 3600]) await throttle.fail(at(second));

  for (const change of throttle.due!(noon)) await store.write({ changes: [change] });

  const sort = [{ column: "at" }];
  const rows = await store.list({ collection: guessesCollection, where: null, sort, limit: 10 });
  assert.deepEqual([...new Set(rows.map(({ record }) => record["at"]))], [noon, noon + 60_000]);
  await store.close();
});

test("ignores an unlock that is more than a window in the future, because the clock was set back", async () => {
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

test("counts probes of an address separately, without blocking logins", async () => {
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
