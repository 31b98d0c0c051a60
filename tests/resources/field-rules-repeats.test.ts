// Repeated requests of callers whose role, scopes or rows have changed since the first request.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { hasRole } from "../../src/door/auth.ts";
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
  type ServiceOptions,
} from "../../src/door/index.ts";
import { ownService, people, type OwnAnswer, type OwnAsk } from "../harness/own-service.ts";

const trusted = anyOf(administrator, hasRole("finance"));

/** Starts a service whose caller ada can have another role or other scopes for one request. */
async function startRepeats(t: TestContext, mounts: NonNullable<ServiceOptions["mounts"]>) {
  const own = await ownService(t, { mounts, scopesAllow: (scopes, method) => scopes.includes(method) });
  const ada = people["ada"]!;
  const asAda = async (change: object, method: string, path: string, options: OwnAsk = {}): Promise<OwnAnswer> => {
    Object.assign(people, { ada: { ...ada, ...change } });
    try {
      return await own.ask(method, path, { as: "ada", ...options });
    } finally {
      Object.assign(people, { ada });
    }
  };
  const repeatable = (key: string, body: unknown, headers: object = {}): OwnAsk => ({
    body,
    headers: { "idempotency-key": `${key}-00001`, ...headers },
  });
  return { ...own, asAda, repeatable };
}

const finance = { role: "finance" };

const title = text({ maxLength: 40 });
const unread = (code: string) =>
  code === "read_only" ? "This field cannot be set." : "There is no field of this name.";

test("refuses a repeat that sends a field which its caller may not send any more, in every form of a body", async (t) => {
  const task = defineResource({
    name: "task",
    fields: {
      title,
      limit: integer({ default: 10, read: trusted, write: trusted }),
      rank: integer({ default: 1, write: trusted }),
    },
  });
  const { asAda, repeatable } = await startRepeats(t, [mount(task, { permission: authenticated, arrays: true })]);
  const patchJSON = { "content-type": "application/json-patch+json" };
  const refused = [
    ["POST", "/tasks", { title: "a", limit: 1 }, {}, "/limit unknown_field"],
    ["POST", "/tasks", { title: "a", rank: 2 }, {}, "/rank read_only"],
    ["POST", "/tasks", [{ title: "b" }, { title: "c", limit: 2 }], {}, "/1/limit unknown_field"],
    ["PUT", "/tasks/1", { title: "d", limit: 4 }, {}, "/limit unknown_field"],
    ["PATCH", "/tasks/1", { limit: 5 }, {}, "/limit unknown_field"],
    ["PATCH", "/tasks", [{ id: 1, rank: 6 }], {}, "/0/rank read_only"],
    ["PATCH", "/tasks/1", [{ op: "replace", path: "/limit", value: 7 }], patchJSON, "/limit unknown_field"],
    ["PATCH", "/tasks/1", [{ op: "replace", path: "/rank", value: 8 }], patchJSON, "/rank read_only"],
  ] as const;
  for (const [at, [method, path, body, headers, issues]] of refused.entries()) {
    const options = repeatable(`refused-${at}`, body, headers);
    const first = await asAda(finance, method, path, options);
    assert.ok(first.status < 300, `${method} ${JSON.stringify(body)}: ${first.text}`);
    const again = await asAda(finance, method, path, options);
    assert.deepEqual([again.status, again.text], [first.status, first.text], "the same caller gets the same answer");
    const { status, json } = await asAda({}, method, path, options);
    const found = (json.errors ?? []).map(
      ({ pointer, code, detail }: { pointer: string; code: string; detail: string }) => {
        assert.equal(detail, unread(code));
        return `${pointer} ${code}`;
      },
    );
    assert.deepEqual([status, found.join(", ")], [400, issues], `${method} ${JSON.stringify(body)}`);
  }
  const tested = [
    { op: "test", path: "/limit", value: 7 },
    { op: "replace", path: "/title", value: "tested" },
  ];
  const options = repeatable("tested", tested, patchJSON);
  assert.equal((await asAda(finance, "PATCH", "/tasks/1", options)).status, 200);
  const again = await asAda({}, "PATCH", "/tasks/1", options);
  assert.deepEqual([again.status, again.json], [200, { id: 1, title: "tested", rank: 8 }]);
});

test("shows a repeat its record only if its caller may read it now, by the permission for reading or listing", async (t) => {
  const mine = anyOf(owner("owner_id"), administrator);
  const named = (name: string) => defineResource({ name, fields: { title, owner_id: integer({ default: caller }) } });
  const create = authenticated;
  const mounts = [
    mount(named("listed"), { permission: { create, list: mine, update: authenticated } }),
    mount(named("readable"), { permission: { create, read: mine, update: authenticated } }),
    mount(named("unread"), { permission: { create, update: authenticated } }),
    mount(named("ruled"), { permission: { create, read: trusted, update: authenticated } }),
  ];
  const { ask, asAda, repeatable } = await startRepeats(t, mounts);
  for (const path of ["/listeds", "/readables", "/unreads", "/ruleds"]) {
    const options = repeatable(path.slice(1), { title: "mine" });
    const first = await asAda(finance, "POST", path, options);
    assert.deepEqual([first.status, first.json?.title], [201, "mine"], path);
    const kept = await asAda(finance, "POST", path, options);
    assert.deepEqual([kept.status, kept.json], [201, first.json], path);
    assert.equal((await ask("PATCH", `${path}/1`, { as: "root", body: { owner_id: 3 } })).status < 300, true);
    const lost = await asAda({}, "POST", path, options);
    assert.deepEqual([lost.status, lost.text === ""], [201, path !== "/unreads"], path);
    assert.equal(lost.headers.get("idempotency-replayed"), "true");
    if (path === "/unreads") continue;
    assert.equal(lost.headers.get("etag"), null, path);
    const minimal = repeatable(
      `minimal ${path}`.replaceAll(/\W/g, "-"),
      { title: "short" },
      { prefer: "return=minimal" },
    );
    assert.equal((await asAda(finance, "POST", path, minimal)).text, "");
    assert.equal((await ask("PATCH", `${path}/2`, { as: "root", body: { owner_id: 3 } })).status < 300, true);
    const bare = await asAda({}, "POST", path, minimal);
    assert.deepEqual([bare.status, bare.text, bare.headers.get("etag")], [201, "", null], "no tag of a lost record");
  }
});

test("shows a repeat of a deleted record what was stored, if its caller may still read", async (t) => {
  const project = defineResource({ name: "project", fields: { title } });
  const note = defineResource({ name: "note", within: project, fields: { title } });
  const projects = mount(project, { permission: authenticated });
  const { ask, asAda, repeatable } = await startRepeats(t, [projects, mount(note, { permission: anyone })]);
  const all = { scopes: ["GET", "POST"] };
  const writing = { scopes: ["POST"] };
  const steps: readonly (readonly [path: string, key: string])[] = [
    ["/projects", "project"],
    ["/projects/1/notes", "note"],
  ];
  const firsts: OwnAnswer[] = [];
  for (const [path, key] of steps) firsts.push(await asAda(all, "POST", path, repeatable(key, { title: "x" })));
  const check = async (what: string): Promise<void> => {
    for (const [at, [path, key]] of steps.entries()) {
      const kept = await asAda(all, "POST", path, repeatable(key, { title: "x" }));
      assert.deepEqual([kept.status, kept.json], [201, firsts[at]!.json], `${what} ${path}`);
      const lost = await asAda(writing, "POST", path, repeatable(key, { title: "x" }));
      assert.deepEqual([lost.status, lost.text], [201, ""], `${what} ${path}, without a scope for reading`);
    }
  };

  await check("before the deletion");
  assert.equal((await ask("DELETE", "/projects/1", { as: "root" })).status, 204);
  await check("after the deletion");
});

test("shows a repeated action its record only if its caller may read it now, and its own answer always", async (t) => {
  const mine = anyOf(owner("owner_id"), administrator);
  const task = defineResource({ name: "task", fields: { title, owner_id: integer({ default: caller }) } });
  const tasks = mount(task, {
    permission: { create: authenticated, read: mine, update: administrator },
    actions: {
      touch: {
        permission: authenticated,
        answer: "record",
        handle: ({ record: { title } }) => ({ values: { title } }),
      },
      count: {
        permission: authenticated,
        answer: { letters: integer() },
        handle: ({ record: { title } }) => ({ values: { title }, answer: { letters: title.length } }),
      },
      finish: {
        permission: authenticated,
        answer: "record",
        handle: ({ record, collection }) => ({ changes: [{ kind: "delete", collection, key: record.id }] }),
      },
    },
  });
  const { ask, repeatable } = await startRepeats(t, [tasks]);
  const steps = [
    // The action, and its answer to a caller who may read the record, and to one who may not any more.
    ["touch", [200, '{"id":1,"title":"seven","owner_id":2}'], [200, ""]],
    ["count", [200, '{"letters":5}'], [200, '{"letters":5}']],
    ["finish", [204, ""], [204, ""]],
  ] as const;
  for (const [at, [action, shown, hidden]] of steps.entries()) {
    const { json } = await ask("POST", "/tasks", { as: "ada", body: { title: "seven" } });
    const send = async () => {
      const { status, text: body } = await ask("POST", `/tasks/${json.id}/${action}`, {
        as: "ada",
        ...repeatable(action, {}),
      });
      return [status, body];
    };
    assert.deepEqual(await send(), shown, action);
    assert.deepEqual(await send(), shown, action);
    const moved = await ask("PATCH", `/tasks/${json.id}`, { as: "root", body: { owner_id: 3 } });
    assert.equal(moved.status, at === 2 ? 404 : 200);
    assert.deepEqual(await send(), hidden, action);
  }
});

test("answers a request like the first one if a second one with the same key overtakes it", async (t) => {
  const task = defineResource({ name: "task", fields: { title, cost: integer({ optional: true, read: trusted }) } });
  let overtake: (() => Promise<OwnAnswer>) | null = null;
  let other: OwnAnswer | undefined;
  const tasks = mount(task, {
    permission: authenticated,
    async beforeWrite() {
      const work = overtake;
      overtake = null;
      other = (await work?.()) ?? other;
      return {};
    },
  });
  const { ask, repeatable } = await startRepeats(t, [tasks]);
  for (const [method, path, body] of [
    ["POST", "/tasks", { title: "once", cost: 3 }],
    ["PATCH", "/tasks/1", { title: "twice", cost: 4 }],
  ] as const) {
    const send = () => ask(method, path, { as: "ada", ...repeatable(method, body) });
    overtake = send;
    const late = await send();

    assert.deepEqual([late.status, late.json], [other!.status, { id: 1, title: body.title }], late.text);
    assert.deepEqual(
      [other!, late].map(({ headers }) => headers.get("idempotency-replayed")),
      [null, "true"],
    );
  }
  assert.equal((await ask("GET", "/tasks", { as: "root" })).json.length, 1);
});

test("shows a repeat nothing of a record within a record that its caller may not read any more", async (t) => {
  const mine = anyOf(owner("owner_id"), administrator);
  const project = defineResource({ name: "project", fields: { title, owner_id: integer({ default: caller }) } });
  const note = defineResource({ name: "note", within: project, fields: { title } });
  const { ask, repeatable } = await startRepeats(t, [
    mount(project, { permission: mine }),
    mount(note, { permission: anyone }),
  ]);
  assert.equal((await ask("POST", "/projects", { as: "ada", body: { title: "x" } })).status, 201);
  const send = async () => {
    const options = { as: "ada", ...repeatable("within", { title: "y" }) };
    const { status, text: body } = await ask("POST", "/projects/1/notes", options);
    return [status, body];
  };
  const shown = [201, '{"id":1,"title":"y"}'];
  assert.deepEqual([await send(), await send()], [shown, shown]);

  assert.equal((await ask("PATCH", "/projects/1", { as: "root", body: { owner_id: 3 } })).status, 200);
  assert.deepEqual(await send(), [201, ""]);
  assert.equal((await ask("DELETE", "/projects/1/notes/1", { as: "root" })).status, 204);
  assert.deepEqual(await send(), [201, ""]);
  assert.equal((await ask("PATCH", "/projects/1", { as: "root", body: { owner_id: 2 } })).status, 200);
  assert.deepEqual(await send(), shown, "the stored record, as for a record that is within none");
});

test("shows a repeat no record whose stored copy was erased, or is too long and old", async (t) => {
  const note = defineResource({
    name: "note",
    fields: { title, memo: text({ optional: true, maxLength: 50_000, read: administrator }) },
  });
  const person = defineResource({ name: "person", fields: { title } });
  const mounts = [
    mount(note, {
      permission: authenticated,
      arrays: true,
      beforeWrite: () => ({ values: { memo: "y".repeat(50_000) } }),
    }),
    mount(person, {
      permission: authenticated,
      personal: true,
      beforeWrite: ({ kind, id, collection }) =>
        kind === "delete" ? { changes: [{ kind: "forget", collection, key: id, caller: "" }] } : {},
    }),
  ];
  const { ask, repeatable } = await startRepeats(t, mounts);
  const titles = [...Array(25)].map((_, at) => ({ title: `n${at}` }));
  const arrays = [
    ["POST", titles],
    ["PATCH", titles.map((each, at) => ({ id: at + 1, ...each }))],
  ] as const;
  for (const [method, body] of arrays) {
    const send = () => ask(method, "/notes", { as: "ada", ...repeatable(`long-${method}`, body) });
    const first = await send();
    assert.ok(first.status < 300, first.text.slice(0, 300));
    assert.equal((await send()).text, first.text, method);
    assert.equal((await ask("PATCH", "/notes/3", { as: "root", body: { title: "later" } })).status, 200);
    const late = await send();
    assert.deepEqual([late.status, late.text], [method === "POST" ? 201 : 204, ""], method);
  }

  assert.equal((await ask("POST", "/persons", { as: "ada", body: { title: "x" } })).status, 201);
  const send = () => ask("PATCH", "/persons/1", { as: "ada", ...repeatable("person", { title: "y" }) });
  assert.deepEqual([(await send()).status, (await send()).json], [200, { id: 1, title: "y" }]);
  assert.equal((await ask("DELETE", "/persons/1", { as: "ada" })).status, 204);
  const erased = await send();
  assert.deepEqual([erased.status, erased.text], [204, ""]);
});
