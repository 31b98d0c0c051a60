import assert from "node:assert/strict";
import { test } from "node:test";
import { callerField, defineUsers, sameAs } from "../../src/door/auth.ts";
import { authenticated, defineResource, integer, mount, reference, text } from "../../src/door/index.ts";
import { serve } from "../harness/serve.ts";

const users = defineUsers({
  fields: { tenant_id: integer({ default: 1, minimum: 1 }) },
  administered: ["tenant_id"],
  identity: ["tenant_id"],
});
const tenant = integer({ default: callerField(users, "tenant_id") });
const projects = defineResource({
  name: "project",
  fields: { tenant_id: tenant, title: text({ maxLength: 100 }) },
  search: ["title"],
  filters: { title: ["eq", "contains"], tenant_id: ["eq"] },
});
const tasks = defineResource({
  name: "task",
  within: projects,
  fields: { line: text({ maxLength: 100 }) },
  search: ["line"],
  filters: { line: ["starts"] },
});
const notes = defineResource({
  name: "note",
  fields: { tenant_id: tenant, body: text({ maxLength: 100 }), project_id: reference(projects, { optional: true }) },
  search: ["body"],
  filters: { body: ["contains", "starts"], project_id: ["eq"] },
});
const own = sameAs(users, "tenant_id");
const mountedTasks = mount(tasks, { permission: authenticated, arrays: true });
const mounts = [
  mount(projects, { permission: own, arrays: true, expand: { tasks: mountedTasks } }),
  mountedTasks,
  mount(notes, { permission: own, arrays: true, expand: { project: "project_id" } }),
];

test("reveals and changes nothing of another tenant, by any kind of request", async (t) => {
  const api = await serve(t, { config: { users, mounts } });
  const [ann, bob] = [await api.user("Ann"), await api.user("Bob")];
  await api.patch(`/users/${bob.id}`, { tenant_id: 2 }, api.admin);
  await api.post("/projects", { title: "secret" }, ann.headers);
  await api.post("/projects/1/tasks", { line: "secret" }, ann.headers);
  await api.post("/notes", { body: "secret one", project_id: 1 }, ann.headers);
  await api.post("/notes", { body: "secret two" }, ann.headers);
  const { headers } = await api.get("/notes?limit=1", ann.headers);
  const next = /<([^<>]*)>; rel="next"/.exec(headers.get("link")!)![1]!;
  await api.post("/projects", { title: "mine" }, bob.headers);
  // The service does not check whether Bob may see the project that his note refers to. The response reveals nothing
  // about the project.
  assert.equal((await api.post("/notes", { body: "mine", project_id: 1 }, bob.headers)).status, 201);
  const everything = { not: { body: { starts: "x" } } };

  const counts: (string | null)[] = [];
  for (const [method, path, body] of [
    ["GET", "/projects"],
    ["GET", "/projects/1?expand=tasks"],
    ["GET", "/projects/1/tasks"],
    ["GET", "/projects/1/tasks/1"],
    ["GET", "/projects/2/tasks/1"],
    ["GET", "/projects?tenant_id=1"],
    ["GET", "/projects?expand=tasks"],
    ["GET", "/projects?search=secret"],
    ["GET", "/projects?title[contains]=sec"],
    ["GET", "/notes?search=secret"],
    ["GET", "/notes?expand=project"],
    ["GET", "/notes?project_id=1&expand=project"],
    ["GET", "/notes?format=csv"],
    ["GET", "/notes?format=xml"],
    ["GET", "/notes?format=html&expand=project"],
    ["GET", "/projects/1?format=html"],
    ["GET", "/notes/1"],
    ["GET", next],
    ["QUERY", "/notes", { where: everything, expand: "project", count: "exact" }],
    ["QUERY", "/notes", { where: everything, count: "estimated" }],
    ["QUERY", "/projects", { where: { not: { tenant_id: { eq: 2 } } }, expand: "tasks", count: "exact" }],
    ["QUERY", "/projects/1/tasks", {}],
    ["PUT", "/notes/1", { body: "other" }],
    ["PATCH", "/notes/1", { body: "other" }],
    [
      "PATCH",
      "/notes",
      [
        { id: 3, body: "mine" },
        { id: 1, body: "other" },
      ],
    ],
    ["PATCH", "/notes/3", { tenant_id: 1 }],
    ["POST", "/notes", [{ body: "mine" }, { body: "theirs", tenant_id: 1 }]],
    ["POST", "/projects/1/tasks", { line: "theirs" }],
    ["PATCH", "/projects/2/tasks", [{ id: 1, line: "theirs" }]],
    ["DELETE", "/projects/1/tasks/1"],
    ["DELETE", "/notes/1"],
  ] as const) {
    const answer = await api.ask(method, path, { headers: { ...bob.headers, prefer: "count=exact" }, body });
    assert.ok(
      !/secret/.test(answer.text.replaceAll(/search=secret|value="secret"/g, "")),
      `${method} ${path}\n${answer.text}`,
    );
    assert.ok(method === "GET" || method === "QUERY" || answer.status >= 403, `${method} ${path} ${answer.status}`);
    counts.push(answer.headers.get("x-total-count"));
  }

  assert.deepEqual(
    [...new Set(counts)].toSorted((one, other) => Number(one ?? -1) - Number(other ?? -1)),
    [null, "0", "1"],
  );
  const left = await api.get("/notes?fields=body", ann.headers);
  assert.deepEqual(left.json, [{ body: "secret one" }, { body: "secret two" }]);
  assert.equal((await api.get("/projects/1/tasks", ann.headers)).json.length, 1);
});
