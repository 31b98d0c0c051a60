import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { Secret } from "../../src/door/index.ts";
import {
  copyStore,
  migratePostgres,
  postgresStore,
  postgresTarget,
  sqliteSource,
  sqliteStore,
  StoreUnavailable,
  tryPostgres,
  type Store,
} from "../../src/door/stores.ts";
import { before as old, now } from "../../tests/harness/migrating.ts";
import {
  postgresServers,
  formatURL,
  type PostgresServer,
  type PostgresServers,
} from "../../tests/harness/postgres-server.ts";

const rows = 3000;
const program = "1.0.0";
let servers: PostgresServers;

before(async () => {
  servers = await postgresServers();
});

after(() => servers[Symbol.asyncDispose]());

/** The ways in which a server stops during a migration. */
const ends = [
  ["is stopped", (server: PostgresServer) => server.stop()],
  ["is killed", (server: PostgresServer) => server.kill()],
] as const;

async function fill(store: Store): Promise<void> {
  await store.open([old]);
  for (let at = 0; at < rows; at += 500)
    await store.write({
      changes: Array.from({ length: 500 }, (_, more) => ({
        kind: "insert" as const,
        collection: old,
        values: { title: `title ${at + more + 1}`, price: at + more + 1, note: null },
      })),
    });
  await store.close();
}

/** Stops the server when `onProgress` is called for the first time. */
function endingAt(end: () => Promise<void>): { readonly onProgress: () => void; readonly ended: Promise<void> } {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let isCalled = false;
  const onProgress = (): void => {
    if (isCalled) return;
    isCalled = true;
    end().then(resolve, reject);
  };
  return { onProgress, ended: promise };
}

for (const [how, end] of ends) {
  test(`resumes a migration whose server ${how}, and then removes the remains of a dry run`, async () => {
    const server = await servers.primary();
    const url = new Secret(formatURL(server));
    await fill(postgresStore({ url, poolSize: 2 }));

    const tried = endingAt(() => end(server));
    await assert.rejects(tryPostgres(url, [now], { program, report: tried.onProgress }), StoreUnavailable);
    await tried.ended;
    await server.start();
    const begun = endingAt(() => end(server));
    await assert.rejects(migratePostgres(url, [now], { program, report: begun.onProgress }), StoreUnavailable);
    await begun.ended;
    await server.start();
    const [seen] = await server.ask("SELECT count(*)::integer AS rows, sum(price)::integer AS sum FROM things");
    assert.deepEqual(seen, { rows, sum: (rows * (rows + 1)) / 2 });
    const done: number[] = [];
    await migratePostgres(url, [now], { program, report: (_, count) => void done.push(count) });

    assert.deepEqual(
      await server.ask(
        "SELECT count(*)::integer AS rows, count(*) FILTER (WHERE name <> 'title ' || id OR price <> id + 0.5 OR kind <> CASE WHEN id % 2 = 0 THEN 'even' ELSE 'odd' END)::integer AS wrong FROM things",
      ),
      [{ rows, wrong: 0 }],
    );
    assert.deepEqual(await server.ask("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'latchkey%'"), []);
    assert.ok(done.at(-1)! >= rows, done.join());
    await server.kill();
  });

  test(`leaves nothing on a server that ${how} during a move, and moves all rows at the next try`, async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), "latchkey-moved-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const file = path.join(folder, "things.db");
    await fill(sqliteStore({ path: file }));
    const server = await servers.primary();
    const url = new Secret(formatURL(server));
    const move = async (onProgress: () => void): Promise<unknown> => {
      const source = await sqliteSource(file);
      try {
        const target = await postgresTarget(url);
        try {
          return await copyStore(source, target, onProgress);
        } finally {
          await target.close();
        }
      } finally {
        await source.close();
      }
    };

    const begun = endingAt(() => end(server));
    await assert.rejects(move(begun.onProgress), StoreUnavailable);
    await begun.ended;
    await server.start();
    assert.deepEqual(await server.ask("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"), []);
    await move(() => undefined);

    const store = postgresStore({ url, poolSize: 2 });
    await store.open([old]);
    assert.equal(await store.count(old, null), rows);
    await store.close();
    await server.kill();
  });
}
