import assert from "node:assert/strict";
import { anyone, defineResource, integer, mount, Secret, text } from "../../src/door/index.ts";
import { inspectPostgres, inspectSQLite } from "../../src/door/stores.ts";
import { formatDeclarations } from "../../src/service/inspecting/inspect.ts";
import { onBoth, type Before } from "../harness/existing.ts";
import type { OwnAnswer } from "../harness/own-service.ts";

const members = mount(
  defineResource({
    name: "member",
    table: "team_members",
    columns: { user_id: "userId" },
    writes: ["create", "update"],
    fields: { user_id: integer(), team: text({ maxLength: 20, optional: true }), role: text({ optional: true }) },
    unique: [["user_id", "team"]],
  }),
  { permission: { list: anyone, read: anyone, create: anyone, replace: anyone, update: anyone }, arrays: true },
);

const table = (rules: string, more = ""): { readonly sqlite: string; readonly postgres: string } => {
  const columns = `"userId" integer NOT NULL, team text, role text${rules}`;
  return {
    sqlite: `CREATE TABLE team_members (id integer PRIMARY KEY, ${columns});${more}`,
    postgres: `CREATE TABLE team_members (id serial PRIMARY KEY, ${columns});${more}`,
  };
};

const uniqueIndex = 'CREATE UNIQUE INDEX "One each" ON team_members (team, "userId");';

for (const [how, made] of [
  ["an index in another order", table("", uniqueIndex)],
  ["a constraint", table(', CONSTRAINT one_each UNIQUE ("userId", team)')],
] as const)
  onBoth(`names the fields of a set that ${how} of an existing table keeps`, made, async ({ serve }) => {
    const { ask } = await serve(members);
    const send = (body: unknown): ReturnType<typeof ask> => ask("POST", "/members", { body });
    const first = await send({ user_id: 1, team: "a" });
    const others = [await send({ user_id: 1, team: "b" }), await send({ user_id: 1 }), await send({ user_id: 1 })];

    const created = await send({ user_id: 1, team: "a", role: "owner" });
    const changed = await ask("PATCH", `/members/${first.json.id + 1}`, { body: { team: "a" } });
    const several = await send([
      { user_id: 2, team: "a" },
      { user_id: 2, team: "a" },
    ]);

    const pointers = ({ json }: typeof created): unknown =>
      json.errors.map(({ pointer }: { pointer: string }) => pointer);
    assert.deepEqual(
      others.map(({ status }) => status),
      [201, 201, 201],
    );
    assert.deepEqual([created.status, pointers(created)], [409, ["/user_id", "/team"]]);
    assert.deepEqual([changed.status, pointers(changed)], [409, ["/user_id", "/team"]]);
    assert.deepEqual([several.status, pointers(several)], [409, ["/1/user_id", "/1/team"]]);
  });

for (const [what, made] of [
  ["no unique index", table("", 'CREATE INDEX plain ON team_members (team, "userId");')],
  ["a unique index over other columns", table("", "CREATE UNIQUE INDEX other ON team_members (team, role);")],
  ["a unique index over more columns", table("", 'CREATE UNIQUE INDEX more ON team_members (team, "userId", role);')],
  [
    "a unique index over some rows",
    table("", `CREATE UNIQUE INDEX owners ON team_members (team, "userId") WHERE role = 'owner';`),
  ],
] as const)
  onBoth(`refuses to start over an existing table with ${what} for a set`, made, async ({ serve }) => {
    await assert.rejects(
      serve(members),
      /\(user_id, team\) is declared as a unique set, but team_members has no unique index over \(userId, team\); leave the set out, or create the index/,
    );
  });

onBoth(
  "accepts the key of an existing table as the index of a set",
  'CREATE TABLE team_members (id integer NOT NULL UNIQUE, "userId" integer NOT NULL, team varchar(20) NOT NULL, role text, PRIMARY KEY ("userId", team));',
  async ({ serve, sql }) => {
    await sql("INSERT INTO team_members VALUES (1, 7, 'a', NULL), (2, 7, 'b', NULL)");
    const { ask } = await serve(members);

    const { status, json } = await ask("PATCH", "/members/2", { body: { team: "a" } });

    const pointers = json.errors.map(({ pointer }: { pointer: string }) => pointer);
    assert.deepEqual([status, pointers], [409, ["/user_id", "/team"]]);
  },
);

onBoth(
  "declares unique sets with `db inspect`, except those with a JSON value",
  table(', note text, extra jsonb, code text UNIQUE, UNIQUE (note, "userId"), UNIQUE (team, extra)', uniqueIndex),
  async (before) => {
    const text = formatDeclarations(await inspectTables(before));

    const [line = ""] = /^  unique: .*$/m.exec(text) ?? [];
    const sets = (JSON.parse(line.replace("  unique: ", "").slice(0, -1)) as string[][])
      .map((set) => set.join())
      .toSorted();
    assert.deepEqual(sets, ["note,user_id", "team,user_id"]);
  },
);

onBoth("declares no set with `db inspect` if a table has none", table(", code text UNIQUE"), async (before) => {
  assert.doesNotMatch(formatDeclarations(await inspectTables(before)), /^  unique:/m);
});

const roleIndex = "CREATE UNIQUE INDEX role ON team_members (role);";

const pointersOf = ({ status, json }: OwnAnswer): readonly unknown[] => [
  status,
  ...(json.errors ?? []).map(({ pointer }: { pointer: string }) => pointer),
];

onBoth("names the field of another unique index", table("", uniqueIndex + roleIndex), async ({ serve }) => {
  const { ask } = await serve(members);
  await ask("POST", "/members", { body: { user_id: 1, team: "a", role: "owner" } });

  const refused = await ask("POST", "/members", { body: { user_id: 2, team: "a", role: "owner" } });

  assert.deepEqual(pointersOf(refused), [409, "/role"]);
});

onBoth(
  "names the record of an array for a unique index over a column that is not declared",
  table(', slot integer DEFAULT 1 UNIQUE, CHECK (slot + "userId" < 100)', uniqueIndex),
  async ({ serve }) => {
    const { ask } = await serve(members);

    const refused = await ask("POST", "/members", { body: [{ user_id: 3 }, { user_id: 4 }] });

    assert.deepEqual(pointersOf(refused), [409, "/1"]);
    assert.notEqual((await ask("POST", "/members", { body: [{ user_id: 3 }, { user_id: 500 }] })).json.code, "taken");
  },
);

onBoth("takes the index of a set for no unique field", table("", uniqueIndex + roleIndex), async ({ serve }) => {
  const fields = { user_id: integer(), team: text({ maxLength: 20, optional: true }), role: text({ optional: true }) };
  const serveWith = (more: object): ReturnType<typeof serve> => {
    const declaration = { name: "member", table: "team_members", columns: { user_id: "userId" } } as const;
    return serve(mount(defineResource({ ...declaration, fields: { ...fields, ...more } }), { permission: anyone }));
  };

  await assert.rejects(
    serveWith({ team: text({ maxLength: 20, optional: true, unique: true }) }),
    /team is declared unique, but team_members.team has no unique index/,
  );
  await serveWith({ role: text({ optional: true, unique: true }) });
});

function inspectTables({ engine, url }: Before): ReturnType<typeof inspectPostgres> {
  return engine === "sqlite" ? inspectSQLite(url.replace("sqlite:", "")) : inspectPostgres(new Secret(url));
}
