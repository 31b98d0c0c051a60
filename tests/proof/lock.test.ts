import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  defineUsers,
  hasRole,
  memberOf,
  sameAs,
  sharesGroup,
  unlimited,
  type Permission,
} from "../../src/door/auth.ts";
import {
  accounts,
  administrator,
  allOf,
  anyOf,
  anyone,
  authenticated,
  confirmed,
  decimal,
  defineEndpoint,
  defineResource,
  enumeration,
  integer,
  mount,
  nobody,
  not,
  owner,
  readOnly,
  reference,
  scope,
  self,
  text,
} from "../../src/door/index.ts";
import { olderShape, type Mount } from "../../src/door/resources.ts";
import { placeMounts } from "../../src/http/mount/placing.ts";
import { describeChanges } from "../../src/proof/lock/changes.ts";
import { formatLock, parseLock } from "../../src/proof/lock/lock-file.ts";
import { permissionsOf } from "../../src/proof/lock/permissions-of.ts";
import { ownService } from "../harness/own-service.ts";

// Nightly on PostgreSQL: the lock describes the declarations.

type Rule = Permission;

const finance = hasRole("finance");
const project = defineResource({ name: "project", fields: { name: text() } });
const membership = defineResource({
  name: "membership",
  fields: {
    user_id: reference("users"),
    project_id: reference(project),
    role: enumeration(["owner", "editor"]),
  },
  unique: [["user_id", "project_id"]],
});
const users = defineUsers({ fields: { tenant: integer({ optional: true }) }, identity: ["tenant"] });
const member = memberOf(membership);
const projectOwner = memberOf(membership, { where: { role: "owner" } });
const editors = memberOf(membership, { where: { role: ["owner", "editor"] } });
const memberships = mount(membership, { permission: { list: member } });
const projects = mount(project, { permission: { read: anyone } });

/** A resource for everything that a permission can name. */
const task = (rules: { readonly read?: Rule; readonly write?: Rule } = {}) =>
  defineResource({
    name: "task",
    fields: {
      project_id: reference(project),
      user_id: reference("users"),
      tenant: integer({ optional: true }),
      cost: decimal({ scale: 2, maximum: "999.99", optional: true, ...rules }),
    },
  });

/** The permissions of a service with these mounts, and with projects and memberships. */
function permissionsWith(...mounts: readonly Mount[]) {
  return permissionsOf({ mounts: placeMounts([projects, memberships, ...mounts]), routes: [] });
}

/** The sentences about updates of tasks with this permission. */
function updates(permission: Permission<string>): readonly string[] {
  const { sections } = permissionsWith(mount(task(), { permission: { update: permission as Permission } }));
  return sections.flat().filter((line) => line.includes("update tasks"));
}

const custom = (name: string, description?: string): Permission => ({
  name,
  ...(description === undefined ? {} : { description }),
  decide: () => "allow",
});

test("says in one sentence for each actor whom a permission allows", () => {
  const cases: readonly (readonly [Permission<string>, readonly string[]])[] = [
    [anyone, ["anyone may update tasks"]],
    [nobody, []],
    [authenticated, ["any logged-in user may update tasks"]],
    [administrator, ["admin may update tasks"]],
    [hasRole("editor", "chief"), ["chief may update tasks", "editor may update tasks"]],
    [owner("user_id"), ["the user in user_id may update tasks"]],
    [self("user_id"), ["the user in user_id may update tasks"]],
    [sameAs(users, "tenant"), ["users with the same tenant may update tasks"]],
    [member, ["members of the project may update tasks"]],
    [
      editors,
      [
        "members with role editor of the project may update tasks",
        "members with role owner of the project may update tasks",
      ],
    ],
    [readOnly, []],
    [not(readOnly), ["anyone may update tasks"]],
    [scope("tasks"), ["any logged-in user may update tasks, if a credential with scopes has the scope tasks"]],
    [unlimited, ["anyone may update tasks, if the credential is not limited to scopes"]],
    [
      confirmed({ within: 300, level: 2 }),
      ["anyone may update tasks, if they confirmed within 300 s with a second factor"],
    ],
    [not(authenticated), ["anyone may update tasks, if they are not logged in"]],
    [
      allOf(authenticated, not(anyOf(administrator, finance))),
      ["any logged-in user may update tasks, if their role is not admin and their role is not finance"],
    ],
    [custom("office hours"), ['anyone may update tasks, if the permission "office hours" allows it']],
    [allOf(finance, custom("hours", "it is Monday")), ["finance may update tasks, if it is Monday"]],
    [allOf(finance, not(custom("hours", "it is Monday"))), ["finance may update tasks, if not: it is Monday"]],
    [allOf(finance, administrator), []],
    [allOf(authenticated, administrator, not(finance)), ["admin may update tasks"]],
    [anyOf(authenticated, administrator, owner("user_id")), ["any logged-in user may update tasks"]],
    [anyOf(member, projectOwner, anyone), ["anyone may update tasks"]],
    [
      allOf(finance, anyOf(projectOwner, owner("user_id"))),
      [
        "finance may update tasks, if they are members with role owner of the project",
        "finance may update tasks, if they are the user in user_id",
      ],
    ],
  ];

  for (const [permission, expected] of cases) assert.deepEqual(updates(permission), expected, permission.name);
});

test("names rules of fields, nested resources, actions, founders, open groups and invitations", () => {
  const club = defineResource({ name: "club", fields: { name: text() } });
  const guest = defineResource({ name: "guest", within: club, fields: { user_id: reference("users") } });
  const note = defineResource({ name: "note", within: club, fields: { line: text() } });
  const guests = mount(guest, { permission: { create: authenticated }, joins: "open", invitations: true });
  const clubs = mount(club, {
    permission: { read: memberOf(guest, { on: "id" }), create: authenticated },
    founder: { memberships: guest, values: {} },
    actions: { close: { permission: administrator, reveals: ["tasks.cost"], handle: () => undefined } },
  });
  const notes = mount(note, { permission: { list: anyone, create: anyone } });
  const ruled = mount(task({ read: finance, write: nobody }), { permission: { read: anyone } });

  const { sections } = permissionsWith(clubs, guests, notes, ruled);

  assert.deepEqual(sections, [
    [
      "users who create clubs may become guests of the club",
      "admin may call close of clubs",
      "any logged-in user may create clubs",
      "guests of the club may read clubs",
      "the action close of clubs may show cost of tasks to all of its callers",
    ],
    [
      "any logged-in user may create guests in clubs, if they may read the club",
      "users who create guests in clubs may invite others by mail to the club",
      "anyone may join by guests in clubs",
    ],
    ["members of the project may list memberships"],
    [
      "anyone may create notes in clubs, if they may edit the club",
      "anyone may list notes in clubs, if they may read the club",
    ],
    ["anyone may read projects"],
    [
      "anyone may read tasks",
      "finance may read cost of tasks",
      "nobody else may read cost of tasks",
      "nobody else may write cost of tasks",
    ],
  ]);
});

test("covers users with their rules, and endpoints", async (t) => {
  const people = accounts({
    fields: { tenant: integer({ optional: true }) },
    administered: ["tenant"],
    permissions: { list: sharesGroup(membership), read: finance },
    rules: { email: { read: finance } },
    roles: ["user", "finance", "admin"],
  });
  const { service } = await ownService(t, {
    features: [people],
    mounts: [projects, memberships],
    endpoints: [
      defineEndpoint({ method: "GET", path: "/sales", access: finance, handle: () => ({ status: 204 }) }),
      defineEndpoint({ method: "GET", path: "/news", access: "open", handle: () => ({ status: 204 }) }),
    ],
  });

  const lines = permissionsOf(service).sections.flat();

  for (const line of [
    "members of the same project may list users",
    "the user with that id may list users",
    "finance may read users",
    "finance may read email of users",
    "the user with that id may read email of users",
    "nobody else may read email of users",
    "admin may write tenant of users",
    "nobody else may write tenant of users",
    "admin may create users, if the credential is not limited to scopes",
    "finance may call GET /sales",
    "anyone may call GET /news",
  ])
    assert.ok(lines.includes(line), `${line} is missing in:\n${lines.join("\n")}`);
});

test("gives an older shape lines only if its permissions differ", () => {
  const tasks = mount(task(), { permission: { read: anyone, update: finance } });
  const older = olderShape(tasks, {
    prefix: "/v1",
    fields: { project_id: "project_id", user_id: "user_id", price: "cost" },
  });
  const wider = { ...older, permissions: { ...older.permissions, update: anyone } } as Mount;

  assert.deepEqual(permissionsWith(tasks, older).sections, permissionsWith(tasks).sections);
  assert.deepEqual(permissionsWith(tasks, wider).sections.at(-1), [
    "anyone may read tasks (/v1)",
    "anyone may update tasks (/v1)",
  ]);
});

test("reads the lines of a file as it wrote them", () => {
  const permissions = permissionsWith(mount(task({ read: finance }), { permission: editors as Permission }));

  const written = formatLock(permissions);

  assert.deepEqual(parseLock(written.replaceAll("\n", "\r\n")), permissions.sections.flat());
  assert.deepEqual(describeChanges(written, permissions), []);
});

test("says in sentences what a changed declaration allows and denies", () => {
  type Declared = { readonly permission?: Permission<string>; readonly read?: Rule; readonly isGone?: boolean };
  const cases: readonly (readonly [string, Declared, Declared, readonly string[]])[] = [
    [
      "a new role",
      { permission: administrator },
      { permission: anyOf(administrator, hasRole("editor")) },
      ["editor may now update tasks"],
    ],
    [
      "a removed role",
      { permission: hasRole("editor", "chief") },
      { permission: hasRole("chief") },
      ["editor may no longer update tasks"],
    ],
    [
      "everyone in place of a role",
      { permission: finance },
      { permission: authenticated },
      ["any logged-in user may now update tasks"],
    ],
    [
      "a role in place of everyone",
      { permission: authenticated },
      { permission: finance },
      ["any logged-in user may no longer update tasks; still may: finance"],
    ],
    [
      "a further value of memberships",
      { permission: projectOwner },
      { permission: editors },
      ["members with role editor of the project may now update tasks"],
    ],
    [
      "no value of memberships",
      { permission: projectOwner },
      { permission: member },
      ["members of the project may now update tasks"],
    ],
    [
      "a second condition",
      { permission: member },
      { permission: allOf(finance, member) },
      ["members of the project may no longer update tasks; still may: finance (if they are members of the project)"],
    ],
    [
      "a condition that is left out",
      { permission: allOf(finance, confirmed({ within: 300 })) },
      { permission: finance },
      ["finance may update tasks: now always, before only if they confirmed within 300 s"],
    ],
    [
      "a new rule of a field",
      {},
      { read: anyOf(finance, administrator) },
      ["only admin and finance may now read cost of tasks"],
    ],
    ["a removed rule of a field", { read: finance }, {}, ["everyone who may read tasks may now read cost of tasks"]],
    [
      "a further role for a field",
      { read: administrator },
      { read: anyOf(finance, administrator) },
      ["finance may now read cost of tasks"],
    ],
    [
      "a removed resource",
      { permission: finance, read: finance },
      { isGone: true },
      ["cost of tasks is gone, with its rule to read it", "finance may no longer update tasks"],
    ],
  ];
  const permissionsFor = ({ permission = nobody, read, isGone = false }: Declared) =>
    isGone
      ? permissionsWith()
      : permissionsWith(
          mount(task(read === undefined ? {} : { read }), { permission: { update: permission as Permission } }),
        );

  for (const [title, before, after, expected] of cases)
    assert.deepEqual(describeChanges(formatLock(permissionsFor(before)), permissionsFor(after)), expected, title);
});

const actions = ["list", "read", "create", "replace", "update", "delete", "finish"] as const;
const leaves: readonly Permission<string>[] = [
  anyone,
  nobody,
  authenticated,
  administrator,
  readOnly,
  finance,
  hasRole("editor", "chief"),
  owner("user_id"),
  sameAs(users, "tenant"),
  member,
  editors,
  custom("office hours"),
];
const drawnPermission = fc.letrec<{ readonly any: Permission<string> }>((tie) => ({
  any: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(...leaves),
    fc.array(tie("any"), { minLength: 1, maxLength: 3 }).map((parts) => anyOf(...(parts as Permission[]))),
    fc.array(tie("any"), { minLength: 1, maxLength: 3 }).map((parts) => allOf(...(parts as Permission[]))),
  ),
})).any;
const rules = [undefined, finance, administrator, anyOf(finance, administrator)] as const;

interface Drawn {
  readonly tasks: readonly Permission<string>[];
  readonly notes: readonly Permission<string>[];
  readonly read: Rule | undefined;
  readonly write: Rule | undefined;
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  tasks: fc.array(drawnPermission, { minLength: actions.length, maxLength: actions.length }),
  notes: fc.array(drawnPermission, { minLength: actions.length, maxLength: actions.length }),
  read: fc.constantFrom(...rules),
  write: fc.constantFrom(...rules),
});

function declare({ tasks, notes, read, write }: Drawn): readonly string[] {
  const resource = task({ ...(read === undefined ? {} : { read }), ...(write === undefined ? {} : { write }) });
  const fields = { project_id: reference(project), user_id: reference("users"), tenant: integer() };
  const note = defineResource({ name: "note", within: resource, fields });
  const permissionOf = (all: readonly Permission<string>[]) =>
    Object.fromEntries(actions.flatMap((action, at) => (action === "finish" ? [] : [[action, all[at] as Permission]])));
  const own = (all: readonly Permission<string>[]) => ({
    finish: { permission: all.at(-1) as Permission, handle: () => undefined },
  });
  return permissionsWith(
    mount(resource, { permission: permissionOf(tasks), actions: own(tasks) }),
    mount(note, { permission: permissionOf(notes), actions: own(notes) }),
  ).sections.flat();
}

test("changes only the lines of the resource and action, or of the field, that a change is about", () => {
  fc.assert(
    fc.property(drawn, drawnPermission, fc.nat(2 * actions.length + 1), (before, permission, at) => {
      const of = at < actions.length ? "tasks" : "notes";
      const action = actions[at % actions.length]!;
      const isField = at >= 2 * actions.length;
      const verb = at % 2 === 0 ? "read" : "write";
      const replaced = before[of].with(actions.indexOf(action), permission);
      const after = isField ? { ...before, [verb]: finance } : { ...before, [of]: replaced };
      const name = of === "tasks" ? "tasks" : "notes in tasks";
      const isAbout = isField
        ? ` may ${verb} cost of tasks`
        : action === "finish"
          ? ` may call finish of ${name}`
          : ` may ${action} ${name}`;
      const others = (lines: readonly string[]): readonly string[] =>
        lines.filter((line) => line.replace(/, if .*/, "").replace(/^.+?(?= may )/, "") !== isAbout);

      assert.deepEqual(others(declare(after)), others(declare(before)));
    }),
    { numRuns: 300 },
  );
});
