import {
  accountsCollection,
  apiTokensCollection,
  makeRevocations,
  namedKeysCollection,
  sessionsCollection,
  type Revocations,
} from "../../door/auth.ts";
import type { Change, Collection, Content, Store } from "../../door/stores.ts";
import { loadPages } from "../records/pages.ts";

/**
 * The credentials to end: none, those of logins (sessions, refresh and access tokens), or also API tokens and named
 * keys.
 */
export type Ending = "nothing" | "logins" | "everything";

export interface EndLoginsOptions {
  readonly ending: Ending;
  readonly accessSeconds: number;
  /** In milliseconds since the epoch. */
  readonly now: number;
  /** The collections in the store. */
  readonly collections: readonly Collection[];
  /** The content of the replaced database. Credentials of accounts that exist only there end too. */
  readonly before: Content | null;
}

/** The ended logins. */
export interface EndedLogins {
  /** The number of accounts that have to log in again. */
  readonly accounts: number;
  /** The number of ended API tokens and named keys. Null if they were kept. */
  readonly tokens: number | null;
}

const PAGE = 500;

/**
 * Ends the credentials of all accounts in a restored store, including credentials that were issued after the backup.
 */
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

/**
 * Ends the logins of all accounts. Raises each generation to the present time, above every value before and after the
 * backup.
 */
async function endAccounts(store: Store, revocations: Revocations, now: number): Promise<number> {
  let count = 0;
  for await (const page of loadPages(store, accountsCollection, PAGE)) {
    const changes = page.flatMap(({ record }): Change[] => {
      const [id, was] = [record["id"] as number, record["generation"] as number];
      const generation = Math.max(was + 1, now);
      return [
        { kind: "update", collection: accountsCollection, key: id, values: { generation } },
        // Ends every access token from before now, as for a deleted account.
        ...revocations.endDeletedAccount({ id, generation: was }, now),
      ];
    });
    await store.write({ changes });
    count += page.length;
  }
  return count;
}

/**
 * Ends the access tokens of accounts that exist only in the replaced database. A token may be accepted without a lookup
 * of its account.
 */
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
