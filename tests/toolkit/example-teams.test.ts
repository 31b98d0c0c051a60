import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import { emptyDatabase } from "../harness/test-store.ts";

const root = path.join(import.meta.dirname, "../..");
const fromSource = pathToFileURL(path.join(root, "tests/harness/from-source.ts")).href;
const password = "the password of them";

/** The callers of each line of the contract's table. Their order is the order of the expected statuses. */
const actors = ["owner", "editor", "viewer", "finance", "admin", "stranger", "nobody"] as const;
type Actor = (typeof actors)[number];

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- a test says what it expects by looking
  readonly json: any;
  readonly text: string;
}

/** The running example, with a project (1) of the owner and one (2) of the stranger. */
interface World {
  as(who: Actor, method: string, path: string, body?: unknown): Promise<Answer>;
  /** Sends a request as each actor, and compares the statuses. */
  all(method: string, path: string, statuses: readonly number[], body?: unknown): Promise<void>;
  readonly home: string;
  readonly ids: Readonly<Record<Actor, number>>;
  readonly members: Readonly<Record<string, number>>;
}

async function run(t: TestContext): Promise<string> {
  const child = spawn(process.execPath, ["--import", fromSource, path.join(root, "examples/teams/teams.ts")], {
    env: { ...process.env, PORT: "0", DATABASE: await emptyDatabase(t), ADMIN_PASSWORD: password },
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(async () => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  });
  for await (const chunk of child.stdout) return String(chunk).trim();
  throw new Error("The example ended without printing its address.");
}

async function send(home: string, method: string, at: string, body?: unknown, headers = {}): Promise<Answer> {
  const answer = await fetch(home + at, {
    method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const said = await answer.text();
  const isJSON = answer.headers.get("content-type")?.includes("json") === true;
  return { status: answer.status, headers: answer.headers, text: said, json: isJSON ? JSON.parse(said) : undefined };
}

const nameOf = (who: Actor): string => (who === "admin" ? "admin" : `${who}@example.com`);

async function begin(t: TestContext): Promise<World> {
  const home = await run(t);
  const tokens = new Map<Actor, string>();
  const as: World["as"] = (who, method, at, body) =>
    send(home, method, at, body, who === "nobody" ? {} : { authorization: `Bearer ${tokens.get(who)!}` });
  const logIn = async (who: Actor): Promise<void> => {
    const { status, json, text } = await send(home, "POST", "/api/token/", { username: nameOf(who), password });
    assert.ok(status < 300, text);
    tokens.set(who, json.access);
  };
  const ids = { admin: 1, nobody: 0 } as Record<Actor, number>;
  for (const who of ["owner", "editor", "viewer", "finance", "stranger"] as const) {
    const user = { name: who, email: nameOf(who), password };
    const made = await send(home, "POST", "/users", user);
    assert.equal(made.status, 201, made.text);
    ids[who] = made.json.id;
  }
  await logIn("admin");
  const changed = await as("admin", "PATCH", `/users/${ids.finance}/account`, { role: "finance" });
  assert.equal(changed.status, 200, changed.text);
  for (const who of ["owner", "editor", "viewer", "finance", "stranger"] as const) await logIn(who);
  for (const [who, name] of [
    ["owner", "Roof"],
    ["stranger", "Cellar"],
  ] as const)
    assert.equal((await as(who, "POST", "/projects", { name })).status, 201);
  const members: Record<string, number> = { owner: 1, stranger: 2 };
  for (const who of ["editor", "viewer", "finance"] as const) {
    const role = who === "finance" ? "viewer" : who;
    const made = await as("admin", "POST", "/memberships", { user_id: ids[who], project_id: 1, role });
    assert.equal(made.status, 201, made.text);
    members[who] = made.json.id;
  }
  const all: World["all"] = async (method, at, statuses, body) => {
    const found = [];
    for (const who of actors) found.push((await as(who, method, at, body)).status);
    assert.deepEqual(found, statuses, `${method} ${at} ${JSON.stringify(body)}`);
  };
  return { as, all, home, ids, members };
}

const list = (answer: Answer, field: string): readonly unknown[] =>
  answer.json.map((each: Readonly<Record<string, unknown>>) => each[field]);
const outcome = ({ status, json }: Answer): readonly unknown[] => [status, json?.code];

test("shows users to those who share a project, and addresses to administrators", async (t) => {
  const { as, all, home, ids } = await begin(t);
  const team = ["owner", "editor", "viewer", "finance"] as const;

  for (const who of team) {
    const found = await as(who, "GET", "/users");
    assert.deepEqual(list(found, "name"), [...team], who);
    for (const other of team)
      assert.equal(found.text.includes(nameOf(other)) && other !== who, false, `${who} sees the address of ${other}`);
  }
  assert.deepEqual(list(await as("stranger", "GET", "/users"), "name"), ["stranger"]);
  assert.equal((await as("admin", "GET", "/users")).json.length, 6);
  assert.equal((await as("nobody", "GET", "/users")).status, 401);
  await all("GET", `/users/${ids.editor}`, [200, 200, 200, 200, 200, 404, 401]);
  assert.equal((await as("owner", "GET", `/users/${ids.owner}`)).json.email, nameOf("owner"));
  assert.equal((await as("owner", "GET", `/users/${ids.editor}`)).json.email, undefined);
  assert.equal((await as("admin", "GET", `/users/${ids.editor}`)).json.email, nameOf("editor"));
  const shown = await as("viewer", "GET", "/memberships?project_id=1&expand=user");
  assert.deepEqual(
    shown.json.map(({ user }: { readonly user: { readonly name: string } }) => user.name),
    [...team],
  );
  assert.deepEqual(outcome(await as("admin", "DELETE", `/users/${ids.viewer}`)), [409, "referenced"]);
  const basic = { authorization: `Basic ${btoa(`${nameOf("viewer")}:${password}`)}` };
  assert.equal((await send(home, "GET", "/projects/1", undefined, basic)).status, 200);
  const session = await send(home, "POST", "/api/session/", { username: nameOf("stranger"), password });
  const cookie = session.headers.get("set-cookie")!.split(";")[0]!;
  assert.equal((await send(home, "GET", "/projects/1", undefined, { cookie })).status, 404);
});

test("shows projects to members, lets owners change them, and budgets to those with the money", async (t) => {
  const { as, all } = await begin(t);

  await all("GET", "/projects/1", [200, 200, 200, 200, 200, 404, 401]);
  await all("GET", "/projects/2", [404, 404, 404, 404, 200, 200, 401]);
  await all("PATCH", "/projects/1", [200, 403, 403, 403, 200, 404, 401], { name: "Roofs" });
  await all("PUT", "/projects/1", [200, 403, 403, 403, 200, 404, 401], { name: "Roof" });
  for (const who of ["owner", "editor", "viewer", "finance"] as const)
    assert.deepEqual(list(await as(who, "GET", "/projects"), "name"), ["Roof"], who);
  assert.deepEqual(list(await as("admin", "GET", "/projects"), "name"), ["Roof", "Cellar"]);

  assert.equal((await as("admin", "PATCH", "/projects/1", { budget: "900.00" })).status, 200);
  // A wrong field comes before the group is judged.
  await all("PATCH", "/projects/1", [400, 400, 400, 403, 200, 400, 401], { budget: "900.00" });
  for (const [who, budget] of [
    ["owner", undefined],
    ["editor", undefined],
    ["finance", "900.00"],
    ["admin", "900.00"],
  ] as const)
    assert.equal((await as(who, "GET", "/projects/1")).json.budget, budget, who);
  await all("GET", "/projects?sort=budget", [400, 400, 400, 200, 200, 400, 401]);
  await all("GET", "/projects?budget[gt]=1", [400, 400, 400, 200, 200, 400, 401]);

  const made = await as("finance", "POST", "/projects", { name: "Own", budget: "5.00" });
  assert.deepEqual([made.status, made.json.budget], [201, "5.00"], made.text);
  assert.equal((await as("finance", "PATCH", `/projects/${made.json.id}`, { budget: "6.00" })).status, 200);
  await all("POST", "/projects", [201, 201, 201, 201, 201, 201, 401], { name: "Next" });
  await all("DELETE", `/projects/${made.json.id}`, [404, 404, 404, 204, 404, 404, 401]);
});

test("lets owners manage members, members leave, and the last owner stay", async (t) => {
  const { as, all, ids, members } = await begin(t);

  const ofRoof = [members["owner"], members["editor"], members["viewer"], members["finance"]];
  for (const who of ["owner", "editor", "viewer", "finance"] as const)
    assert.deepEqual(list(await as(who, "GET", "/memberships"), "id"), ofRoof, who);
  assert.deepEqual(list(await as("stranger", "GET", "/memberships"), "id"), [members["stranger"]]);
  const viewer = `/memberships/${members["viewer"]}`;
  await all("GET", viewer, [200, 200, 200, 200, 200, 404, 401]);
  await all("PATCH", viewer, [200, 403, 403, 403, 200, 404, 401], { role: "viewer" });
  const double = { user_id: ids.editor, project_id: 1, role: "owner" };
  await all("POST", "/memberships", [409, 403, 403, 403, 409, 403, 401], double);
  for (const project_id of [2, 999])
    assert.equal((await as("owner", "POST", "/memberships", { user_id: ids.owner, project_id })).status, 403);
  assert.equal((await as("owner", "PATCH", viewer, { project_id: 2 })).status, 403);
  const unknown = await as("owner", "POST", "/memberships", { user_id: 999, project_id: 1 });
  const unreadable = await as("owner", "POST", "/memberships", { user_id: ids.stranger, project_id: 1 });
  assert.equal(unreadable.status, 400, unreadable.text);
  assert.deepEqual({ ...unreadable.json, request_id: "" }, { ...unknown.json, request_id: "" });

  const owner = `/memberships/${members["owner"]}`;
  for (const who of ["owner", "admin"] as const) {
    assert.deepEqual(outcome(await as(who, "DELETE", owner)), [409, "last_owner"]);
    assert.deepEqual(outcome(await as(who, "PATCH", owner, { role: "viewer" })), [409, "last_owner"]);
  }
  const editor = `/memberships/${members["editor"]}`;
  assert.equal((await as("owner", "PATCH", editor, { role: "owner" })).status, 200);
  const left = await Promise.all([as("owner", "DELETE", owner), as("editor", "DELETE", editor)]);
  assert.deepEqual(
    left.map(({ status }) => status).toSorted((a, b) => a - b),
    [204, 409],
  );
  assert.equal((await as("finance", "DELETE", viewer)).status, 403);
  assert.equal((await as("viewer", "DELETE", viewer)).status, 204);
  assert.equal((await as("viewer", "GET", "/projects/1")).status, 404);
  assert.deepEqual((await as("viewer", "GET", "/memberships")).json, []);
});

test("shows tasks to members, and lets owners and editors write them", async (t) => {
  const { as, all } = await begin(t);
  const draft = { project_id: 1, title: "Buy slate", cost: "12.50", tags: "outside" };

  await all("POST", "/tasks", [201, 201, 403, 403, 201, 403, 401], draft);
  await all("POST", "/tasks", [403, 403, 403, 403, 400, 403, 401], { ...draft, project_id: 999 });
  await all("POST", "/tasks", [201, 201, 403, 403, 201, 403, 401], [draft]);
  assert.equal((await as("stranger", "POST", "/tasks", { project_id: 2, title: "Dig" })).status, 201);
  for (const who of ["owner", "editor", "viewer", "finance"] as const)
    assert.deepEqual(list(await as(who, "GET", "/tasks"), "title"), Array(6).fill(draft.title), who);
  assert.deepEqual(list(await as("stranger", "GET", "/tasks"), "title"), ["Dig"]);
  await all("GET", "/tasks/1", [200, 200, 200, 200, 200, 404, 401]);
  await all("PATCH", "/tasks/1", [200, 200, 403, 403, 200, 404, 401], { tags: "roof" });
  await all("PATCH", "/tasks", [200, 200, 403, 403, 200, 404, 401], [{ id: 1, tags: "roof" }]);
  await all("PUT", "/tasks/1", [200, 200, 403, 403, 200, 404, 401], draft);
  // The administrator moves it to the project of the stranger, who sees it from then on.
  await all("PATCH", "/tasks/1", [403, 403, 403, 403, 200, 200, 401], { project_id: 2 });
  assert.equal((await as("admin", "PATCH", "/tasks/1", { project_id: 1 })).status, 200);
  await all("POST", "/tasks/1/finish", [200, 200, 403, 403, 200, 404, 401]);
  assert.equal((await as("viewer", "GET", "/tasks/1")).json.done, true);

  for (const [who, cost] of [
    ["editor", undefined],
    ["finance", "12.50"],
    ["admin", "12.50"],
  ] as const) {
    assert.equal((await as(who, "GET", "/tasks/1")).json.cost, cost, who);
    assert.equal((await as(who, "GET", "/v1/tasks/1")).json.price, cost, who);
  }
  await all("GET", "/tasks?sort=cost", [400, 400, 400, 200, 200, 400, 401]);
  await all("GET", "/tasks?cost[gt]=1", [400, 400, 400, 200, 200, 400, 401]);
  for (const query of ["search=slate", "title=Buy+slate", "done=false", "tags[contains]=out", "sort=-title,tags,done"])
    await all("GET", `/tasks?${query}`, [200, 200, 200, 200, 200, 200, 401]);
  assert.deepEqual((await as("stranger", "GET", "/tasks?search=slate")).json, []);
  assert.equal((await as("viewer", "GET", "/tasks/1?expand=project")).json.project.name, "Roof");
  await all("DELETE", "/tasks/1", [204, 404, 404, 404, 404, 404, 401]);
});

test("shows tasks in their older shape, and notes of a project to its members", async (t) => {
  const { as, all } = await begin(t);

  await all("POST", "/v1/tasks", [201, 201, 403, 403, 201, 403, 401], { project_id: 1, subject: "Old", price: "1.00" });
  await all("GET", "/v1/tasks/1", [200, 200, 200, 200, 200, 404, 401]);
  await all("PATCH", "/v1/tasks/1", [200, 200, 403, 403, 200, 404, 401], { subject: "Older" });
  assert.deepEqual((await as("stranger", "GET", "/v1/tasks")).json, []);
  assert.deepEqual(list(await as("viewer", "GET", "/v1/tasks?subject=Older"), "subject"), ["Older"]);

  await all("POST", "/projects/1/notes", [201, 201, 201, 201, 201, 404, 401], { line: "Hello" });
  await all("GET", "/projects/1/notes", [200, 200, 200, 200, 200, 404, 401]);
  await all("PATCH", "/projects/1/notes/1", [200, 200, 200, 200, 200, 404, 401], { line: "Hello." });
  await all("POST", "/projects/2/notes", [404, 404, 404, 404, 201, 201, 401], { line: "Hello" });
  await all("DELETE", "/projects/1/notes/1", [204, 404, 404, 404, 404, 404, 401]);
});
