// On SQLite alone: its store returns the same page until the next commit.
//
// Expanded pages are remembered for each caller whose answer differs.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  administrator,
  anyone,
  anyOf,
  authenticated,
  caller,
  defineResource,
  integer,
  mount,
  owner,
  text,
} from "../../src/door/index.ts";
import type { Resource } from "../../src/door/resources.ts";
import { sqliteStore } from "../../src/door/stores.ts";
import { ownService, people } from "../harness/own-service.ts";

/** The most callers whose answers of one page are remembered. */
const MOST = 8;

test("remembers an expanded page for eight callers who see other related records", async (t) => {
  let computed = 0;
  const title = text({ maxLength: 40 });
  const project = defineResource({
    name: "project",
    fields: { title, memo: text({ optional: true, read: administrator }) },
    computed: { letters: { as: integer(), from: (record) => (computed++, record.title.length) } },
  });
  const note = defineResource({
    name: "note",
    within: project,
    fields: { line: title, owner_id: integer({ default: caller }) },
  }) as unknown as Resource;
  const mine = anyOf(owner("owner_id"), administrator) as typeof authenticated;
  const notes = mount(note, { permission: { create: authenticated, list: anyone, read: mine } });
  const projects = mount(project, { permission: anyone, expand: { notes } as never });
  const { ask, get } = await ownService(t, { mounts: [projects, notes], store: sqliteStore({ path: ":memory:" }) });
  const names = [...Array(MOST + 1)].map((_, at) => `user${at}`);
  Object.assign(people, Object.fromEntries(names.map((name, at) => [name, { ...people["ada"]!, id: 100 + at }])));
  t.after(() => {
    for (const name of names) delete (people as Record<string, unknown>)[name];
  });
  assert.equal((await ask("POST", "/projects", { as: "root", body: { title: "one" } })).status, 201);
  for (const as of ["root", ...names])
    assert.equal((await ask("POST", "/projects/1/notes", { as, body: { line: `by ${as}` } })).status, 201);

  const computedFor = async (as: string): Promise<number> => {
    computed = 0;
    const { json } = await get("/projects?expand=notes", { as });
    assert.equal(json[0].notes.length, as === "root" ? MOST + 2 : 1, as);
    return computed;
  };
  // A query is remembered when it is asked for the second time, and its page after that.
  for (let turn = 0; turn < 3; turn++) for (const as of ["root", ...names]) await computedFor(as);

  assert.equal(await computedFor("root"), 0);
  let again = 0;
  for (const as of names) again += await computedFor(as);
  assert.equal(again, 1, "the page of one caller is made again");
});
