import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { memberOf, sharesGroup } from "../../src/door/auth.ts";
import { consolePages } from "../../src/door/features.ts";
import {
  accounts,
  administrator,
  anyOf,
  authenticated,
  defineResource,
  enumeration,
  mount,
  owner,
  reference,
  text,
  type Feature,
} from "../../src/door/index.ts";
import { olderShape, type Write } from "../../src/door/resources.ts";
import { startTeams, type Teams } from "../harness/founders.ts";
import { open, type Answered } from "../harness/own-logins.ts";

const project = defineResource({ name: "project", id: "uuid", fields: { name: text() } });
const membership = defineResource({
  name: "membership",
  fields: {
    user_id: reference("users"),
    project_id: reference(project, { onDelete: "cascade" }),
    role: enumeration(["owner", "viewer"], { default: "viewer" }),
  },
  filters: { project_id: ["eq"], user_id: ["eq"] },
  unique: [["user_id", "project_id"]],
});

interface Hooks {
  readonly features?: readonly Feature[];
  beforeWrite?(write: Write<typeof membership>): object;
}

/** Starts a service in which team mates see each other. */
async function start(t: TestContext, { features = [], beforeWrite }: Hooks = {}): Promise<Teams> {
  const seen = anyOf(administrator, sharesGroup(membership));
  const member = anyOf(administrator, memberOf(membership));
  const owners = anyOf(administrator, memberOf(membership, { where: { role: "owner" } }));
  const projects = mount(project, {
    permission: {
      list: memberOf(membership),
      read: memberOf(membership),
      create: authenticated,
      replace: memberOf(membership),
    },
    founder: { memberships: membership, values: { role: "owner" } },
  });
  const memberships = mount(membership, {
    permission: {
      list: member,
      read: member,
      create: owners,
      replace: owners,
      update: owners,
      delete: anyOf(owners, owner("user_id")),
    },
    arrays: true,
    expand: { user: "user_id" },
    ...(beforeWrite === undefined ? {} : { beforeWrite: (write) => beforeWrite(write) }),
  });
  const older = olderShape(memberships, {
    prefix: "/v1",
    fields: { member: "user_id", team: "project_id", role: "role" },
  });
  const people = accounts({
    ...open,
    permissions: { list: seen, read: seen },
    rules: { email: { read: administrator } },
  });
  return startTeams(t, { mounts: [projects, memberships, older] }, features, people);
}

/** Makes a project of a user, with further members whom an administrator adds. Returns its id. */
async function makeProject({ as, ids }: Teams, by: string, ...others: readonly string[]): Promise<string> {
  const made = await as(by, "POST", "/projects", { name: `of ${by}` });
  assert.equal(made.status, 201, made.text);
  for (const other of others) {
    const added = await as("root", "POST", "/memberships", { user_id: ids[other], project_id: made.json.id });
    assert.equal(added.status, 201, added.text);
  }
  return made.json.id;
}

const names = ({ json }: Answered): readonly string[] => json.map(({ name }: { name: string }) => name);

/** Returns an answer without its request id, and with an id in place of the given one. */
function shape({ status, text: body, headers }: Answered): unknown {
  const known = [...headers].filter(([name]) => !["x-request-id", "date", "server-timing"].includes(name));
  return [status, body.replace(/"request_id":"[^"]*"/, ""), known];
}

test("shows team mates in lists, reads, expand, search and counts, and nobody else", async (t) => {
  const teams = await start(t);
  const { as, ids } = teams;
  await makeProject(teams, "ada", "ben");

  assert.equal((await teams.api.get("/users")).status, 401);
  assert.deepEqual(names(await as("ada", "GET", "/users")), ["Ada", "ben"]);
  assert.deepEqual(names(await as("cleo", "GET", "/users")), ["cleo"]);
  assert.equal((await as("root", "GET", "/users")).json.length, 4);
  assert.deepEqual((await as("ben", "GET", "/users/1")).json, { id: 1, name: "Ada" });
  assert.equal((await as("ben", "GET", `/users/${ids["cleo"]}`)).status, 404);
  assert.deepEqual(names(await as("ben", "GET", "/users?search=cle")), []);
  assert.deepEqual(names(await as("ben", "GET", "/users?search=ada")), ["Ada"]);
  const counted = await as("ben", "GET", "/users", undefined, { prefer: "count=exact" });
  assert.equal(counted.headers.get("x-total-count"), "2");
  const expanded = await as("ben", "GET", "/memberships?expand=user");
  assert.deepEqual(
    expanded.json.map(({ user }: { user: { name: string } }) => user.name),
    ["Ada", "ben"],
  );
});

test("hides a team mate after one of both has left", async (t) => {
  const teams = await start(t);
  const { as, ids } = teams;
  const id = await makeProject(teams, "ada", "ben", "cleo");
  const [, ofBen] = (await as("root", "GET", `/memberships?project_id=${id}`)).json;
  assert.equal((await as("ben", "GET", "/users/1")).status, 200);

  assert.equal((await as("ben", "DELETE", `/memberships/${ofBen.id}`)).status, 204);

  assert.equal((await as("ben", "GET", "/users/1")).status, 404);
  assert.equal((await as("ada", "GET", `/users/${ids["ben"]}`)).status, 404);
  assert.deepEqual(names(await as("cleo", "GET", "/users")), ["Ada", "cleo"]);
});

test("makes members of readable users only, with the answer for an unknown user for all others", async (t) => {
  const teams = await start(t);
  const { as, ids } = teams;
  const first = await makeProject(teams, "ada", "ben");
  const second = await makeProject(teams, "ada");
  const unknown = 999_999;
  const [own] = (await as("ada", "GET", `/memberships?project_id=${second}`)).json;

  const attempts: readonly ((user: number | undefined) => Promise<Answered>)[] = [
    (user) => as("ada", "POST", "/memberships", { user_id: user, project_id: second }),
    (user) =>
      as("ada", "POST", "/memberships", [
        { user_id: ids["ben"], project_id: second },
        { user_id: user, project_id: second },
      ]),
    (user) => as("ada", "PATCH", `/memberships/${own.id}`, { user_id: user }),
    (user) => as("ada", "PUT", `/memberships/${own.id}`, { user_id: user, project_id: second, role: "owner" }),
    (user) => as("ada", "PATCH", "/memberships", [{ id: own.id, user_id: user }]),
    (user) => as("ada", "POST", "/v1/memberships", { member: user, team: second, role: "viewer" }),
    (user) => as("ada", "PATCH", `/memberships/${own.id}`, { user_id: user }, { prefer: "return=minimal" }),
  ];

  for (const [at, attempt] of attempts.entries()) {
    const ofUnknown = await attempt(unknown);
    assert.deepEqual(shape(await attempt(ids["cleo"])), shape(ofUnknown), `attempt ${at}`);
    assert.equal(ofUnknown.status, 400, ofUnknown.text);
  }
  const missing = (await attempts[0]!(unknown)).json;
  assert.deepEqual(missing.errors, [
    { pointer: "/user_id", code: "invalid", detail: "There is no record with this id." },
  ]);
  assert.equal((await attempts[1]!(unknown)).json.errors[0].pointer, "/1/user_id");
  assert.equal((await attempts[5]!(unknown)).json.errors[0].pointer, "/member");
  // The same answer as that of the database.
  const byDatabase = await as("root", "POST", "/memberships", { user_id: unknown, project_id: second });
  assert.deepEqual(shape(byDatabase), shape(await attempts[0]!(unknown)));
  assert.deepEqual(
    (await as("ada", "GET", `/memberships?project_id=${second}`)).json.map(
      (each: Record<string, unknown>) => each["user_id"],
    ),
    [1],
  );
  assert.equal((await as("ada", "POST", "/memberships", { user_id: ids["ben"], project_id: second })).status, 201);
  assert.equal((await as("root", "POST", "/memberships", { user_id: ids["cleo"], project_id: first })).status, 201);
});

test("answers 403 for a foreign group before it looks for the user", async (t) => {
  const teams = await start(t);
  const { as, ids } = teams;
  const foreign = await makeProject(teams, "ben");

  for (const user of [ids["cleo"], 999_999, 1])
    assert.equal((await as("ada", "POST", "/memberships", { user_id: user, project_id: foreign })).status, 403);
});

test("reads no name for 1,000 guessed ids, one by one and in an array", async (t) => {
  const teams = await start(t);
  const { as } = teams;
  const id = await makeProject(teams, "ada");

  const sent = Array.from({ length: 1000 }, (_, at) => at + 2);
  const answers = new Set<string>();
  // Many at once, because a guess spends most of its time waiting for the database.
  for (let from = 0; from < sent.length; from += 100) {
    const some = sent.slice(from, from + 100);
    const guessed = await Promise.all(
      some.map((user) => as("ada", "POST", "/memberships", { user_id: user, project_id: id })),
    );
    for (const { text: said } of guessed) answers.add(said.replace(/"request_id":"[^"]*"/, ""));
  }
  const all = await as(
    "ada",
    "POST",
    "/memberships",
    sent.map((user) => ({ user_id: user, project_id: id })),
  );

  assert.equal(answers.size, 1);
  assert.equal(all.status, 400);
  assert.deepEqual(names(await as("ada", "GET", "/users")), ["Ada"]);
  assert.equal((await as("ada", "GET", "/memberships")).json.length, 1);
});

test("runs no hook for a user whom the caller may not read, and checks the user that a hook sets", async (t) => {
  const users: unknown[] = [];
  let replaced: number | null = null;
  const teams = await start(t, {
    beforeWrite({ draft }) {
      users.push(draft?.values.user_id);
      return replaced === null ? {} : { values: { user_id: replaced } };
    },
  });
  const { as, ids } = teams;
  const id = await makeProject(teams, "ada", "ben");
  users.length = 0;

  for (const user of [ids["cleo"], 999_999])
    assert.equal((await as("ada", "POST", "/memberships", { user_id: user, project_id: id })).status, 400);
  assert.deepEqual(users, []);
  replaced = ids["cleo"]!;
  const sent = { user_id: 1, project_id: id };
  const [own] = (await as("ada", "GET", "/memberships")).json;
  for (const [method, path, body] of [
    ["POST", "/memberships", sent],
    ["PATCH", `/memberships/${own.id}`, { role: "owner" }],
    ["POST", "/memberships", [sent]],
    ["PATCH", "/memberships", [{ id: own.id, role: "owner" }]],
  ] as const) {
    const set = await as("ada", method, path, body);
    assert.equal(set.status, 400, `${method} ${path}: ${set.text}`);
    assert.match(set.json.errors[0].pointer, /\/user_id$/);
  }
  assert.deepEqual(names(await as("ada", "GET", "/users")), ["Ada", "ben"]);
});

test("offers team mates in the choosers of the console", async (t) => {
  const teams = await start(t, { features: [consolePages({ title: "Teams" })] });
  await makeProject(teams, "ada", "ben");

  const page = await teams.as("ada", "GET", "/memberships?form=new", undefined, { accept: "text/html" });

  assert.equal(page.status, 200, page.text.slice(0, 300));
  const [chooser = ""] = /<select [^>]*name="user_id".*?<\/select>/s.exec(page.text) ?? [];
  assert.match(chooser, />ben</);
  const choices = await teams.as("ada", "GET", "/users?limit=50&fields=id,name");
  assert.deepEqual(names(choices), ["Ada", "ben"]);
  assert.doesNotMatch(page.text, /cleo/);
});

test("stops the start on a resource that is not users, and for wrong options", () => {
  const seen = sharesGroup(membership);
  assert.throws(
    () => mount(project, { permission: anyOf(administrator, seen) }),
    /mount\(\/projects\): the permission any of .* is for users, so it belongs into accounts/,
  );
  // @ts-expect-error -- the column refers to no group
  assert.throws(() => sharesGroup(membership, { of: "role" }), /sharesGroup: of: \/memberships has no column role/);
  assert.throws(() => sharesGroup(project), /sharesGroup: \/projects has no reference to a user/);
  assert.throws(() => sharesGroup(membership, null as never), /sharesGroup: its options are null/);
  // @ts-expect-error -- there is no such option
  assert.throws(() => sharesGroup(membership, { off: "project_id" }), /off/);
});
