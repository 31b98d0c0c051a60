import { setTimeout as wait } from "node:timers/promises";
import { FACTOR_MARK, markHash } from "../../../../core/crypto/password-hash.ts";
import type { Observer } from "../../../../core/observation.ts";
import { pauseMs } from "../../../../feature/batch-size.ts";
import { storedOf, updateAll } from "../../../../http/declarations/table.ts";
import type { Change, Store } from "../../../../store/store.ts";
import { factorsCollection } from "../../gate/factors.ts";
import { accountOf, accountsCollection, type Account } from "../../records/accounts.ts";
import { equals } from "../../records/conditions.ts";
import { makeRepeating, type Repeating } from "../repeating.ts";

/*
 * The password hash of an account with a second factor has a mark (`markHash`). Versions that do not know the mark
 * write hashes without it, before an upgrade and beside it. So each start marks these hashes in the background, and
 * repeats this with growing pauses.
 */

/** The number of factors that one query reads. */
const PAGE = 200;

/** The longest pause before all factors are read again, in milliseconds. */
const LONGEST_PAUSE_MS = 60_000;

/**
 * Makes the work that marks the password hashes of accounts with a second factor. `run` returns the number of marked
 * hashes.
 */
export function makeMarking({ store, observe }: { readonly store: Store; readonly observe: Observer }): Repeating {
  async function run(signal: AbortSignal): Promise<number> {
    let marked = 0;
    let last: number | null = 0;
    while (last !== null && !signal.aborted) {
      const start = performance.now();
      const page = await readPage(store, last);
      const unmarked = await findUnmarked(store, page.accounts);
      if (unmarked.length > 0) await store.write({ changes: unmarked.map(mark) });
      marked += unmarked.length;
      last = page.next;
      if (last !== null) await wait(pauseMs(performance.now() - start), undefined, { ref: false, signal });
    }
    return marked;
  }

  const failure =
    "Password hashes could not be marked. Older versions may accept these passwords without the second factor.";
  return makeRepeating({ run, longestPauseMs: LONGEST_PAUSE_MS, failure, observe });
}

/** Returns the accounts of a page of active factors, and the last id of the page. Null if there are no more pages. */
async function readPage(
  store: Store,
  last: number,
): Promise<{ readonly accounts: readonly number[]; readonly next: number | null }> {
  const rows = await store.list({
    collection: factorsCollection,
    where: { all: [{ column: "id", operator: "gt", value: last }, equals("active", true)] },
    sort: [{ column: "id" }],
    limit: PAGE,
  });
  const accounts = [...new Set(rows.map((row) => storedOf(row).user_id))];
  return { accounts, next: rows.length < PAGE ? null : storedOf(rows.at(-1)!).id };
}

async function findUnmarked(store: Store, ids: readonly number[]): Promise<readonly Account[]> {
  if (ids.length === 0) return [];
  const rows = await store.list({
    collection: accountsCollection,
    where: {
      all: [
        { column: "id", operator: "in", value: ids },
        { column: "factors", operator: "gt", value: 0 },
        { column: "password_hash", operator: "null", value: false },
        { not: { column: "password_hash", operator: "starts", value: FACTOR_MARK } },
      ],
    },
    sort: [],
    limit: PAGE,
  });
  return rows.map(accountOf);
}

/**
 * Returns the change that marks a hash. It changes nothing if the hash or the factors have changed since they were
 * read.
 */
function mark({ id, passwordHash, factors = 0 }: Account): Change {
  const where = { all: [equals("id", id), equals("password_hash", passwordHash), equals("factors", factors)] };
  return updateAll(accountsCollection, { where, values: { password_hash: markHash(passwordHash!, factors) } });
}
