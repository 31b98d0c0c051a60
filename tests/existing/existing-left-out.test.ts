import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { outbox, type RecordEvent } from "../../src/door/features.ts";
import { anyone, defineResource, integer, mount, text } from "../../src/door/index.ts";
import { onBoth } from "../harness/existing.ts";
import { ownService } from "../harness/own-service.ts";

/**
 * Triggers that skip a write (`RETURN NULL` in PostgreSQL, `RAISE(IGNORE)` in SQLite) or delete the written row again.
 * Some also change other rows.
 */
const leaving = {
  sqlite: `CREATE TABLE mood (id integer PRIMARY KEY, word text NOT NULL, times integer NOT NULL DEFAULT 0);
    CREATE TRIGGER made BEFORE INSERT ON mood WHEN new.word = 'no' BEGIN UPDATE mood SET times = times + 1; SELECT RAISE(IGNORE); END;
    CREATE TRIGGER changed BEFORE UPDATE OF word ON mood WHEN new.word = 'no' BEGIN SELECT RAISE(IGNORE); END;
    CREATE TRIGGER removed BEFORE DELETE ON mood WHEN old.word = 'keep' BEGIN UPDATE mood SET times = 100 WHERE id = old.id; SELECT RAISE(IGNORE); END;
    CREATE TRIGGER gone AFTER INSERT ON mood WHEN new.word = 'gone' BEGIN UPDATE mood SET times = 7; DELETE FROM mood WHERE id = new.id; END;
    CREATE TRIGGER away AFTER UPDATE ON mood WHEN new.word = 'gone' BEGIN UPDATE mood SET times = 7; DELETE FROM mood WHERE id = new.id; END;`,
  postgres: `CREATE TABLE mood (id serial PRIMARY KEY, word text NOT NULL, times integer NOT NULL DEFAULT 0);
    CREATE FUNCTION made() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN IF new.word = 'no' THEN UPDATE mood SET times = times + 1; RETURN NULL; END IF; RETURN new; END $f$;
    CREATE FUNCTION changed() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN IF new.word = 'no' THEN RETURN NULL; END IF; RETURN new; END $f$;
    CREATE FUNCTION removed() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN IF old.word = 'keep' THEN UPDATE mood SET times = 100 WHERE id = old.id; RETURN NULL; END IF; RETURN old; END $f$;
    CREATE FUNCTION gone() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN IF new.word = 'gone' THEN UPDATE mood SET times = 7 WHERE id <> new.id; DELETE FROM mood WHERE id = new.id; END IF; RETURN NULL; END $f$;
    CREATE TRIGGER gone AFTER INSERT OR UPDATE ON mood FOR EACH ROW EXECUTE FUNCTION gone();
    CREATE TRIGGER made BEFORE INSERT ON mood FOR EACH ROW EXECUTE FUNCTION made();
    CREATE TRIGGER changed BEFORE UPDATE ON mood FOR EACH ROW EXECUTE FUNCTION changed();
    CREATE TRIGGER removed BEFORE DELETE ON mood FOR EACH ROW EXECUTE FUNCTION removed();`,
};

const mood = defineResource({
  name: "mood",
  table: "mood",
  writes: ["create", "update", "delete"],
  fields: { word: text(), times: integer({ filled: true }) },
});

onBoth(
  "refuses a write that a trigger skips, and keeps none of the trigger's other changes",
  leaving,
  async ({ serve, sql }) => {
    const api = await serve(mount(mood, { permission: anyone, arrays: true }));
    for (const word of ["a", "keep"]) assert.equal((await api.ask("POST", "/moods", { body: { word } })).status, 201);
    const before = await sql("SELECT * FROM mood ORDER BY id");
    const tries: [method: string, path: string, pointer: string, body?: unknown][] = [
      ["POST", "/moods", "", { word: "no" }],
      ["POST", "/moods", "/1", [{ word: "b" }, { word: "no" }]],
      ["POST", "/moods", "/9", [..."abcdefghi"].map((word) => ({ word })).concat({ word: "no" })],
      ["PUT", "/moods/77", "", { word: "no" }],
      ["PATCH", "/moods/1", "", { word: "no" }],
      ["PATCH", "/moods", "/0", [{ id: 1, word: "no" }]],
      ["PUT", "/moods/1", "", { word: "no" }],
      ["DELETE", "/moods/2", ""],
      ["POST", "/moods", "", { word: "gone" }],
      ["POST", "/moods", "/1", [{ word: "b" }, { word: "gone" }]],
      ["PUT", "/moods/78", "", { word: "gone" }],
      ["PATCH", "/moods/1", "", { word: "gone" }],
      ["PATCH", "/moods", "/0", [{ id: 1, word: "gone" }]],
      ["PUT", "/moods/1", "", { word: "gone" }],
    ];

    for (const [method, path, pointer, body] of tries)
      for (const headers of [{}, { "idempotency-key": randomUUID() }]) {
        const answer = await api.ask(method, path, { headers, ...(body === undefined ? {} : { body }) });
        assert.equal(answer.status, 400, `${method} ${path}: ${answer.text}`);
        assert.deepEqual(
          answer.json.errors.map((each: { pointer: string; code: string }) => [each.pointer, each.code]),
          [[pointer, "invalid"]],
        );
        assert.deepEqual(await sql("SELECT * FROM mood ORDER BY id"), before, `${method} ${path}`);
      }
    const others = await Promise.all(
      ["no", "b", "no", "c"].map((word) => api.ask("POST", "/moods", { body: { word } })),
    );
    assert.deepEqual(
      others.map(({ status }) => status),
      [400, 201, 400, 201],
    );
    assert.equal((await api.ask("PATCH", "/moods/1", { body: { word: "b" } })).status, 200);
    assert.equal((await api.ask("DELETE", "/moods/1")).status, 204);
  },
);

onBoth("sends no event for a write that a trigger skips", leaving, async (before, t) => {
  const heard: unknown[] = [];
  const deliver = ({ kind, id }: RecordEvent): void => void heard.push([kind, id]);
  const moods = mount(mood, { permission: anyone });
  const features = [outbox({ subscribers: [{ name: "all", to: [mood], deliver }] })];
  const api = await ownService(t, { store: before.makeStore(), mounts: [moods], features });

  const made = [];
  for (const word of ["no", "a", "no"]) made.push(await api.ask("POST", "/moods", { body: { word } }));

  assert.deepEqual(
    made.map(({ status }) => status),
    [400, 201, 400],
  );
  while (heard.length === 0) await wait(10);
  assert.deepEqual(heard, [["create", made[1]!.json.id]]);
});
