import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { Secret } from "../src/crypto/secret.ts";
import {
  migrateSQLite,
  planPostgres,
  planSQLite,
  postgresStore,
  sqliteStore,
  type Collection,
} from "../src/door/stores.ts";
import { moveDatabase } from "../src/service/system/databases.ts";
import { startPostgres, type TestServer } from "./postgres.ts";

let server: TestServer;

before(async () => {
  server = await startPostgres();
});
after(() => server.stop());

const things = (price: "integer" | "text"): Collection => ({
  name: "things",
  key: "integer",
  columns: [{ name: "price", type: price }],
});

test("what was done to a database goes along when it moves, there and back, and what was begun does not", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-history-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [file, back] = [path.join(folder, "one.db"), path.join(folder, "two.db")];
  const url = new Secret(await server.makeDatabase());
  const store = sqliteStore({ path: file });
  await store.open([things("integer")]);
  await store.write({ changes: [{ kind: "insert", collection: things("integer"), values: { price: 1 } }] });
  await store.close();
  await migrateSQLite(file, [things("text")], { program: "0.7.0" });
  const breakOff = (): never => {
    throw Object.assign(new Error("broken off"), { errcode: 5 });
  };
  await assert.rejects(migrateSQLite(file, [things("integer")], { program: "0.8.0", tell: breakOff }), /broken off/);

  await moveDatabase({ kind: "sqlite", path: file }, { kind: "postgres", url }, () => {});
  await moveDatabase({ kind: "postgres", url }, { kind: "sqlite", path: back }, () => {});

  const { history } = await planSQLite(file, [things("text")]);
  assert.deepEqual(
    history.map(({ program, words, rows }) => [program, words, rows]),
    [["0.7.0", "things.price: convert it from integer to text", 1]],
  );
  assert.deepEqual((await planPostgres(url, [things("text")])).history, history);
  assert.deepEqual((await planSQLite(back, [things("text")])).history, history);
  const moved = postgresStore({ url, poolSize: 2 });
  await moved.open([things("text")]);
  assert.deepEqual((await moved.find(things("text"), 1))?.record, { id: 1, price: "1" });
  await moved.close();
});
