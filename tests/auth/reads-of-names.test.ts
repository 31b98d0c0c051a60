// The reads of a login with a wrong password do not show which accounts exist, for usernames with all kinds of letters.
import assert from "node:assert/strict";
import { test } from "node:test";
import { accountsCollection, loginThrottle, makePasswords, throttleCollections } from "../../src/door/auth.ts";
import type { Store } from "../../src/door/stores.ts";
import { makeNamesUpkeep } from "../../src/features/auth/accounts/names-upkeep.ts";
import { serviceAccounts } from "../../src/features/auth/records/accounts.ts";
import { namesCollection } from "../../src/features/auth/records/names.ts";
import { callOf } from "../../src/testing/calls.ts";
import { emptyStore } from "../harness/test-store.ts";

/** Spellings of existing usernames, each with a name of the same letters that no account has. */
const pairs = [
  ["smith", "smitt"],
  ["ſmith", "ſmitt"],
  ["ſtone", "ſtome"],
  ["stone", "stome"],
  ["ΑΣ", "ΒΣ"],
  ["ας", "βς"],
  ["ασ", "βσ"],
  ["ΐ", "ΰ"],
  ["Ϊ́", "Ϋ́"],
] as const;

test("reads the same tables for a username with an account as for one without", async () => {
  const store = await emptyStore();
  await using _ = { [Symbol.asyncDispose]: () => store.close() };
  await store.open([accountsCollection, namesCollection, ...throttleCollections]);
  for (const username of ["smith", "ſtone", "ΑΣ", "ΐ"]) await insertAccount(store, username);
  await makeNamesUpkeep({ store, observe: () => assert.fail() }).run();
  const reads: string[] = [];
  const counted = countingReads(store, reads);
  const throttle = loginThrottle({ store: counted, limit: 1000, ceiling: 1000 });
  const accounts = serviceAccounts(counted, { names: [], collection: () => accountsCollection });
  const passwords = makePasswords({ accounts, store: counted, throttle, cores: 1 });
  const readsOf = async (username: string): Promise<readonly string[]> => {
    reads.length = 0;
    assert.equal(await passwords.verify(callOf({ now: 0 }), username, "wrong"), null);
    return [...reads];
  };

  for (const [known, unknown] of pairs) {
    assert.notEqual(await accounts.findByUsername(known), null, known);
    assert.equal(await accounts.findByUsername(unknown), null, unknown);
    assert.deepEqual(await readsOf(known), await readsOf(unknown), known);
  }
});

async function insertAccount(store: Store, username: string): Promise<void> {
  const values = {
    username,
    username_follows_email: false,
    role: "user",
    active: true,
    password_hash: null,
    generation: 1,
    created_at: "2026-01-01T00:00:00.000Z",
    last_login_at: null,
  };
  const { kind } = await store.write({ changes: [{ kind: "insert", collection: accountsCollection, values }] });
  assert.equal(kind, "written");
}

/** Returns the store, which notes the table of each read. */
function countingReads(store: Store, reads: string[]): Store {
  return {
    ...store,
    find: (collection, key) => (reads.push(`find ${collection.name}`), store.find(collection, key)),
    findBy: (collection, ...more) => (reads.push(`findBy ${collection.name}`), store.findBy(collection, ...more)),
    list: (query) => (reads.push(`list ${query.collection.name}`), store.list(query)),
  };
}
