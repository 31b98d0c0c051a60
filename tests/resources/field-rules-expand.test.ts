// Rules of fields in lists and expanded records: the length of hidden values decides nothing, and relations stay.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Permission } from "../../src/door/auth.ts";
import { consolePages } from "../../src/door/features.ts";
import { csv } from "../../src/door/http.ts";
import { administrator, anyone, defineResource, integer, mount, reference, text } from "../../src/door/index.ts";
import { olderShape, type Resource } from "../../src/door/resources.ts";
import { ownService, type Own } from "../harness/own-service.ts";

const both = { read: administrator, write: administrator } as const;
const long = { optional: true, maxLength: 50_000 } as const;
const title = text({ maxLength: 40 });

async function startProjects(t: TestContext): Promise<Own> {
  const project = defineResource({
    name: "project",
    fields: {
      title,
      // A hidden field with the name of the column that refers from the nested records to their project.
      project_id: reference("projects", { optional: true, ...both }),
    },
  }) as unknown as Resource;
  const note = defineResource({
    name: "note",
    within: project,
    fields: { line: title, memo: text({ ...long, ...both }), draft: text({ ...long, read: administrator }) },
  });
  const entry = defineResource({
    name: "entry",
    plural: "entries",
    within: project,
    fields: { price: integer({ optional: true, ...both }) },
    computed: { doubled: { as: integer(), from: ({ price }) => 2 * (price ?? 0) } },
  });
  const notes = mount(note as unknown as Resource, {
    permission: anyone,
    arrays: true,
    expand: { project: "project_id" } as never,
  });
  const entries = mount(entry as unknown as Resource, { permission: anyone });
  const projects = mount(project, { permission: anyone, expand: { notes, entries, above: "project_id" } as never });
  const older = [
    olderShape(projects, { prefix: "/v1", fields: { name: "title" } }),
    olderShape(notes, { prefix: "/v1", fields: { text: "line" } }),
  ];
  const own = await ownService(t, { mounts: [projects, notes, entries, ...older] });
  assert.equal((await own.ask("POST", "/projects", { as: "root", body: { title: "one" } })).status, 201);
  return own;
}

test("keeps the records within a record, if a hidden field of the record has the name of their reference", async (t) => {
  const { ask, get } = await startProjects(t);
  assert.equal((await ask("POST", "/projects/1/notes", { as: "root", body: { line: "x" } })).status, 201);
  assert.equal((await ask("PATCH", "/projects/1", { as: "root", body: { project_id: 1 } })).status, 200);

  const { json } = await get("/projects?expand=notes", { as: "ada" });

  assert.deepEqual(json, [{ id: 1, title: "one", notes: [{ id: 1, line: "x" }] }]);
  const within = await get("/projects/1/notes?expand=project", { as: "ada" });
  assert.deepEqual(within.json, [{ id: 1, line: "x", project: { id: 1, title: "one" } }]);
  assert.equal((await get("/projects?expand=above", { as: "ada" })).status, 400);
  assert.equal((await get("/projects?expand=above", { as: "root" })).json[0].above.title, "one");
});

test("computes a visible field of an expanded record from hidden fields", async (t) => {
  const { ask, get } = await startProjects(t);
  assert.equal((await ask("POST", "/projects/1/entries", { as: "root", body: { price: 4 } })).status, 201);

  for (const path of ["/projects?expand=entries", "/projects/1?expand=entries"]) {
    const [shown] = [(await get(path, { as: "ada" })).json].flat();
    assert.deepEqual(shown.entries, (await get("/projects/1/entries", { as: "ada" })).json, path);
    assert.deepEqual(shown.entries, [{ id: 1, doubled: 8 }], path);
  }
});

test("measures expanded records without their hidden fields", async (t) => {
  for (const hidden of ["memo", "draft"]) {
    const { ask, get } = await startProjects(t);
    const notes = [...Array(20)].map(() => ({ line: "x", [hidden]: "y".repeat(20_000) }));
    for (let turn = 0; turn < 3; turn++) {
      const made = await ask("POST", "/projects/1/notes", { as: "root", body: notes });
      assert.equal(made.status, 201, made.text.slice(0, 200));
    }
    for (const path of ["/projects", "/projects/1", "/v1/projects", "/v1/projects/1"]) {
      const { status, json } = await get(`${path}?expand=notes`, { as: "ada" });
      assert.deepEqual([status, [json].flat()[0].notes?.length], [200, 60], `${path}, with ${hidden}`);
    }
    const { status, json } = await get("/projects?expand=notes", { as: "root" });
    assert.deepEqual([status, json.errors?.[0].code], [400, "too_many"]);
  }
});

test("ends a page at the same record for every length of hidden values", async (t) => {
  const fields = { line: title, memo: text({ ...long, ...both }) };
  const named = (name: string, more: object = {}) =>
    defineResource({ name, fields, filters: { id: ["gt"] }, ...more } as never) as Resource;
  const everyRow: Permission<"line"> = {
    name: "every line",
    narrows: ["list"],
    decide: () => ({ only: { column: "line", operator: "eq", value: "x" } }),
  };
  const computed = { letters: { as: integer(), from: ({ line }: { line: string }) => line.length } };
  const mounts = [
    mount(named("plain"), { permission: anyone, arrays: true }),
    mount(named("counted", { computed }), { permission: anyone, arrays: true }),
    mount(named("narrowed"), { permission: { create: anyone, list: everyRow as never }, arrays: true }),
  ];
  const { ask, get } = await ownService(t, { mounts });
  // The memo need not be read for the first one. It may be needed for the others, so they count on the longest ones.
  for (const [path, isShort] of [
    ["/plains", false],
    ["/counteds", true],
    ["/narroweds", true],
  ] as const) {
    const counts: number[] = [];
    for (const length of [1, 20_000]) {
      const lines = [...Array(25)].map(() => ({ line: "x", memo: "y".repeat(length) }));
      for (let turn = 0; turn < 4; turn++)
        assert.equal((await ask("POST", path, { as: "root", body: lines })).status, 201);
      const after = length === 1 ? "" : `&id[gt]=100`;
      const { status, json } = await get(`${path}?limit=100${after}`, { as: "ada" });
      assert.equal(status, 200, JSON.stringify(json));
      counts.push(json.length);
    }
    assert.equal(counts[0], counts[1], path);
    assert.equal(counts[0]! < 100, isShort, path);
  }
});

test("shows the visible fields of an empty list, in forms, and in the names of related records", async (t) => {
  const team = defineResource({
    name: "team",
    fields: {
      name: text({ maxLength: 40, optional: true, read: administrator }),
      motto: text({ optional: true, ...both }),
    },
    labelField: "name",
  });
  const project = defineResource({ name: "project", fields: { title, team_id: reference(team, { optional: true }) } });
  const open = defineResource({ name: "club", fields: { name: title } });
  const member = defineResource({ name: "member", fields: { title, club_id: reference(open) } });
  const { ask, get } = await ownService(t, {
    mounts: [team, project, open, member].map((each) => mount(each as unknown as Resource, { permission: anyone })),
    features: [consolePages({ title: "Teams" })],
    formats: [csv({ formulas: "exact" })],
  });
  const list = async (as: string) => (await get("/teams", { as, headers: { accept: "text/csv" } })).text.trim();
  assert.deepEqual([await list("ada"), await list("root")], ["id", "id,name,motto"]);
  for (const [path, body] of [
    ["/teams", { name: "Lions" }],
    ["/projects", { title: "one", team_id: 1 }],
    ["/clubs", { name: "Bears" }],
    ["/members", { title: "two", club_id: 1 }],
  ] as const)
    assert.equal((await ask("POST", path, { as: "root", body })).status, 201);
  const page = async (as: string, path: string) => (await get(path, { as, headers: { accept: "text/html" } })).text;
  for (const path of ["/projects", "/projects/1"]) {
    assert.match(await page("root", path), /Lions/, path);
    assert.doesNotMatch(await page("ada", path), /Lions/, path);
  }
  for (const as of ["ada", "root"]) assert.match(await page(as, "/members"), /Bears/, as);
  for (const [as, hasMotto] of [
    ["ada", false],
    ["root", true],
  ] as const) {
    const forms = (await page(as, "/teams")) + (await page(as, "/teams?form=new"));
    assert.match(forms, /name="name"/, as);
    assert.equal(/name="motto"/.test(forms), hasMotto, as);
  }
});
