import assert from "node:assert/strict";
import { administrator, authenticated, defineResource, mount, reference, text } from "../../src/door/index.ts";
import { onBoth } from "../harness/existing.ts";

// Groups and memberships in tables of another program.

const user = defineResource({ name: "user", table: "person", writes: [], fields: { name: text() } });
const club = defineResource({
  name: "club",
  table: "club_of_old",
  writes: ["create", "update", "delete"],
  fields: { name: text() },
});
const member = defineResource({
  name: "member",
  table: "club_member",
  columns: { user_id: "personId", club_id: "clubId" },
  writes: ["create", "update", "delete"],
  fields: {
    user_id: reference(user),
    club_id: reference(club, { onDelete: "cascade" }),
    role: text({ maxLength: 20 }),
  },
});

const mountAll = () => [
  mount(user, { permission: { list: administrator } }),
  mount(club, {
    permission: authenticated,
    arrays: true,
    founder: { memberships: member, values: { role: "owner" }, keep: true },
  }),
  mount(member, { permission: authenticated, arrays: true }),
];

const tables = (id: string): string => `
  CREATE TABLE person (id integer PRIMARY KEY, name text NOT NULL);
  INSERT INTO person VALUES (2, 'Ada'), (3, 'Ben');
  CREATE TABLE club_of_old (id ${id}, name text NOT NULL);
  CREATE TABLE club_member (
    id ${id},
    "personId" integer NOT NULL REFERENCES person (id),
    "clubId" integer NOT NULL REFERENCES club_of_old (id) ON DELETE CASCADE,
    role text NOT NULL
  );
  CREATE INDEX of_person ON club_member ("personId");
  CREATE INDEX of_club ON club_member ("clubId");
`;

onBoth(
  "founds groups in existing tables with generated keys",
  {
    sqlite: tables("integer PRIMARY KEY"),
    postgres: tables("integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY"),
  },
  async ({ serve, sql }) => {
    const { ask } = await serve(...mountAll());

    const one = await ask("POST", "/clubs", { as: "ada", body: { name: "Chess" } });
    const more = await ask("POST", "/clubs", { as: "ben", body: [{ name: "Go" }, { name: "Bridge" }] });

    assert.deepEqual([one.status, more.status], [201, 201], one.text + more.text);
    assert.deepEqual(
      (await sql(`SELECT "personId" AS person, "clubId" AS club, role FROM club_member ORDER BY id`)).map((row) => ({
        ...row,
      })),
      [
        { person: 2, club: 1, role: "owner" },
        { person: 3, club: 2, role: "owner" },
        { person: 3, club: 3, role: "owner" },
      ],
    );
    const refused = await ask("DELETE", "/members/1", { as: "ada" });
    assert.deepEqual([refused.status, refused.json.code], [409, "last_owner"]);
    const demoted = await ask("PATCH", "/members", { as: "ben", body: [{ id: 2, role: "guest" }] });
    assert.deepEqual([demoted.status, demoted.json.code], [409, "last_owner"]);
    // The administrator is no person of the other program.
    const stranger = await ask("POST", "/clubs", { as: "root", body: { name: "Poker" } });
    const strangers = await ask("POST", "/clubs", { as: "root", body: [{ name: "Poker" }] });
    for (const { status, json } of [stranger, strangers])
      assert.deepEqual([status, json.code], [403, "permission_denied"]);
    assert.equal((await ask("DELETE", "/clubs/1", { as: "ada" })).status, 204);
    assert.equal((await sql("SELECT 1 FROM club_member")).length, 2);
  },
);
