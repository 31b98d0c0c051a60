// On SQLite alone: `testLatchkey` serves in memory.
//
// The task tracker of docs/guides/teams.md: its declarations fit into 70 lines, and do what the page says.
import "../harness/doors-of-source.ts";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test, type TestContext } from "node:test";
import type { Permission } from "../../src/door/auth.ts";
import type { Mount } from "../../src/door/resources.ts";
import { assertProblem, testLatchkey, type Asker, type TestReply } from "../../src/testing/testing.ts";
import { basicHeader, serve, withMail } from "../harness/serve.ts";

const folder = path.join(import.meta.dirname, "../../examples/tracker");
const names = ["ann", "ben", "tom", "root", "eve"] as const;

/** The tracker with a project of ann (owner), ben (member) and tom (member and treasurer), and eve outside. */
async function start(t: TestContext) {
  const { default: config } = await import("../../examples/tracker/latchkey.config.ts");
  const api = await testLatchkey(config, { environment: withMail });
  t.after(() => api.close());
  const users = {
    ann: await api.user(),
    ben: await api.user(),
    tom: await api.user({ role: "treasurer" }),
    root: await api.user({ role: "admin" }),
    eve: await api.user(),
  };
  const askers = Object.fromEntries(names.map((name) => [name, api.as(users[name])])) as Record<
    (typeof names)[number],
    Asker
  >;
  made(await askers.ann.post("/projects", { name: "Roof" }));
  const { collection } = api.service.mounts.find(({ resource }) => resource.name === "member")!;
  await api.service.store.write({
    changes: (["ben", "tom"] as const).map((name) => ({
      kind: "insert",
      collection,
      values: { project_id: 1, user_id: users[name].id, role: "member" },
    })),
  });
  return { ...askers, api, users };
}

function made(reply: TestReply): void {
  assert.equal(reply.status, 201, `${reply.asked} ${reply.text}`);
}

const list = ({ json }: TestReply, field: string): readonly unknown[] =>
  (json as readonly Readonly<Record<string, unknown>>[]).map((each) => each[field]);

test("declares a task tracker with teams in at most 70 lines", () => {
  const lines = ["tracker.ts", "latchkey.config.ts"].flatMap((file) =>
    readFileSync(path.join(folder, file), "utf8")
      .split("\n")
      .filter((line) => line.trim() !== ""),
  );

  assert.ok(lines.length <= 70, `${lines.length} lines`);
});

test("shows the projects, tasks and names of a team to its members alone", async (t) => {
  const { ann, ben, eve, api } = await start(t);
  made(await ben.post("/tasks", { project_id: 1, title: "Buy slate" }));
  made(await eve.post("/projects", { name: "Cellar" }));
  made(await eve.post("/tasks", { project_id: 2, title: "Dig" }));

  assert.deepEqual(list(await ann.get("/projects"), "name"), ["Roof"]);
  assert.deepEqual(list(await ann.get("/tasks?state=open"), "title"), ["Buy slate"]);
  assert.deepEqual(list(await eve.get("/tasks"), "title"), ["Dig"]);
  for (const path of ["/projects/1", "/projects/1/members", "/projects/1/members/1", "/tasks/1", "/users/1"])
    assertProblem(await eve.get(path), 404, "not_found");
  for (const project_id of [1, 999])
    assertProblem(await eve.post("/tasks", { project_id, title: "Spy" }), 403, "permission_denied");
  assertProblem(await ann.patch("/tasks/1", { project_id: 2 }), 403, "permission_denied");
  const shown = await ben.get("/projects/1/members?expand=user");
  assert.equal((shown.json as readonly { user: { name: string } }[]).filter(({ user }) => user.name !== "").length, 3);
  assert.ok(!list(shown, "user").some((user) => Object.hasOwn(user as object, "email")));
  assert.equal((await api.get("/projects")).status >= 401, true);
});

test("lets owners manage members, members leave, and one owner stay", async (t) => {
  const { ann, ben, tom, eve, users } = await start(t);

  for (const who of [ben, tom])
    assertProblem(await who.patch("/projects/1/members/2", { role: "owner" }), 403, "permission_denied");
  assertProblem(await ben.patch("/projects/1", { name: "Mine" }), 403, "permission_denied");
  assertProblem(await eve.post("/projects/1/members", { user_id: users.eve.id }), 404, "not_found");
  assertProblem(await ann.delete("/projects/1/members/1"), 409, "last_owner");
  assertProblem(await ann.patch("/projects/1/members/1", { role: "member" }), 409, "last_owner");
  assert.equal((await ann.patch("/projects/1/members/2", { role: "owner" })).status, 200);
  assert.equal((await ann.delete("/projects/1/members/1")).status, 204);
  assertProblem(await ann.get("/projects/1"), 404, "not_found");
  assertProblem(await ben.delete("/projects/1/members/2"), 409, "last_owner");
});

test("shows the budget to treasurers of the project alone", async (t) => {
  const { ann, ben, tom, root } = await start(t);
  assert.equal((await ann.patch("/projects/1", { name: "Roofs" })).status, 200);
  assertProblem(await ann.patch("/projects/1", { budget: "5.00" }), 400, "invalid", { "/budget": "unknown_field" });
  assert.equal((await ann.patch("/projects/1/members/3", { role: "owner" })).status, 200);

  assert.equal((await tom.patch("/projects/1", { budget: "900.00" })).status, 200);

  assert.deepEqual(list(await tom.get("/projects"), "budget"), ["900.00"]);
  for (const who of [ann, ben]) assert.deepEqual(list(await who.get("/projects"), "budget"), [undefined]);
  assertProblem(await root.get("/projects/1"), 404, "not_found");
});

test("keeps titles of tasks apart in a project, and one membership for each user", async (t) => {
  const { ann, root, users } = await start(t);
  made(await ann.post("/tasks", { project_id: 1, title: "Buy slate" }));

  assertProblem(await ann.post("/tasks", { project_id: 1, title: "Buy slate" }), 409, "taken");
  assertProblem(await ann.post("/projects/1/members", { user_id: users.ben.id }), 409, "taken");
  assertProblem(await root.delete(`/users/${users.ben.id}`), 409, "referenced");
});

test("lets the owner of a project invite a stranger by mail, who then sees the names of the team", async (t) => {
  const { default: config } = await import("../../examples/tracker/latchkey.config.ts");
  const api = await serve(t, { settings: { ...withMail, LATCHKEY_SCHEMES: "basic" }, config });
  const ann = await api.user("ann");
  const ben = await api.user("ben");
  assert.equal((await api.post("/projects", { name: "Roof" }, ann.headers)).status, 201);

  const refused = await api.post("/projects/1/members/invitations", { email: "dan@example.com" }, ben.headers);
  const sent = await api.post(
    "/projects/1/members/invitations",
    { email: "dan@example.com", role: "owner" },
    ann.headers,
  );
  const [mail] = await api.mails();
  const token = /[?#&]token=([\w.-]+)/.exec(mail!.text)![1]!;
  const accepted = await api.post("/api/invitations/accept/", { token, name: "Dan", password: ann.password });

  assert.deepEqual([refused.status, sent.status, mail!.to], [404, 202, "dan@example.com"]);
  assert.deepEqual([accepted.status, accepted.json.role], [201, "owner"], accepted.text);
  const headers = basicHeader("dan@example.com", ann.password);
  const shown = await api.get("/projects/1/members?expand=user", headers);
  assert.deepEqual(
    shown.json.map(({ user }: { user: { name: string } }) => user.name),
    ["ann", "Dan"],
  );
});

test("declares the same projects and members as the template of npm create", async () => {
  const template = await import("../../create/teams/resources/projects.ts");
  const { mounts, users } = await import("../../examples/tracker/tracker.ts");
  const named = (permissions: object): readonly unknown[] =>
    Object.entries(permissions as Readonly<Record<string, Permission<string>>>).map(([action, { name }]) => [
      action,
      name,
    ]);
  const describe = ({ resource, permissions, founder, expand }: Mount) => ({
    fields: Object.keys(resource.fields).filter((name) => name !== "budget"),
    unique: resource.unique,
    permissions: named(permissions),
    founder: founder === null ? null : [founder.values, founder.keep],
    expand,
  });
  const [projects, members] = mounts;

  assert.deepEqual(describe(template.mountedProjects as Mount), describe(projects as Mount));
  assert.deepEqual(describe(template.mountedMembers as Mount), describe(members as Mount));
  assert.deepEqual(named(template.users.permissions!), named(users.permissions!));
  assert.deepEqual(Object.keys(template.users.rules!), Object.keys(users.rules!));
});
