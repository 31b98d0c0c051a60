import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { anyone, defineResource, mount, text } from "../../src/door/index.ts";
import { bothDatabases } from "../harness/both-databases.ts";
import { ownService } from "../harness/own-service.ts";

const things = defineResource({
  name: "thing",
  fields: { title: text(), code: text({ unique: "case-insensitive", optional: true }), note: text({ optional: true }) },
  filters: { title: ["eq"] },
});
const mounts = [mount(things, { permission: anyone, arrays: true })];

/** Makes a text that PostgreSQL cannot compress enough to store it in an index. */
function dense(length: number): string {
  return randomBytes(length).toString("base64").slice(0, length);
}

const databases = bothDatabases();

test("reports a text that is too long for an index of the database as an issue, not as a fault", async (t) => {
  for (const database of await databases(t)) {
    const own = await ownService(t, { store: database.open(), mounts });
    const long = dense(9999);
    const ask = async (method: string, path: string, body: unknown): Promise<unknown> => {
      const { status, json } = await own.ask(method, path, { body });
      return status < 400 ? status : [status, json.errors[0].pointer, json.errors[0].code];
    };
    const [made, changed] = database.engine === "sqlite" ? [201, 200] : [null, null];

    assert.equal(await ask("POST", "/things", { title: "short", note: dense(9999) }), 201);
    assert.equal(await ask("POST", "/things", { title: "x".repeat(9999) }), 201);
    assert.deepEqual(await ask("POST", "/things", { title: long }), made ?? [400, "/title", "invalid"]);
    assert.deepEqual(await ask("POST", "/things", { title: "a", code: long }), made ?? [400, "/code", "invalid"]);
    assert.deepEqual(
      await ask("PATCH", "/things/1", { title: dense(9999), note: null }),
      changed ?? [400, "/title", "invalid"],
    );
    assert.deepEqual(
      await ask("POST", "/things", [{ title: "b" }, { title: dense(9999) }]),
      made ?? [400, "/1/title", "invalid"],
    );
    assert.deepEqual(
      own.observed.filter(({ kind }) => kind === "fault"),
      [],
    );
  }
});
