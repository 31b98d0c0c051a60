import { setTimeout as wait } from "node:timers/promises";
import type { Observer } from "../../../core/observation.ts";
import { pauseMs } from "../../../feature/batch-size.ts";
import { insert, storedOf } from "../../../http/declarations/table.ts";
import { OVERTAKEN, type Change, type Store } from "../../../store/store.ts";
import { accountsCollection } from "../records/accounts.ts";
import { equals } from "../records/conditions.ts";
import { dropName } from "../records/given-names.ts";
import {
  foldName,
  formatShared,
  differsInFolding,
  isFoldedOf,
  namesCollection,
  type UserName,
} from "../records/names.ts";
import { makeRepeating, type Repeating } from "./repeating.ts";

/*
 * Versions that do not know the table of folded names write usernames without it, before an upgrade and beside it. So
 * each start compares all usernames with the table in the background, and repeats this with growing pauses. It changes
 * no username.
 */

/** The number of accounts that one query reads. */
const PAGE = 500;

/** The longest pause before all names are compared again, in milliseconds. */
const LONGEST_PAUSE_MS = 24 * 3600 * 1000;

/** Makes the work that completes and corrects the folded names. `run` returns the number of corrected names. */
export function makeNamesUpkeep({ store, observe }: { readonly store: Store; readonly observe: Observer }): Repeating {
  async function run(signal: AbortSignal): Promise<number> {
    let corrected = 0;
    let last: number | null = 0;
    while (last !== null && !signal.aborted) {
      const start = performance.now();
      const page: Page = await readPage(store, last);
      for (const account of page.wrong) if (await correct(store, account)) corrected++;
      last = page.next;
      if (last !== null) await wait(pauseMs(performance.now() - start), undefined, { ref: false, signal });
    }
    return corrected;
  }

  const failure = "Usernames could not be folded. Some of them are not found in another spelling.";
  return makeRepeating({ run, longestPauseMs: LONGEST_PAUSE_MS, failure, observe });
}

interface Page {
  /** The usernames whose folded name is missing or wrong. */
  readonly wrong: readonly UserName[];
  /** The last id of the page. Null if there are no more pages. */
  readonly next: number | null;
}

async function readPage(store: Store, last: number): Promise<Page> {
  const rows = await store.list({
    collection: accountsCollection,
    where: { column: "id", operator: "gt", value: last },
    sort: [{ column: "id" }],
    limit: PAGE,
    columns: ["id", "username"],
  });
  const names = rows.map(storedOf);
  const next = rows.length < PAGE ? null : names.at(-1)!.id;
  return { wrong: await findWrong(store, names), next };
}

async function findWrong(store: Store, names: readonly UserName[]): Promise<readonly UserName[]> {
  if (names.length === 0) return [];
  const where = { column: "user_id", operator: "in", value: names.map(({ id }) => id) } as const;
  const rows = await store.list({ collection: namesCollection, where, sort: [], limit: PAGE });
  const folded = new Map(rows.map(storedOf).map((each) => [each.user_id, each.username]));
  return names.filter(({ id, username }) => {
    const value = folded.get(id);
    // Both foldings of any other name are equal, so it is found without the table.
    return value === undefined ? differsInFolding(username) : !isFoldedOf(value, username);
  });
}

/** Stores the folded name of a user. Returns false if the username has changed again. */
async function correct(store: Store, { id, username }: UserName): Promise<boolean> {
  const where = { all: [equals("id", id), equals("username", username)] };
  const same: Change = { kind: "require", collection: accountsCollection, where, atLeast: 1, name: OVERTAKEN };
  // If another user has an equal name, only the form for shared names is free.
  for (const folded of [foldName(username), formatShared(username, id)]) {
    const named = insert(namesCollection, { values: { user_id: id, username: folded } });
    const outcome = await store.write({ changes: [same, dropName(id), named] });
    if (outcome.kind !== "taken") return outcome.kind === "written";
  }
  return false;
}
