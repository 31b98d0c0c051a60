import assert from "node:assert/strict";
import { test } from "node:test";
import { digest, Secret } from "../crypto/secret.ts";
import { Problem } from "../problem/problem.ts";
import { sqliteStore } from "../store/sqlite/sqlite.ts";
import type { Store } from "../store/store.ts";
import { callOf } from "../testing/calls.ts";
import { guessesCollection, makeGuessing, type Guessing } from "./guessing.ts";

const noon = Date.parse("2026-03-01T12:00:00Z");

async function openStore(): Promise<Store> {
  const store = sqliteStore({ path: ":memory:" });
  await store.open([guessesCollection]);
  return store;
}

function at(seconds: number, peer = "192.0.2.7") {
  return callOf({ peer, now: noon + seconds * 1000 });
}

/** The seconds in Retry-After; 0 where a try is allowed. */
async function retryAfter(guessing: Guessing, ...asked: Parameters<Guessing["check"]>): Promise<number> {
  try {
    await guessing.check(...asked);
    return 0;
  } catch (error) {
    assert.ok(error instanceof Problem && error.code === "too_many_attempts");
    return Number(new Map(error.headers).get("Retry-After"));
  }
}

test("the eleventh try within a minute waits until the first has left the window", async () => {
  const store = await openStore();
  const guessing = makeGuessing({ store });

  for (let second = 0; second < 10; second++) {
    assert.equal(await retryAfter(guessing, at(second)), 0);
    await guessing.fail(at(second));
  }

  assert.equal(await retryAfter(guessing, at(10)), 50);
  assert.equal(await retryAfter(guessing, at(59.5)), 1);
  assert.equal(await retryAfter(guessing, at(60)), 0);
  await guessing.fail(at(60));
  assert.equal(await retryAfter(guessing, at(60)), 1);
  await store.close();
});

test("addresses, and accounts in any case, are counted on their own", async () => {
  const store = await openStore();
  const guessing = makeGuessing({ store, limit: 2 });

  await guessing.fail(at(0, "192.0.2.1"), "Ada");
  await guessing.fail(at(0, "192.0.2.2"), "ADA");

  assert.equal(await retryAfter(guessing, at(1, "192.0.2.3"), "ada"), 59);
  assert.equal(await retryAfter(guessing, at(1, "192.0.2.3"), "bob"), 0);
  assert.equal(await retryAfter(guessing, at(1, "192.0.2.1")), 0);
  await store.close();
});

test("a name is one account however its accents are spelled, whether there is such an account or not", async () => {
  const store = await openStore();
  const guessing = makeGuessing({ store, limit: 2 });

  await guessing.fail(at(0, "192.0.2.1"), "Jos\u00e9");
  await guessing.fail(at(0, "192.0.2.2"), "jose\u0301");

  assert.equal(await retryAfter(guessing, at(1, "192.0.2.3"), "JOSE\u0301"), 59);
  await store.close();
});

test("an IPv6 caller is counted by the /64 it owns", async () => {
  const store = await openStore();
  const guessing = makeGuessing({ store, limit: 2 });

  await guessing.fail(at(0, "2001:db8::1"));
  await guessing.fail(at(0, "2001:db8::2"));

  assert.equal(await retryAfter(guessing, at(0, "2001:db8::3")), 60);
  assert.equal(await retryAfter(guessing, at(0, "2001:db8:0:1::3")), 0);
  await store.close();
});

test("a failure counts at once, before the store has it", async () => {
  const store = await openStore();
  const guessing = makeGuessing({ store, limit: 1 });

  const written = guessing.fail(at(0));

  assert.throws(() => guessing.check(at(0)), Problem);
  await written;
  await store.close();
});

test("processes on one store count together", async () => {
  const store = await openStore();
  const one = makeGuessing({ store, limit: 2 });
  const other = makeGuessing({ store, limit: 2 });

  await one.fail(at(0), "ada");
  await other.fail(at(0), "ada");

  assert.equal(await retryAfter(one, at(0), "ada"), 60);
  assert.equal(await retryAfter(makeGuessing({ store, limit: 2 }), at(30), "ada"), 30);
  await store.close();
});

test("the store keeps no guess for longer than two windows, and nothing that what was typed could be guessed by", async () => {
  const store = await openStore();
  const guessing = makeGuessing({ store, secret: new Secret("a secret of the server, long enough") });

  for (let minute = 0; minute < 5; minute++) await guessing.fail(at(minute * 60), "hunter2");

  const rows = await store.list({ collection: guessesCollection, where: null, sort: [{ column: "id" }], limit: 100 });
  assert.equal(rows.length, 2);
  for (const told of ["hunter2", digest("hunter2").toString("base64url")])
    assert.ok(!JSON.stringify(rows).includes(told), told);
  await store.close();
});
