import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { Secret } from "../../src/door/index.ts";
import { sqliteStore, StoreUnavailable, type Collection } from "../../src/door/stores.ts";
import type { Database } from "../../src/service/settings/values.ts";
import { checkDatabase, moveDatabase } from "../../src/service/system/databases.ts";
import { askPostgres, startPostgres, type TestServer } from "../harness/postgres.ts";

const notes: Collection = { name: "notes", key: "integer", columns: [{ name: "text", type: "text" }] };

let server: TestServer;

before(async () => {
  server = await startPostgres();
});

after(() => server.stop());

interface Databases {
  readonly folder: string;
  readonly file: Database;
  readonly url: string;
}

/** Makes a SQLite file with a note, and an empty PostgreSQL database. */
async function databases(t: TestContext): Promise<Databases> {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-broken-off-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "latchkey.db");
  const store = sqliteStore({ path: file });
  await store.open([notes]);
  await store.write({ changes: [{ kind: "insert", collection: notes, values: { text: "a note" } }] });
  await store.close();
  return { folder, file: { kind: "sqlite", path: file }, url: await server.makeDatabase() };
}

function postgres(url: string): Database {
  return { kind: "postgres", url: new Secret(url) };
}

/** Closes every connection to a database synchronously, so that no other code of this process runs in between. */
function endConnections(url: string): void {
  const script = `
    const { default: pg } = await import(${JSON.stringify(import.meta.resolve("pg"))});
    const client = new pg.Client({ connectionString: process.argv[1] });
    await client.connect();
    await client.query("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()");
    await client.end();`;
  execFileSync(process.execPath, ["--input-type=module", "-e", script, url]);
}

for (const step of ["copying", "verifying"] as const)
  test(`reports a lost PostgreSQL connection of a move while ${step}, and succeeds at the next try`, async (t) => {
    const { folder, file, url } = await databases(t);
    const back: Database = { kind: "sqlite", path: path.join(folder, "back.db") };
    const filled = await server.makeDatabase();
    await moveDatabase(file, postgres(filled), () => {});

    for (const [from, to, ended] of [
      [file, postgres(url), url],
      [postgres(filled), back, filled],
    ] as const) {
      let isEnded = false;
      const moving = moveDatabase(from, to, (at) => {
        if (at !== step || isEnded) return;
        isEnded = true;
        endConnections(ended);
      });
      await assert.rejects(
        moving,
        (error) => error instanceof StoreUnavailable && error.message.startsWith("PostgreSQL: "),
        `to ${to.kind}`,
      );
    }

    assert.deepEqual(
      readdirSync(folder).filter((name) => name.includes("back.db")),
      [],
    );
    await moveDatabase(file, postgres(url), () => {});
  });

test("reports a move whose commit PostgreSQL did not confirm, and names the command that checks the copy", async (t) => {
  const { file, url } = await databases(t);
  const { port, hostname } = new URL(url);
  const losing = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    let isCommitting = false;
    client.on("data", (chunk) => {
      isCommitting ||= chunk.includes("COMMIT\0");
      upstream.write(chunk);
    });
    upstream.on("data", (chunk) => void (isCommitting ? client.destroy() : client.write(chunk)));
    for (const socket of [client, upstream])
      socket.on("error", () => {}).on("close", () => [client, upstream].map((each) => each.destroy()));
  });
  await new Promise<void>((resolve) => losing.listen(0, "127.0.0.1", resolve));
  t.after(() => losing.close());
  const through = new URL(url);
  through.port = String((losing.address() as AddressInfo).port);

  await assert.rejects(
    moveDatabase(file, postgres(through.href), () => {}),
    /before PostgreSQL confirmed the copy\. Run latchkey db check/,
  );

  assert.equal((await checkDatabase(postgres(url))).tables[0]!.rows, 1);
  assert.deepEqual(await askPostgres(url, "SELECT text FROM notes"), [{ text: "a note" }]);
});
