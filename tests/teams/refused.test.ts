import assert from "node:assert/strict";
import { test } from "node:test";
import { memberOf, type Permission } from "../../src/door/auth.ts";
import {
  administrator,
  allOf,
  anyOf,
  boolean,
  defineEndpoint,
  defineResource,
  enumeration,
  integer,
  json,
  mount,
  not,
  reference,
  text,
} from "../../src/door/index.ts";
import { DeclarationError, references, type Mount } from "../../src/door/resources.ts";
import { assembleService, sqliteStore } from "../../src/door/stores.ts";
import { table } from "../../src/http/declarations/table.ts";
import { ownService } from "../harness/own-service.ts";

const project = defineResource({ name: "project", fields: { name: text() } });
const club = defineResource({ name: "club", id: "uuid", fields: { name: text() } });
const membership = defineResource({
  name: "membership",
  fields: {
    user_id: reference("users"),
    project_id: reference(project, { onDelete: "cascade" }),
    role: enumeration(["owner", "editor", "viewer"]),
    accepted: boolean({ default: true }),
    note: json({ optional: true }),
  },
  unique: [["user_id", "project_id"]],
});
const task = defineResource({ name: "task", fields: { project_id: reference(project), title: text() } });
/** Memberships with two references to users and two to groups. */
const entry = defineResource({
  name: "entry",
  plural: "entries",
  fields: {
    user_id: reference("users"),
    invited_by: reference("users"),
    project_id: reference(project),
    club_id: reference(club),
  },
});

/** Memberships that are nested in the group, which has another column of the same name. */
const seat = defineResource({ name: "seat", within: club, fields: { user_id: reference("users") } });
/** Memberships of a group that is named by its plural. */
const place = defineResource({
  name: "place",
  fields: { user_id: reference("users"), project_id: reference("projects") },
});
const unrelated = defineResource({ name: "unrelated", fields: { name: text() } });

test("compiles memberOf for columns, groups and values that exist", () => {
  const permissions: readonly Permission<string>[] = [
    memberOf(membership),
    memberOf(membership, { of: "project_id", on: "id", where: { role: ["owner", "editor"], accepted: true } }),
    memberOf(entry, { of: "club_id", user: "invited_by", on: "home_id" }),
  ];
  const mounts = [
    mount(membership, { permission: memberOf(membership) }),
    mount(project, { permission: memberOf(membership) }),
    mount(project, { permission: { list: anyOf(administrator, memberOf(membership, { on: "id" })) } }),
    mount(club, { permission: memberOf(entry, { of: "club_id", user: "user_id" }) }),
    mount(seat, { permission: memberOf(seat) }),
    mount(task, { permission: memberOf(place) }),
    mount(project, { permission: memberOf(place) }),
    mount(task, { permission: anyOf(administrator, memberOf(membership, { where: { role: "owner" } })) }),
    mount(task, {
      permission: { list: allOf(memberOf(membership), memberOf(membership, { where: { role: "owner" } })) },
    }),
  ];

  assert.deepEqual(
    permissions.map(({ columns }) => columns),
    [[], ["id"], ["home_id"]],
  );
  assert.equal(mounts.length, 9);
});

test("does not compile memberOf with a wrong column, role or user", () => {
  // @ts-expect-error -- there is no such column
  const misspelt = () => mount(task, { permission: memberOf(membership, { on: "projct_id" }) });
  // @ts-expect-error -- the column of is misspelt
  const misspeltOf = () => memberOf(membership, { of: "projct_id" });
  // @ts-expect-error -- it refers to nothing
  const plain = () => memberOf(membership, { of: "role" });
  // @ts-expect-error -- it refers to a user
  const person = () => memberOf(membership, { of: "user_id" });
  // @ts-expect-error -- there is no such role
  const role = () => memberOf(membership, { where: { role: ["boss"] } });
  // @ts-expect-error -- there is no such role, without a list
  const one = () => memberOf(membership, { where: { role: "boss" } });
  // @ts-expect-error -- there is no such field
  const field = () => memberOf(membership, { where: { rolle: "owner" } });
  // @ts-expect-error -- JSON cannot be compared
  const byJSON = () => memberOf(membership, { where: { note: "x" } });
  // @ts-expect-error -- the resource is neither a project nor has the column project_id
  const withoutColumn = () => mount(unrelated, { permission: memberOf(membership) });
  // @ts-expect-error -- the same within anyOf
  const withinAny = () => mount(unrelated, { permission: { list: anyOf(administrator, memberOf(membership)) } });
  // @ts-expect-error -- the same for nested memberships
  const nested = () => mount(project, { permission: memberOf(seat) });
  // @ts-expect-error -- a text is no user
  const byText = () => memberOf(membership, { user: "role" });
  // @ts-expect-error -- the opposite rows would be those of all other groups
  const opposite = () => not(memberOf(membership));
  // @ts-expect-error -- the same within anyOf
  const oppositeOfAny = () => not(anyOf(administrator, memberOf(membership)));
  // @ts-expect-error -- there are two groups, so `of` is missing
  const unclear = () => mount(task, { permission: memberOf(entry, { user: "user_id" }) });

  const all = [misspelt, misspeltOf, plain, person, role, one, field, byJSON, withoutColumn, withinAny, nested, byText];
  for (const declare of [...all, opposite, oppositeOfAny, unclear])
    assert.notEqual(thrownBy(declare), "", String(declare));
});

test("names what is wrong with memberships, and the fix", () => {
  const lonely = defineResource({ name: "lonely", plural: "lonelies", fields: { role: text() } });
  const optional = defineResource({
    name: "guest",
    fields: { user_id: reference("users", { optional: true }), project_id: reference(project, { optional: true }) },
  });
  const listed = defineResource({
    name: "circle",
    fields: { user_id: reference("users"), projects: references(project) },
  });
  const numbered = defineResource({ name: "seat", fields: { user_id: integer(), project_id: reference(project) } });
  const sealed = defineResource({
    name: "seal",
    fields: {
      user_id: reference("users"),
      project_id: reference(project),
      pin: text({ transient: true, writeOnly: true }),
      rank: integer(),
    },
  });
  const loose = memberOf as (memberships: unknown, options?: unknown) => Permission;
  const cases: readonly (readonly [unknown, unknown, RegExp])[] = [
    [lonely, {}, /\/lonelies has no reference to a user; declare user_id: reference\("users"\)/],
    [lonely, {}, /\/lonelies has no reference to a group; declare a reference to the group/],
    [optional, {}, /\/guests: user_id is optional, but a membership needs a user and a group; remove optional/],
    [optional, {}, /\/guests: project_id is optional/],
    [listed, {}, /\/circles has no reference to a group/],
    [numbered, {}, /\/seats has no reference to a user/],
    [entry, { of: "club_id" }, /several references to a user: user_id, invited_by; name one: user: "user_id"/],
    [entry, { user: "user_id" }, /several references to a group: project_id, club_id; name one: of: "project_id"/],
    [membership, { of: "projct_id" }, /of: \/memberships has no column projct_id .*did you mean project_id\?/],
    [membership, { of: "user_id" }, /of: \/memberships has no column user_id that refers to a group/],
    [membership, { user: "role" }, /user: \/memberships has no column role that refers to a user/],
    [membership, { where: { rolle: ["owner"] } }, /where: \/memberships has no field rolle .*did you mean role\?/],
    [
      membership,
      { where: { role: ["boss"] } },
      /where: role cannot be 'boss': One of owner, editor, viewer is required/,
    ],
    [membership, { where: { role: [] } }, /where: role lists no value/],
    [membership, { where: { note: "x" } }, /where: \/memberships has no field note that can be compared/],
    [membership, { where: { accepted: null } }, /where: accepted cannot be null/],
    [membership, { where: ["owner"] }, /it has to be values by field/],
    [membership, { where: "owner" }, /it has to be values by field/],
    [sealed, { where: { pin: "1" } }, /where: \/seals has no field pin that can be compared/],
    [membership, { wher: {} }, /there is no option wher; did you mean where\?/],
    [membership, null, /its options are null/],
    [null, {}, /the memberships are null; give it the resource/],
    [{ path: "/members" }, {}, /give it the resource/],
    [{ fields: {} }, {}, /give it the resource/],
    ["memberships", {}, /the memberships are 'memberships'; give it the resource/],
    [mount(membership, { permission: administrator }), {}, /give it the resource/],
  ];

  for (const [memberships, options, message] of cases)
    assert.match(
      thrownBy(() => loose(memberships, options)),
      message,
    );
  assert.equal(loose(membership, { where: { role: undefined } }).name, memberOf(membership).name);
  assert.equal(loose(sealed, { where: { rank: 2 } }).name, "member by project_id of /seals with rank 2");
});

test("denies unknown callers, and narrows known callers to the rows of their groups", () => {
  const permission = memberOf(membership, { where: { role: ["owner"], accepted: true } });
  const ask = (identity: Parameters<typeof permission.decide>[0]["identity"]): unknown =>
    permission.decide({ identity, action: "list", params: {}, now: 0 });
  const ada = { id: 7, username: "ada", role: "user", scheme: "basic", scopes: null, expiresAt: null } as const;

  assert.equal(ask(null), "deny");
  assert.deepEqual(ask(ada), {
    only: {
      memberships: membership,
      select: "project_id",
      where: {
        all: [
          { column: "user_id", operator: "eq", value: 7 },
          { column: "role", operator: "in", value: ["owner"] },
          { column: "accepted", operator: "in", value: [true] },
        ],
      },
    },
  });
  assert.deepEqual(permission.memberships, [membership]);
  assert.deepEqual(anyOf(administrator, permission).memberships, [membership]);
  assert.equal(permission.name, "member by project_id of /memberships with role owner and with accepted true");
});

test("refuses at the start what memberOf cannot compare, with the place and the fix", async () => {
  const user = defineResource({ name: "user", fields: { name: text() } });
  const clubs = defineResource({
    name: "seat",
    fields: { user_id: reference(user), club_id: reference(club) },
    unique: [["user_id", "club_id"]],
  });
  const folded = defineResource({
    name: "place",
    fields: { club_id: text({ maxLength: 36 }) },
    filters: { club_id: ["icontains"] },
  });
  const caseless = defineResource({
    name: "guest",
    fields: { user_id: reference(user), club_id: reference(club) },
    filters: { club_id: ["icontains"] },
  });
  const room = defineResource({ name: "room", fields: { club_id: integer(), clubs: references(club), meta: json() } });
  const loose = memberOf as (memberships: unknown, options?: unknown) => Permission;
  const starts = (...mounts: readonly Mount[]): string =>
    thrownBy(() => assembleService({ store: sqliteStore({ path: ":memory:" }), mounts }));
  const people = mount(user, { permission: administrator });
  const groups = mount(club, { permission: administrator });
  const seats = mount(clubs, { permission: memberOf(clubs) });

  assert.equal(starts(people, groups, seats), "");
  assert.match(
    starts(people, mount(club, { permission: memberOf(clubs) })),
    /mount\(\/clubs\): a permission narrows by \/seats, which is not mounted in this service; mount seats too/,
  );
  assert.match(
    thrownBy(() => mount(club, { permission: loose(clubs, { on: "club_id" }) })),
    /narrows by the column club_id, which does not exist.*; this is the group itself, so leave on out: memberOf\(…\)/,
  );
  assert.match(
    thrownBy(() => mount(user, { permission: { list: anyOf(administrator, loose(clubs)) } })),
    /narrows by the column club_id, which does not exist.*; name the column with the id of the group: memberOf/,
  );
  for (const on of ["clubs", "meta"])
    assert.match(
      thrownBy(() => mount(room, { permission: loose(clubs, { on }) })),
      /cannot be compared; store the compared value in a separate column; for teams: memberOf\(memberships\)/,
    );
  assert.match(
    starts(people, groups, seats, mount(room, { permission: memberOf(clubs) })),
    /mount\(\/rooms\): the permission .* compares the column club_id with club_id of \/seats, but they are of the types integer and text/,
  );
  assert.match(
    starts(people, groups, seats, mount(room, { permission: memberOf(clubs, { on: "id" }) })),
    /compares the column id with club_id of \/seats, but they are of the types integer and text/,
  );
  assert.match(
    starts(people, groups, seats, mount(folded, { permission: memberOf(clubs) })),
    /mount\(\/places\): .* one of them is compared without case/,
  );
  assert.match(
    starts(people, mount(club, { permission: memberOf(caseless) }), mount(caseless, { permission: administrator })),
    /mount\(\/clubs\): .* compares the column id with club_id of \/guests, but one of them is compared without case/,
  );
  assert.match(
    thrownBy(() =>
      assembleService({
        store: sqliteStore({ path: ":memory:" }),
        mounts: [people, groups, seats],
        endpoints: [
          defineEndpoint({ method: "GET", path: "/mine", access: loose(clubs), handle: () => ({ status: 204 }) }),
        ],
      }),
    ),
    /narrows to rows, but your own endpoint has no rows/,
  );
});

test("makes the indexes of memberships and of narrowed tables", () => {
  const user = defineResource({ name: "user", fields: { name: text() } });
  const member = defineResource({
    name: "member",
    fields: { user_id: reference(user), project_id: reference(project) },
  });
  const job = defineResource({
    name: "job",
    fields: { home: integer(), title: text({ maxLength: 100 }) },
    sorts: ["title"],
  });
  const room = defineResource({ name: "room", fields: job.fields, sorts: ["title"] });
  const seat = defineResource({ name: "seat", fields: member.fields, unique: [["user_id", "project_id"]] });
  const holder = defineResource({ name: "holder", fields: member.fields });
  const ofHolder = memberOf(holder, { on: "id" });
  const { collections } = assembleService({
    store: sqliteStore({ path: ":memory:" }),
    mounts: [
      mount(user, { permission: administrator }),
      mount(project, { permission: anyOf(memberOf(member), ofHolder) }),
      mount(holder, { permission: administrator, table: table({ name: "holders", fields: holder.fields }) }),
      mount(member, { permission: memberOf(member) }),
      mount(job, { permission: anyOf(administrator, memberOf(member, { on: "home" })) }),
      mount(room, { permission: { list: administrator, read: memberOf(seat, { on: "home" }) } }),
      mount(seat, { permission: administrator }),
    ],
  });
  const indexesOf = (name: string): readonly string[] =>
    collections.find((each) => each.name === name)!.indexes!.map((index) => index.join());

  assert.deepEqual(indexesOf("members"), ["user_id,id", "project_id,id", "user_id,project_id"]);
  assert.deepEqual(indexesOf("holders"), ["user_id,id", "user_id,project_id"]);
  assert.deepEqual(indexesOf("projects"), []);
  assert.deepEqual(indexesOf("jobs"), ["title,id", "home,id", "home,title,id"]);
  assert.deepEqual(indexesOf("rooms"), ["title,id", "home,id"]);
  // The unique set has an index that begins with the user.
  assert.deepEqual(indexesOf("seats"), ["user_id,id", "project_id,id"]);
});

test("faults for a custom permission that answers with memberships which it does not name", async (t) => {
  const user = defineResource({ name: "user", fields: { name: text() } });
  const decide = memberOf(membership, { on: "id" }).decide;
  const within = (permission: Partial<Permission<"id">>): Permission<"id"> => ({
    name: "custom",
    narrows: ["list", "read"],
    columns: ["id"],
    decide,
    ...permission,
  });
  const opposite = within({
    memberships: [membership],
    decide: (request) => {
      const decision = decide(request);
      return typeof decision === "string" || "confirm" in decision ? decision : { only: { not: decision.only } };
    },
  });
  const status = async (permission: Permission<"id">): Promise<number> => {
    const own = await ownService(t, {
      mounts: [
        mount(user, { permission: administrator }),
        mount(project, { permission: { list: permission } }),
        mount(membership, { permission: administrator }),
      ],
      observe: null,
    });
    return (await own.get("/projects", { as: "ada" })).status;
  };

  assert.equal(await status(within({})), 500);
  assert.equal(await status(opposite), 500);
  assert.equal(await status(within({ memberships: [membership] })), 200);
});

/** Returns the mistakes that a declaration throws. Empty if there are none. */
function thrownBy(declare: () => unknown): string {
  try {
    declare();
    return "";
  } catch (error) {
    assert.ok(error instanceof DeclarationError, String(error));
    return error.message;
  }
}
