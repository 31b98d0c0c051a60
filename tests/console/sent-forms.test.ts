import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { consolePages } from "../../src/door/features.ts";
import {
  administrator,
  anyone,
  authenticated,
  boolean,
  dateTime,
  decimal,
  defineEndpoint,
  defineResource,
  enumeration,
  integer,
  json,
  mount,
  Secret,
  text,
  type ServiceOptions,
} from "../../src/door/index.ts";
import { array } from "../../src/door/resources.ts";
import { ownService, type Own, type OwnAnswer } from "../harness/own-service.ts";
import { sharedDatabase } from "../harness/test-store.ts";

// Nightly on PostgreSQL: these pages show what the API answers, whose tests run on both databases.

const origin = "http://127.0.0.1";
const formType = "application/x-www-form-urlencoded";

const tasks = defineResource({
  name: "task",
  fields: {
    title: text({ maxLength: 200 }),
    notes: text({ multiline: true, optional: true }),
    state: enumeration(["open", "done"], { default: "open" }),
    urgent: boolean({ default: true }),
    hours: integer({ optional: true }),
    remind_at: dateTime({ optional: true }),
    days: array(enumeration(["mon", "tue", "wed"]), { optional: true }),
    extra: json({ optional: true }),
    cost: decimal({ scale: 2, optional: true, maximum: "999.99", read: administrator }),
  },
});

async function serveTasks(t: TestContext, options: Partial<ServiceOptions> = {}): Promise<Own> {
  return ownService(t, {
    secret: new Secret("a secret that stays the same after a restart"),
    ...options,
    mounts: [
      mount(tasks, {
        permission: authenticated,
        arrays: true,
        actions: {
          finish: {
            permission: authenticated,
            body: { notes: text({ optional: true }) },
            handle: ({ draft }) => ({ values: { state: "done", notes: draft.notes ?? null } }),
          },
          price: {
            permission: authenticated,
            answer: { price: integer() },
            handle: () => ({ answer: { price: 7 } }),
          },
        },
      }),
    ],
    endpoints: [
      defineEndpoint({
        method: "POST",
        path: "/plain",
        access: anyone,
        consumes: ["application/json", formType],
        handle: ({ body }) => ({ status: 200, body: { kind: "data", value: { sent: body?.value }, element: "sent" } }),
      }),
    ],
    features: [consolePages({ title: "Club" })],
    allowedOrigins: ["https://app.example"],
  });
}

interface Sending {
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function sendForm(
  api: Own,
  path: string,
  fields: string | Readonly<Record<string, string>>,
  { as = "ada", headers = {} }: Sending = {},
): Promise<OwnAnswer> {
  return api.ask("POST", path, {
    ...(as === "" ? {} : { as }),
    body: typeof fields === "string" ? fields : new URLSearchParams(fields).toString(),
    headers: { "content-type": formType, accept: "text/html", host: "127.0.0.1", origin, ...headers },
  });
}

async function makeTask(api: Own, body: object = {}): Promise<{ readonly at: string; readonly tag: string }> {
  const made = await api.ask("POST", "/tasks", { as: "root", body: { title: "Buy lemons", urgent: false, ...body } });
  assert.equal(made.status, 201, made.text);
  const at = made.headers.get("location")!;
  return { at, tag: await readTag(api, at) };
}

/** Returns the tag of a task as its page shows it to a caller who may not read its cost. */
async function readTag(api: Own, at: string): Promise<string> {
  return (await api.get(at, { as: "ada" })).headers.get("etag")!;
}

async function readTask(api: Own, at: string): Promise<Readonly<Record<string, unknown>>> {
  return (await api.get(at, { as: "root" })).json;
}

test("creates a record from a form, and leads to it", async (t) => {
  const api = await serveTasks(t);

  const sent =
    "title=Buy+lemons&notes=&state=open&urgent=false&urgent=true&hours=3&remind_at=2026-12-24T10:00&remind_at.zone=Europe/Berlin&days=&days=mon&days=wed&extra=%7B%22a%22%3A1%7D&cost=";
  const { status, headers } = await sendForm(api, "/tasks", sent);

  assert.deepEqual([status, headers.get("location")], [303, "/tasks/1"]);
  assert.deepEqual(await readTask(api, "/tasks/1"), {
    id: 1,
    title: "Buy lemons",
    notes: null,
    state: "open",
    urgent: true,
    hours: 3,
    remind_at: "2026-12-24T09:00:00.000Z",
    days: ["mon", "wed"],
    extra: { a: 1 },
    cost: null,
  });
});

test("changes, replaces and deletes by the method in the form", async (t) => {
  const api = await serveTasks(t);
  const { at, tag } = await makeTask(api, { hours: 3 });

  const changed = await sendForm(api, at, { _method: "PATCH", _match: tag, title: "Buy limes", hours: "" });
  assert.deepEqual([changed.status, changed.headers.get("location")], [303, at]);
  assert.deepEqual(pick(await readTask(api, at), "title", "hours"), ["Buy limes", null]);

  const replaced = await sendForm(api, at, { _method: "PUT", title: "Buy salt", urgent: "false" });
  assert.deepEqual([replaced.status, replaced.headers.get("location")], [303, at]);
  assert.deepEqual(pick(await readTask(api, at), "title", "urgent"), ["Buy salt", false]);

  const deleted = await sendForm(api, at, { _method: "DELETE" });
  assert.deepEqual([deleted.status, deleted.headers.get("location")], [303, "/tasks"]);
  assert.equal((await api.get(at, { as: "ada" })).status, 404);
});

test("counts only what differs from the record", async (t) => {
  const api = await serveTasks(t);
  const record = { hours: 3, remind_at: "2026-12-24T10:00:30Z", days: ["mon"], notes: "one\ntwo", extra: { a: [1] } };
  const { at, tag } = await makeTask(api, { ...record, cost: "5.00" });
  const same =
    "title=Buy+lemons&notes=one%0D%0Atwo&state=open&urgent=false&hours=3&remind_at=2026-12-24T10:00:30.000&remind_at.zone=UTC&days=&days=mon&cost=" +
    `&extra=${encodeURIComponent(JSON.stringify({ a: [1] }, null, 2))}`;

  const unchanged = await sendForm(api, at, `_method=PATCH&_match=${encodeURIComponent(tag)}&${same}`);

  assert.equal(unchanged.status, 303);
  assert.deepEqual(pick(await readTask(api, at), "cost", "hours", "notes"), ["5.00", 3, "one\ntwo"]);
  assert.equal(await readTag(api, at), tag);

  const invalid = await sendForm(api, at, "_method=PATCH&title=&urgent=false&urgent=true", {
    headers: { accept: "application/json" },
  });
  assert.deepEqual([invalid.status, invalid.json.errors.map(({ pointer }: never) => pointer)], [400, ["/title"]]);
});

test("writes a field that the caller may not read if something was typed, and clears it by its checkbox", async (t) => {
  const api = await serveTasks(t);
  const { at } = await makeTask(api, { cost: "5.00" });

  await sendForm(api, at, { _method: "PATCH", cost: "" });
  assert.deepEqual(pick(await readTask(api, at), "cost"), ["5.00"]);

  await sendForm(api, at, { _method: "PATCH", cost: "7.5" });
  assert.deepEqual(pick(await readTask(api, at), "cost"), ["7.50"]);

  await sendForm(api, at, { _method: "PATCH", cost: "", "cost.clear": "true" });
  assert.deepEqual(pick(await readTask(api, at), "cost"), [null]);
});

test("has one effect for a form that is posted twice with one key", async (t) => {
  const api = await serveTasks(t);
  const fields = { _key: "9f2c1e9f2c1e", title: "Buy lemons" };

  const first = await sendForm(api, "/tasks", fields);
  const second = await sendForm(api, "/tasks", fields);

  assert.deepEqual([first.headers.get("location"), second.headers.get("location")], ["/tasks/1", "/tasks/1"]);
  assert.equal(second.headers.get("idempotency-replayed"), "true");
  assert.equal((await api.get("/tasks", { as: "ada" })).json.length, 1);

  const { at, tag } = await makeTask(api);
  const change = { _method: "PATCH", _match: tag, _key: "changed-once", title: "Buy limes" };
  const changes = [await sendForm(api, at, change), await sendForm(api, at, change)];
  assert.deepEqual(
    changes.map(({ status }) => status),
    [303, 303],
  );
});

test("has one effect for a form that is posted again after a restart", async (t) => {
  const shared = await sharedDatabase(t);
  const post = async (): Promise<OwnAnswer> => {
    const api = await serveTasks(t, { store: shared.open() });
    const answer = await sendForm(api, "/tasks", { _key: "9f2c1e9f2c1e", title: "Buy lemons" });
    await api.service.close();
    return answer;
  };

  const [first, second] = [await post(), await post()];

  assert.deepEqual([first.headers.get("location"), second.headers.get("location")], ["/tasks/1", "/tasks/1"]);
  assert.equal(second.headers.get("idempotency-replayed"), "true");
});

test("answers 412 with everything that was typed if the record has changed", async (t) => {
  const api = await serveTasks(t);
  const { at, tag } = await makeTask(api);
  await api.ask("PATCH", at, { as: "ada", body: { title: "Buy limes" } });

  const late = await sendForm(api, at, { _method: "PATCH", _match: tag, title: "Buy lemons and salt" });

  assert.equal(late.status, 412);
  assert.match(late.text, /Buy limes/);
  assert.match(late.text, /Buy lemons and salt/);
  assert.deepEqual(pick(await readTask(api, at), "title"), ["Buy limes"]);

  assert.equal((await sendForm(api, at, { _method: "DELETE", _match: tag })).status, 412);
});

test("answers a mistake with its status and what was typed", async (t) => {
  const api = await serveTasks(t);
  const wrong = { title: "T", hours: "three", remind_at: "2026-13-24T10:00", extra: "{", days: "sun" };

  const page = await sendForm(api, "/tasks", wrong);
  assert.equal(page.status, 400);
  for (const typed of ["three", "2026-13-24T10:00"]) assert.ok(page.text.includes(typed), typed);

  const program = await sendForm(api, "/tasks", { ...wrong, extra: "" }, { headers: { accept: "*/*" } });
  const pointers = program.json.errors.map(({ pointer }: { pointer: string }) => pointer);
  assert.deepEqual(pointers, ["/hours", "/remind_at", "/days/0"]);

  const empty = await sendForm(api, "/tasks", "title=", { headers: { accept: "*/*" } });
  assert.deepEqual([empty.status, empty.json.errors[0].pointer], [400, "/title"]);
});

test("sends an action, and shows an answer that no other page has", async (t) => {
  const api = await serveTasks(t);
  const { at } = await makeTask(api);

  const finished = await sendForm(api, `${at}/finish`, { notes: "bought" });
  assert.deepEqual([finished.status, finished.headers.get("location")], [303, at]);
  assert.deepEqual(pick(await readTask(api, at), "state", "notes"), ["done", "bought"]);
  assert.equal((await sendForm(api, `${at}/finish`, "")).status, 303);

  const price = await sendForm(api, `${at}/price`, "");
  assert.equal(price.status, 200);
  assert.match(price.text, /7/);
});

test("leads back to the page that the form was on, and to no other site", async (t) => {
  const api = await serveTasks(t);
  const { at } = await makeTask(api);
  const from = async (referer: string, path = `${at}/finish`, fields = ""): Promise<string | null> =>
    (await sendForm(api, path, fields, { headers: { referer } })).headers.get("location");

  assert.equal(await from(`${origin}/tasks?state=open`), "/tasks?state=open");
  assert.equal(await from(`${origin}${at}?form=edit`, at, "_method=PATCH&title=New"), at);
  for (const referer of ["https://evil.example/x", `${origin}//evil.example/`, `${origin}/\\evil.example`, "nothing"])
    assert.match((await from(referer))!, /^\/(?!\/|\\)(?!.*evil\.example$)|^\/tasks/, referer);
  assert.equal(await from(`${origin}${at}?x=1`, at, "_method=DELETE"), "/tasks");
});

const refusedOrigins: readonly Readonly<Record<string, string>>[] = [
  { origin: "https://evil.example" },
  { origin: "https://app.example" },
  { origin: "null" },
  { origin: "http://127.0.0.1:81" },
  { origin: "", "sec-fetch-site": "cross-site" },
  { origin, "sec-fetch-site": "same-site" },
];

test("refuses forms of other origins, also of allowed ones and without a credential", async (t) => {
  const api = await serveTasks(t);
  const { at } = await makeTask(api);

  for (const headers of refusedOrigins.slice(0, -1))
    for (const as of ["ada", ""]) {
      const { status } = await sendForm(api, at, { _method: "DELETE" }, { as, headers });
      assert.equal(status, 403, JSON.stringify({ headers, as }));
    }
  const basic = { authorization: `Basic ${btoa("ada:wrong")}`, origin: "https://app.example" };
  assert.equal((await sendForm(api, at, { _method: "DELETE" }, { headers: basic })).status, 403);
  assert.equal((await api.get(at, { as: "ada" })).status, 200);

  assert.equal(
    (await sendForm(api, at, "_method=PATCH&title=a", { headers: { "sec-fetch-site": "same-origin" } })).status,
    303,
  );
});

test("takes no form of a program, which says no origin", async (t) => {
  const api = await serveTasks(t);
  const { at } = await makeTask(api);
  const headers = { "content-type": formType, host: "127.0.0.1" };

  for (const [path, body, status] of [
    ["/tasks", "title=a", 415],
    [`${at}/finish`, "notes=a", 415],
    [at, "_method=DELETE", 405],
  ] as const)
    assert.equal((await api.ask("POST", path, { as: "ada", body, headers })).status, status, path);
  assert.equal((await api.get(at, { as: "ada" })).status, 200);
  assert.equal((await api.get("/tasks/2", { as: "ada" })).status, 404);
});

function pick(record: Readonly<Record<string, unknown>>, ...names: readonly string[]): readonly unknown[] {
  return names.map((name) => record[name]);
}
