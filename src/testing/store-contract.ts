import { test } from "node:test";
import { aFunction, text } from "../core/checking/members.ts";
import { requireArguments } from "../core/checking/options.ts";
import type { Store } from "../store/store.ts";
import { promiseCascades } from "./store-contract/cascades.ts";
import { promiseWhere } from "./store-contract/conditions.ts";
import { promiseFeeds } from "./store-contract/feeds.ts";
import { promiseIdempotency } from "./store-contract/idempotency.ts";
import { promiseKeys } from "./store-contract/keys.ts";
import { library, type TestDatabase, type Promises } from "./store-contract/library.ts";
import { promiseLinks } from "./store-contract/links.ts";
import { promiseLists } from "./store-contract/lists.ts";
import { promiseMigrations } from "./store-contract/migrations.ts";
import { promisePages } from "./store-contract/pages.ts";
import { promiseReads } from "./store-contract/reads.ts";
import { promiseRelated } from "./store-contract/related.ts";
import { promiseRules } from "./store-contract/rules.ts";
import { promiseSearch } from "./store-contract/search.ts";
import { promiseSemiJoins } from "./store-contract/semi-joins.ts";
import { promiseTogether } from "./store-contract/together.ts";
import { promiseWrites } from "./store-contract/writes.ts";

/**
 * Runs all promises of a store as tests of node:test. `open` makes an empty database and returns a store that uses it.
 * `reopen` returns another store that uses the same database, even while the first one is open. The tests themselves
 * open both stores. `dispose` closes every open store and removes the database.
 */
export function certifyStore(
  name: string,
  open: () => Promise<{ store: Store; reopen(): Promise<Store>; dispose(): Promise<void> }>,
): void {
  requireArguments("certifyStore", arguments, { name: text, open: aFunction });
  const promises: Promises = (title, keep) => {
    test(`${name}: ${title}`, async () => {
      const place: TestDatabase = await open();
      try {
        await place.store.open(library);
        await keep(place.store, place);
      } finally {
        await place.dispose();
      }
    });
  };

  promiseReads(promises);
  promiseWhere(promises);
  promiseLists(promises);
  promisePages(promises);
  promiseSearch(promises);
  promiseRelated(promises);
  promiseSemiJoins(promises);
  promiseWrites(promises);
  promiseTogether(promises);
  promiseLinks(promises);
  promiseRules(promises);
  promiseCascades(promises);
  promiseKeys(promises);
  promiseIdempotency(promises);
  promiseMigrations(promises);
  promiseFeeds(promises);
}
