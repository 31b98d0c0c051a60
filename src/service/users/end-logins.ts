import {
  accountsCollection,
  apiTokensCollection,
  makeRevocations,
  namedKeysCollection,
  sessionsCollection,
  type Revocations,
} from "../../door/auth.ts";
import type { Change, Collection, Content, Store } from "../../door/stores.ts";
import { pagesOf } from "../records/pages.ts";

/** What ends: nothing, what a login gave (sessions, refresh and access tokens), or API tokens and named keys too. */
export type Ending = "nothing" | "logins" | "everything";

export interface EndLoginsOptions {
  readonly ending: Ending;
  readonly accessSeconds: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** What the store holds. */
  readonly collections: readonly Collection[];
  /** The state whose place it takes: what was given to accounts that only that one has ends too. */
  readonly before: Content | null;
}

/** What has ended. */
export interface EndedLogins {
  /** How many accounts have to log in again. */
  readonly accounts: number;
  /** How many API tokens and named keys have ended; null where they were to stay. */
  readonly tokens: number | null;
}

const PAGE = 500;

/** Ends what the accounts of a store were given, also what they were given after the state that the store is in was saved. */
export async function endLogins(store: Store, options: EndLoginsOptions): Promise<EndedLogins | null> {
  const { ending, accessSeconds, now, collections, before } = options;
  if (ending === "nothing") return null;
  const revocations = makeRevocations({ store, accessSeconds, endWithGeneration: [], endWithAccount: [] });
  const accounts = isAmong(collections, accountsCollection) ? await endAccounts(store, revocations, now) : 0;
  if (before !== null && isAmong(before.collections, accountsCollection))
    await endLostAccounts(store, revocations, before, now);
  if (isAmong(collections, sessionsCollection)) await empty(store, sessionsCollection);
  if (ending === "logins") return { accounts, tokens: null };
  let tokens = 0;
  for (const collection of [apiTokensCollection, namedKeysCollection])
    if (isAmong(collections, collection)) tokens += await empty(store, collection);
  return { accounts, tokens };
}

/** Generations go up to the present time: above every one that was ever handed out, in this state or after it. */
async function endAccounts(store: Store, revocations: Revocations, now: number): Promise<number> {
  let count = 0;
  for await (const page of pagesOf(store, accountsCollection, PAGE)) {
    const changes = page.flatMap(({ record }): Change[] => {
      const [id, was] = [record["id"] as number, record["generation"] as number];
      const generation = Math.max(was + 1, now);
      return [
        { kind: "update", collection: accountsCollection, key: id, values: { generation } },
        // As when it is deleted: every access token below the present time ends.
        ...revocations.endDeletedAccount({ id, generation: was }, now),
      ];
    });
    await store.write({ changes });
    count += page.length;
  }
  return count;
}

/** Accounts that were made later are gone, and access tokens are believed without asking for their account. */
async function endLostAccounts(store: Store, revocations: Revocations, before: Content, now: number): Promise<void> {
  for await (const page of before.read(accountsCollection.name)) {
    const changes: Change[] = [];
    for (const [id] of page as readonly (readonly [number])[]) {
      if ((await store.find(accountsCollection, id)) === null)
        changes.push(...revocations.endDeletedAccount({ id, generation: 0 }, now));
    }
    if (changes.length > 0) await store.write({ changes });
  }
}

async function empty(store: Store, collection: Collection): Promise<number> {
  const count = await store.count(collection, null);
  await store.write({ changes: [{ kind: "deleteAll", collection, where: { all: [] } }] });
  return count;
}

function isAmong(collections: readonly Collection[], { name }: Collection): boolean {
  return collections.some((each) => each.name === name);
}
