import assert from "node:assert/strict";
import { test } from "node:test";
import type { OwnAnswer } from "../harness/own-service.ts";
import { startTeams, IDS } from "../harness/teams-world.ts";

for (const isNested of [false, true]) {
  const kind = isNested ? "nested memberships" : "memberships by themselves";

  test(`shows each caller the rows of their groups in every list and of every record, with ${kind}`, async (t) => {
    const teams = await startTeams(t, { isNested });
    const titles = ({ json }: OwnAnswer): unknown => json.map(({ title }: { title: string }) => title);

    assert.deepEqual(titles(await teams.get("/tasks", { as: "ada" })), ["plan 1", "build 1"]);
    assert.deepEqual(titles(await teams.get("/tasks?sort=title", { as: "ada" })), ["build 1", "plan 1"]);
    assert.deepEqual(titles(await teams.get("/tasks?project_id=2", { as: "ada" })), []);
    assert.deepEqual(titles(await teams.get("/tasks?search=plan", { as: "ada" })), ["plan 1"]);
    assert.deepEqual(titles(await teams.get("/tasks", { as: "root" })), ["plan 1", "build 1", "plan 2", "build 2"]);
    assert.deepEqual((await teams.get("/tasks", { as: "reader" })).json, []);
    assert.equal((await teams.get("/tasks")).status, 401);
    const asked = await teams.ask("QUERY", "/tasks", {
      as: "ada",
      body: { where: { not: { project_id: { eq: 7 } } }, sort: "-title" },
    });
    assert.deepEqual(titles(asked), ["plan 1", "build 1"]);
    for (const preference of ["count=exact", "count=estimated"]) {
      const { headers } = await teams.get("/tasks", { as: "ada", headers: { prefer: preference } });
      assert.equal(headers.get("x-total-count"), "2");
    }
    const table = await teams.get("/tasks", { as: "ada", headers: { accept: "text/csv" } });
    assert.match(table.text, /plan 1/);
    assert.doesNotMatch(table.text, /plan 2/);
    assert.deepEqual(
      (await teams.get("/v1/tasks", { as: "ada" })).json.map((each: { subject: string }) => each.subject),
      ["plan 1", "build 1"],
    );
    assert.deepEqual(
      (await teams.get("/projects", { as: "ada" })).json.map((each: { name: string }) => each.name),
      ["first"],
    );
    for (const [path, status] of [
      ["/tasks/1", 200],
      ["/tasks/3", 404],
      ["/tasks/99", 404],
      ["/v1/tasks/1", 200],
      ["/v1/tasks/3", 404],
      ["/projects/1", 200],
      ["/projects/2", 404],
      [teams.memberships(1, 1), 200],
      [teams.memberships(2, 2), 404],
      ["/projects/1/notes", 200],
      ["/projects/2/notes", 404],
      ["/projects/1/notes/1", 200],
      ["/projects/2/notes/2", 404],
    ] as const)
      assert.equal((await teams.get(path, { as: "ada" })).status, status, path);
    assert.equal((await teams.get(teams.memberships(1), { as: "ada" })).json.length, 1);
  });

  test(`expands only rows of the caller's groups, with ${kind}`, async (t) => {
    const teams = await startTeams(t, { isNested });
    await teams.join("ada", 2, "viewer");

    const both = await teams.get("/tasks?expand=project", { as: "ada" });
    assert.deepEqual(
      both.json.map((each: { project: { name: string } }) => each.project.name),
      ["first", "first", "second", "second"],
    );
    const projects = await teams.get("/projects?expand=notes", { as: "ada" });
    assert.deepEqual(
      projects.json.map((each: { notes: readonly { line: string }[] }) => each.notes.map(({ line }) => line)),
      [["note 1"], ["note 2"]],
    );
    if (isNested) {
      const withMembers = await teams.get("/projects/2?expand=memberships", { as: "ada" });
      assert.deepEqual(
        withMembers.json.memberships.map((each: { user_id: number }) => each.user_id),
        [IDS.ben, IDS.ada],
      );
    }
    const one = await teams.get("/tasks/1?expand=project", { as: "ada" });
    assert.equal(one.json.project.name, "first");
  });

  test(`answers a foreign row like a missing one, and 403 for a row that is only readable, with ${kind}`, async (t) => {
    const teams = await startTeams(t, { isNested });
    await teams.join("ada", 2, "viewer");
    const title = { title: "changed" };
    const patch = (path: string, headers = {}): Promise<OwnAnswer> =>
      teams.ask("PATCH", path, { as: "ada", body: title, headers });

    assert.equal((await patch("/tasks/1")).status, 200);
    assert.equal((await patch("/tasks/3")).status, 403);
    // Before preconditions.
    assert.equal((await patch("/tasks/3", { "if-match": '"other"' })).status, 403);
    assert.equal((await patch("/v1/tasks/3")).status, 400);
    assert.equal((await teams.ask("PATCH", "/v1/tasks/3", { as: "ada", body: { subject: "x" } })).status, 403);
    assert.equal((await patch("/tasks/99")).status, 404);
    assert.equal((await teams.ask("DELETE", "/tasks/3", { as: "ada" })).status, 403);
    assert.equal((await teams.ask("POST", "/tasks/3/finish", { as: "ada" })).status, 403);
    assert.equal((await teams.ask("POST", "/tasks/2/finish", { as: "ada" })).json.done, true);
    assert.equal((await teams.ask("PUT", "/tasks/3", { as: "ada", body: { project_id: 2, ...title } })).status, 403);
    assert.equal((await teams.ask("PATCH", "/projects/2", { as: "ada", body: { name: "mine" } })).status, 403);
    assert.equal(
      (await teams.ask("PATCH", teams.memberships(2, 2), { as: "ada", body: { role: "viewer" } })).status,
      403,
    );
    // Members write notes, because the parent is readable.
    assert.equal((await teams.ask("POST", "/projects/2/notes", { as: "ada", body: { line: "hello" } })).status, 201);

    for (const [method, path, body] of [
      ["PATCH", "/tasks/1", { title: "mine" }],
      ["PUT", "/tasks/1", { project_id: 1, title: "mine" }],
      ["PUT", "/tasks/1", { project_id: 2, title: "mine" }],
      ["DELETE", "/tasks/1", undefined],
      ["POST", "/tasks/1/finish", undefined],
      ["PATCH", "/v1/tasks/1", { subject: "mine" }],
      ["PATCH", "/projects/1", { name: "mine" }],
      ["DELETE", "/projects/1", undefined],
      ["PATCH", teams.memberships(1, 1), { role: "viewer" }],
      ["DELETE", teams.memberships(1, 1), undefined],
      ["POST", "/projects/1/notes", { line: "mine" }],
      ["PATCH", "/projects/1/notes/1", { line: "mine" }],
    ] as const)
      assert.equal((await teams.ask(method, path, { as: "ben", body })).status, 404, `${method} ${path}`);
    assert.equal((await teams.get("/tasks/3", { as: "ben" })).json.title, "plan 2");
  });

  test(`refuses to create or move a row into a foreign or unknown group with 403, with ${kind}`, async (t) => {
    const teams = await startTeams(t, { isNested });
    const create = (body: unknown, path = "/tasks"): Promise<OwnAnswer> => teams.ask("POST", path, { as: "ada", body });

    assert.equal((await create({ project_id: 1, title: "own" })).status, 201);
    assert.equal((await create({ project_id: 2, title: "foreign" })).status, 403);
    assert.equal((await create({ project_id: 99, title: "unknown" })).status, 403);
    assert.equal((await create({ project_id: 2, title: 7 })).status, 400);
    assert.equal((await create({ project_id: 2 })).status, 400);
    assert.equal((await create({ project_id: 2, subject: "foreign" }, "/v1/tasks")).status, 403);
    const moved = (project_id: number, method = "PATCH", body: object = {}): Promise<OwnAnswer> =>
      teams.ask(method, "/tasks/1", { as: "ada", body: { project_id, ...body } });
    assert.equal((await moved(2)).status, 403);
    assert.equal((await moved(99)).status, 403);
    assert.equal((await moved(2, "PUT", { title: "moved" })).status, 403);
    assert.equal((await moved(2, "PATCH", { title: 7 })).status, 400);
    assert.equal(
      (await teams.ask("PUT", "/tasks/50", { as: "ada", body: { project_id: 1, title: "new" } })).status,
      404,
    );
    // A membership in a foreign or unknown group: a nested one has an unreadable parent.
    const join = (projectId: number): Promise<OwnAnswer> =>
      create(
        { user_id: IDS.ada, role: "owner", ...(isNested ? {} : { project_id: projectId }) },
        teams.memberships(projectId),
      );
    assert.equal((await join(2)).status, isNested ? 404 : 403);
    assert.equal((await join(99)).status, isNested ? 404 : 403);
    assert.equal((await join(1)).status, 409, "the owner is a member already");
    const added = { user_id: IDS.reader, role: "editor", ...(isNested ? {} : { project_id: 1 }) };
    assert.equal((await create(added, teams.memberships(1))).status, 201);
    await teams.join("ada", 2, "editor");
    assert.equal((await moved(2)).status, 200);
    assert.equal((await create({ project_id: 2, title: "now" })).status, 201);
  });

  test(`ends the rights of a removed member at the next request, with ${kind}`, async (t) => {
    const teams = await startTeams(t, { isNested });
    const id = await teams.join("ada", 2, "editor");
    const { headers } = await teams.get("/tasks", { as: "ada" });
    assert.equal((await teams.get("/tasks", { as: "ada" })).json.length, 4);

    await teams.leave(2, id);

    const list = await teams.get("/tasks", { as: "ada", headers: { "if-none-match": headers.get("etag") ?? "" } });
    assert.equal(list.status, 200);
    assert.equal(list.json.length, 2);
    assert.equal((await teams.get("/tasks/3", { as: "ada" })).status, 404);
    assert.equal((await teams.ask("PATCH", "/tasks/3", { as: "ada", body: { title: "x" } })).status, 404);
    assert.equal((await teams.ask("POST", "/tasks", { as: "ada", body: { project_id: 2, title: "x" } })).status, 403);
    assert.equal((await teams.get("/projects/2/notes", { as: "ada" })).status, 404);
  });

  test(`lets members leave by themselves, and counts only memberships with all named values, with ${kind}`, async (t) => {
    const teams = await startTeams(t, { isNested });
    const id = await teams.join("ada", 2, "editor");
    const change = (body: object): Promise<OwnAnswer> =>
      teams.ask("PATCH", teams.memberships(2, id), { as: "ben", body });

    assert.equal((await change({ accepted: false })).status, 200);
    assert.equal((await teams.get("/tasks/3", { as: "ada" })).status, 404);
    assert.equal((await change({ accepted: true, role: "viewer" })).status, 200);
    assert.equal((await teams.get("/tasks/3", { as: "ada" })).status, 200);
    assert.equal((await teams.ask("DELETE", "/tasks/3", { as: "ada" })).status, 403);
    assert.equal((await teams.ask("DELETE", teams.memberships(2, 2), { as: "ada" })).status, 403);
    assert.equal((await teams.ask("DELETE", teams.memberships(2, id), { as: "ada" })).status, 204);
    assert.equal((await teams.get("/tasks/3", { as: "ada" })).status, 404);
  });
}

test("judges the records of an array together, and answers as for single records", async (t) => {
  const teams = await startTeams(t);
  await teams.join("ada", 2, "viewer");
  const patch = (body: readonly object[], as = "ada"): Promise<OwnAnswer> => teams.ask("PATCH", "/tasks", { as, body });
  const create = (body: readonly object[], as = "ada"): Promise<OwnAnswer> => teams.ask("POST", "/tasks", { as, body });
  const pointers = ({ json }: OwnAnswer): unknown => json.errors.map((each: { pointer: string }) => each.pointer);

  assert.equal(
    (
      await patch([
        { id: 1, done: true },
        { id: 2, done: true },
      ])
    ).status,
    200,
  );
  assert.equal(
    (
      await patch([
        { id: 1, done: false },
        { id: 3, done: true },
      ])
    ).status,
    403,
  );
  assert.equal((await patch([{ id: 3, done: true, if_match: '"other"' }])).status, 403);
  const foreign = await patch(
    [
      { id: 3, done: true },
      { id: 1, done: true },
    ],
    "ben",
  );
  assert.equal(foreign.status, 404);
  assert.deepEqual(pointers(foreign), ["/1/id"]);
  assert.equal((await patch([{ id: 1, project_id: 2 }, { id: 2 }])).status, 403);
  assert.equal((await patch([{ id: 1, project_id: 99 }])).status, 403);
  assert.equal(
    (
      await patch([
        { id: 1, project_id: 2 },
        { id: 2, done: "x" },
      ])
    ).status,
    400,
  );
  assert.equal((await teams.get("/tasks/1", { as: "ada" })).json.done, true, "nothing was written");

  assert.equal(
    (
      await create([
        { project_id: 1, title: "a" },
        { project_id: 1, title: "b" },
      ])
    ).status,
    201,
  );
  assert.equal(
    (
      await create([
        { project_id: 1, title: "c" },
        { project_id: 2, title: "d" },
      ])
    ).status,
    403,
  );
  assert.equal((await create([{ project_id: 99, title: "c" }])).status, 403);
  const wrong = await create([
    { project_id: 2, title: "c" },
    { project_id: 1, title: 7 },
  ]);
  assert.equal(wrong.status, 400);
  assert.deepEqual(pointers(wrong), ["/1/title"]);
  assert.equal((await teams.get("/tasks", { as: "root" })).json.length, 6);

  const many = Array.from({ length: 1000 }, (_, at) => ({ project_id: 1 + (at % 2), title: `task ${at}` }));
  assert.equal((await create(many)).status, 403);
  const made = await create(many, "root");
  assert.equal(made.status, 201);
  const changes = made.json.map(({ id }: { id: number }) => ({ id, done: true }));
  assert.equal((await patch(changes)).status, 403);
  assert.equal((await patch(changes, "ben")).status, 404);
});

test("answers a repeated request as the caller may see it now", async (t) => {
  const teams = await startTeams(t);
  const id = await teams.join("ada", 2, "editor");
  const headers = (key: string): Readonly<Record<string, string>> => ({ "idempotency-key": `${key}-00001` });
  const one = { as: "ada", body: { project_id: 2, title: "new" }, headers: headers("one") };
  const several = {
    as: "ada",
    body: [
      { project_id: 2, title: "a" },
      { project_id: 1, title: "b" },
    ],
    headers: headers("all"),
  };
  const change = { as: "ada", body: { title: "changed" }, headers: headers("two") };
  const action = { as: "ada", headers: headers("three") };
  const first = [
    await teams.ask("POST", "/tasks", one),
    await teams.ask("POST", "/tasks", several),
    await teams.ask("PATCH", "/tasks/3", change),
    await teams.ask("POST", "/tasks/3/finish", action),
  ];
  assert.deepEqual(
    first.map(({ status }) => status),
    [201, 201, 200, 200],
  );
  assert.equal((await teams.ask("POST", "/tasks", one)).text, first[0]!.text);

  await teams.leave(2, id);

  for (const [method, path, options] of [
    ["POST", "/tasks", one],
    ["POST", "/tasks", several],
    ["PATCH", "/tasks/3", change],
    ["POST", "/tasks/3/finish", action],
  ] as const) {
    const again = await teams.ask(method, path, options);
    assert.equal(again.headers.get("idempotency-replayed"), "true");
    assert.equal(again.text, "", `${method} ${path}`);
  }
});

test("keeps tags and cursors to the rows of the caller", async (t) => {
  const teams = await startTeams(t);
  await teams.join("ada", 2, "viewer");
  const ada = await teams.get("/tasks?limit=1&sort=title", { as: "ada" });
  const ben = await teams.get("/tasks?limit=1&sort=title", { as: "ben" });

  assert.notEqual(ada.headers.get("etag"), ben.headers.get("etag"));
  const next = /<([^>]*)>; rel="next"/.exec(ada.headers.get("link") ?? "")![1]!;
  assert.deepEqual((await teams.get(next, { as: "ada" })).json[0].title, "build 2");
  assert.equal((await teams.get(next, { as: "ben" })).status, 400);
  const unchanged = await teams.get("/tasks?limit=1&sort=title", {
    as: "ada",
    headers: { "if-none-match": ada.headers.get("etag")! },
  });
  assert.equal(unchanged.status, 304);
});

test("offers administrators all rows beside memberOf, without requiring a membership", async (t) => {
  const teams = await startTeams(t);

  assert.equal((await teams.ask("PATCH", "/tasks/3", { as: "root", body: { title: "x" } })).status, 200);
  assert.equal(
    (await teams.ask("PUT", "/tasks/50", { as: "root", body: { project_id: 2, title: "put" } })).status,
    201,
  );
  assert.equal((await teams.ask("POST", "/tasks", { as: "root", body: { project_id: 99, title: "x" } })).status, 400);
});
