import assert from "node:assert/strict";
import { isIndexed } from "../../src/store/served.ts";
import type { Collection, Store, Where } from "../../src/store/store.ts";
import { onBoth } from "../harness/existing.ts";

const [ONE, TWO] = ["0a8f7f1e-0000-4000-8000-000000000001", "0a8f7f1e-0000-4000-8000-000000000002"] as const;

const definition = (key: string): string => `
  CREATE TABLE grp (gid ${key} NOT NULL PRIMARY KEY, label text NOT NULL, old text);
  CREATE TABLE member (mid integer NOT NULL PRIMARY KEY, who integer NOT NULL, grp_id ${key});
  CREATE INDEX member_who ON member (who, grp_id);
  INSERT INTO grp VALUES ('${ONE}', 'one', '${TWO}'), ('${TWO}', 'two', 'no key');
  INSERT INTO member VALUES (1, 7, '${ONE}'), (2, 7, NULL), (3, 8, '${TWO}');
`;

const groups: Collection = {
  name: "groups",
  key: "text",
  columns: [
    { name: "label", type: "text" },
    { name: "old_id", type: "text", nullable: true },
  ],
  existing: { table: "grp", names: { id: "gid", old_id: "old" }, writes: ["create"], revision: "digest" },
};

const members: Collection = {
  name: "members",
  key: "integer",
  columns: [
    { name: "user_id", type: "integer" },
    { name: "group_id", type: "text", nullable: true, rule: { format: "uuid" } },
  ],
  existing: {
    table: "member",
    names: { id: "mid", user_id: "who", group_id: "grp_id" },
    writes: [],
    revision: "digest",
  },
};

/** An own table with the keys of an existing one. */
const notes: Collection = {
  name: "notes",
  key: "integer",
  columns: [
    { name: "group_id", type: "text" },
    { name: "line", type: "text" },
  ],
  indexes: [["group_id", "id"]],
};

const ofUser = (user: number): Where => ({ column: "user_id", operator: "eq", value: user });
const among = (column: string, collection: Collection, select: string, where: Where = { all: [] }): Where => ({
  column,
  among: { collection, select, where },
});

onBoth(
  "compares rows of existing and own tables in all forms of their keys",
  { sqlite: definition("text"), postgres: definition("uuid") },
  async (before, t) => {
    const store = before.makeStore();
    t.after(() => store.close());
    await store.open([groups, members, notes]);
    await store.write({
      changes: [
        { kind: "insert", collection: notes, values: { group_id: ONE, line: "a" } },
        { kind: "insert", collection: notes, values: { group_id: TWO, line: "b" } },
        { kind: "insert", collection: notes, values: { group_id: "no key", line: "c" } },
      ],
    });
    const read = (collection: Collection, where: Where): Promise<readonly unknown[]> =>
      readIds(store, collection, where);
    assert.deepEqual(await read(groups, among("id", members, "group_id", ofUser(7))), [ONE]);
    assert.deepEqual(await read(groups, { not: among("id", members, "group_id", ofUser(7)) }), [TWO]);
    assert.deepEqual(await read(notes, among("group_id", members, "group_id", ofUser(8))), [2]);
    assert.deepEqual(await read(members, among("group_id", notes, "group_id")), [1, 3]);
    // A text that is no key matches no group, and is no error.
    assert.deepEqual(await read(groups, among("id", notes, "group_id")), [ONE, TWO]);
    assert.deepEqual(await read(groups, among("id", groups, "old_id")), [TWO]);
    assert.deepEqual(await read(members, among("group_id", members, "group_id", ofUser(8))), [3]);
    assert.deepEqual(await read(members, { not: among("group_id", notes, "group_id") }), [2]);

    // The rows of other programs count at once, also in a repeated page.
    const where = among("group_id", members, "group_id", ofUser(7));
    const query = { collection: notes, where, sort: [{ column: "id" }], limit: 5, repeated: true };
    assert.equal((await store.listJSON(query)).count, 1);
    await before.sql("DELETE FROM member WHERE mid = 1");
    assert.equal((await store.listJSON(query)).count, 0);
    assert.equal(await store.count(notes, where), 0);
    await before.sql(`INSERT INTO member VALUES (1, 7, '${ONE}')`);

    const changes = [{ kind: "insert", collection: notes, values: { group_id: ONE, line: "d" } }] as const;
    const requires = [{ collection: members, where: ofUser(7) }];
    assert.equal((await store.write({ changes, requires })).kind, "written");
    await before.sql("DELETE FROM member WHERE who = 7");
    assert.equal((await store.write({ changes, requires })).kind, "refused");

    assert.equal(isIndexed(members, ["user_id", "group_id"]), true);
    assert.equal(isIndexed(members, ["group_id"]), false);
    assert.equal(isIndexed(groups, ["id"]), true);
  },
);

async function readIds(store: Store, collection: Collection, where: Where): Promise<readonly unknown[]> {
  const query = { collection, where, sort: [{ column: "id" }], limit: 9 };
  const { json, count } = await store.listJSON(query);
  assert.equal(await store.count(collection, where), count);
  const rows = await store.list({ ...query, long: true });
  const ids = (JSON.parse(json) as { id: unknown }[]).map(({ id }) => id);
  assert.deepEqual(
    rows.map(({ record }) => record["id"]),
    ids,
  );
  return ids;
}
