// Rules of fields are asked once for each request, however many records, relations and pages the answer is made of.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Permission } from "../../src/door/auth.ts";
import { consolePages } from "../../src/door/features.ts";
import { administrator, anyone, defineResource, integer, mount, reference, text } from "../../src/door/index.ts";
import { olderShape } from "../../src/door/resources.ts";
import { ownService, type Own, type OwnAsk } from "../harness/own-service.ts";

const title = text({ maxLength: 40 });

interface Asked extends Own {
  /** The names of the rules, in the order in which they were asked. */
  readonly asked: string[];
}

/** Starts a service with one rule for reading and one for sending, each of which several fields have. */
async function startAsked(t: TestContext, decide: Permission["decide"] = administrator.decide): Promise<Asked> {
  const asked: string[] = [];
  const rule = (name: string): Permission => ({
    name,
    decide(request) {
      asked.push(name);
      return decide(request);
    },
  });
  const rules = { read: rule("reading"), write: rule("sending") };
  const team = defineResource({ name: "team", fields: { name: title, motto: text({ optional: true, ...rules }) } });
  const project = defineResource({
    name: "project",
    fields: { title, memo: text({ optional: true, ...rules }), team_id: reference(team, { optional: true }) },
    filters: { title: ["eq"] },
  });
  const note = defineResource({
    name: "note",
    within: project,
    fields: { line: title, price: integer({ optional: true, ...rules }) },
  });
  const teams = mount(team, { permission: anyone });
  const notes = mount(note, { permission: anyone });
  const projects = mount(project, {
    permission: anyone,
    arrays: true,
    expand: { team: "team_id", notes },
    actions: { close: { permission: anyone, handle: () => undefined } },
  });
  const older = olderShape(projects, { prefix: "/v1", fields: { name: "title", text: "memo", team_id: "team_id" } });
  const own = await ownService(t, {
    mounts: [teams, projects, notes, older],
    features: [consolePages({ title: "Projects" })],
  });
  return { ...own, asked };
}

const patchJSON = { "content-type": "application/json-patch+json" };
const repeatable = { headers: { "idempotency-key": "asked-0001" } };
const page = { headers: { accept: "text/html" } };

const steps: readonly (readonly [method: string, path: string, options?: OwnAsk])[] = [
  ["POST", "/teams", { body: { name: "Lions" } }],
  ["POST", "/projects", { body: { title: "one", team_id: 1 }, ...repeatable }],
  ["POST", "/projects", { body: { title: "one", team_id: 1 }, ...repeatable }],
  ["POST", "/projects", { body: [{ title: "two", team_id: 1 }, { title: "three" }] }],
  ["PUT", "/projects/9", { body: { title: "nine", team_id: 1 } }],
  ["PUT", "/projects/9", { body: { title: "new" } }],
  ["POST", "/projects/1/notes", { body: { line: "first" } }],
  ["GET", "/projects"],
  ["GET", "/projects/1"],
  ["GET", "/projects?expand=team,notes"],
  ["GET", "/projects/1?expand=team,notes"],
  ["QUERY", "/projects", { body: { where: { title: { eq: "one" } } } }],
  ["PATCH", "/projects/1", { body: { title: "uno" } }],
  ["PATCH", "/projects/1", { body: [{ op: "replace", path: "/title", value: "one" }], headers: patchJSON }],
  [
    "PATCH",
    "/projects",
    {
      body: [
        { id: 2, title: "due" },
        { id: 3, title: "tre" },
      ],
    },
  ],
  ["POST", "/projects/1/close"],
  ["GET", "/v1/projects?expand=team"],
  ["PATCH", "/v1/projects/1", { body: { name: "oldest" } }],
  ["GET", "/projects/1", page],
  ["GET", "/projects?expand=team", page],
  ["GET", "/projects/1/notes", page],
  ["DELETE", "/projects/9"],
];

test("asks each rule once for each request", async (t) => {
  const { ask, asked } = await startAsked(t);
  for (const [method, path, options = {}] of steps)
    for (const as of path === "/projects/9" || method === "POST" ? ["ada"] : ["ada", "root"]) {
      asked.length = 0;
      const { status, text: body } = await ask(method, path, { as, ...options });
      assert.ok(status < 300, `${method} ${path} ${body}`);
      assert.deepEqual(asked.toSorted(), ["reading", "sending"], `${method} ${path} of ${as}`);
    }
});

test("answers a fault and shows nothing if a rule throws an exception", async (t) => {
  let isBroken = false;
  const { ask, observed } = await startAsked(t, () => {
    if (isBroken) throw new TypeError("The rule has a bug.");
    return "allow";
  });
  assert.equal((await ask("POST", "/teams", { body: { name: "Lions", motto: "roar" } })).status, 201);
  isBroken = true;

  for (const [method, path, options = {}] of [["GET", "/teams"], ["GET", "/teams/1", page], ...steps] as typeof steps) {
    observed.length = 0;
    const { status, text: body } = await ask(method, path, options);
    assert.equal(status, 500, `${method} ${path} ${body}`);
    assert.doesNotMatch(body, /roar|bug/);
    assert.ok(observed.some((each) => "error" in each && String(each.error).includes("has a bug")));
  }
});
