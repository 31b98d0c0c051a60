import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreUnavailable, type Collection } from "../../src/door/stores.ts";
import { bothDatabases } from "../harness/both-databases.ts";

const notes: Collection = { name: "notes", key: "integer", columns: [{ name: "text", type: "text" }] };
const lists: Collection = { name: "lists", key: "integer", columns: [{ name: "text", type: "text" }] };

const databases = bothDatabases();

test("reports a table that was dropped, with the fix", async (t) => {
  for (const { engine, open, run, ask } of await databases(t)) {
    const store = open();
    await store.open([notes, lists]);
    await store.check();

    await run("DROP TABLE notes");

    await assert.rejects(store.check(), (error: Error) => {
      assert.ok(error instanceof StoreUnavailable, engine);
      assert.match(error.message, /tables are missing: notes\. Restore a backup.*collection = 'notes'/);
      return true;
    });
    await store.close();

    // The message names this fix for a table whose data is not needed.
    await run("DELETE FROM latchkey_schema WHERE collection = 'notes'");
    const again = open();
    await again.open([notes, lists]);
    await again.check();
    assert.deepEqual(await ask("SELECT * FROM notes"), [], engine);
    await again.close();
  }
});

test("writes nothing to tables that a newer program has changed", async (t) => {
  for (const { engine, open, run, ask } of await databases(t)) {
    const store = open();
    await store.open([notes, lists]);
    const add = () => store.write({ changes: [{ kind: "insert", collection: notes, values: { text: "" } }] });
    assert.equal((await add()).kind, "written");

    await run("CREATE TABLE made_by_a_newer (id integer); UPDATE latchkey_version SET version = version + 1");

    await assert.rejects(add(), StoreUnavailable, engine);
    assert.equal((await ask("SELECT * FROM notes")).length, 1, engine);
    await run("UPDATE latchkey_version SET version = version - 1");
    await store.close();
  }
});
