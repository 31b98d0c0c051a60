import assert from "node:assert/strict";
import { test } from "node:test";
import { consolePages } from "../../src/door/features.ts";
import {
  administrator,
  anyOf,
  anyone,
  authenticated,
  boolean,
  caller,
  dateTime,
  decimal,
  defineResource,
  enumeration,
  integer,
  json,
  mount,
  owner,
  reference,
  text,
} from "../../src/door/index.ts";
import { date } from "../../src/door/resources.ts";
import { ownService, type OwnAnswer } from "../harness/own-service.ts";
import { formsOf } from "../harness/page-forms.ts";
import { serve } from "../harness/serve.ts";

// Nightly on PostgreSQL: these pages show what the API answers, whose tests run on both databases.

const browser = { headers: { accept: "text/html" } };

const members = defineResource({
  name: "member",
  fields: { name: text({ maxLength: 100 }) },
  sorts: ["name"],
  labelField: "name",
});
const tasks = defineResource({
  name: "task",
  fields: {
    title: text({ maxLength: 200 }),
    notes: text({ multiline: true, optional: true }),
    state: enumeration(["open", "in_work", "done"], { default: "open", labels: { in_work: "In work" } }),
    assignee_id: reference(members, { optional: true, description: "Who does it." }),
    due: date({ optional: true }),
    remind_at: dateTime({ optional: true }),
    hours: integer({ optional: true, minimum: 0, maximum: 500 }),
    cost: decimal({ scale: 2, maximum: "9999.99", optional: true }),
    urgent: boolean({ default: false, label: "Very urgent" }),
    more: json({ optional: true }),
    owner_id: integer({ default: caller }),
    made_by: text({ readOnly: true, default: "us" }),
    form: text({ optional: true, maxLength: 20 }),
  },
  filters: { form: ["eq"] },
});

function startTasks(t: Parameters<typeof ownService>[0]) {
  return ownService(t, {
    mounts: [
      mount(members, { permission: { list: authenticated, read: authenticated, create: administrator } }),
      mount(tasks, {
        permission: {
          list: anyone,
          read: anyone,
          create: authenticated,
          update: anyOf(administrator, owner("owner_id")),
        },
      }),
    ],
    features: [consolePages({ title: "Club" })],
  });
}

/** Returns the form of a page in one line. */
function formOf({ text: page }: OwnAnswer): string {
  return /<form class="form"[^]*?<\/form>/.exec(page)![0].replaceAll(/\s+/g, " ");
}

test("gives each field the control of its kind, with labels, hints and defaults", async (t) => {
  const { ask, get } = await startTasks(t);
  for (const name of ["Mei", "Ann"]) await ask("POST", "/members", { as: "root", body: { name } });

  const page = await get("/tasks?form=new", { as: "ada", ...browser });
  const form = formOf(page);

  assert.equal(page.status, 200, page.text);
  assert.match(page.text, /<title>New task · Club<\/title>[^]*<h1>New task<\/h1>/);
  assert.match(form, /^<form class="form" method="post" action="\/tasks"/);
  assert.match(form, /<label for="field-title">Title<\/label> <input id="field-title" name="title"/);
  assert.match(form, /Notes <span class="opt">\(optional\)<\/span><\/label> <textarea id="field-notes"/);
  assert.match(form, /<label for="field-state">State<\/label> <select/);
  assert.match(form, /<option value="open" selected>Open<\/option><option value="in_work">In work<\/option>/);
  assert.match(form, /<p class="hint" id="field-assignee_id-hint">Who does it\.<\/p>/);
  assert.match(
    form,
    /<option value="" selected><\/option><option value="2">Ann<\/option><option value="1">Mei<\/option>/,
  );
  assert.match(form, /<input id="field-due" name="due"[^>]* type="date" value="">/);
  assert.match(form, /name="remind_at"[^>]* type="datetime-local" value="">/);
  assert.match(form, /<input type="hidden" id="field-remind_at-zone" name="remind_at\.zone" value="UTC">/);
  assert.match(form, /name="hours"[^>]* inputmode="numeric"/);
  assert.match(form, /name="cost"[^>]* inputmode="decimal"/);
  assert.match(form, /<input type="checkbox" id="field-urgent" name="urgent" value="true"[^>]*> <span><b>Very urgent/);
  assert.match(form, /<textarea id="field-more"/);
  assert.match(form, /<button class="btn main">Add task<\/button> <a class="btn" href="\/tasks">Cancel<\/a>/);
  assert.doesNotMatch(form, /owner_id|made_by/);
});

test("fills in the form of a change, with the tag of the record as shown", async (t) => {
  const { ask, get } = await startTasks(t);
  await ask("POST", "/members", { as: "root", body: { name: "Ann" } });
  const body = {
    title: "Buy <lemons>",
    state: "done",
    assignee_id: 1,
    due: "2026-12-24",
    remind_at: "2026-12-23T09:30:00Z",
    urgent: true,
  };
  const { headers } = await ask("POST", "/tasks", { as: "ada", body });

  const page = await get("/tasks/1?form=edit", { as: "ada", ...browser });
  const form = formOf(page);

  assert.match(page.text, /<h1>Edit “<bdi>Buy &lt;lemons&gt;<\/bdi>”<\/h1>/);
  assert.match(form, /<input type="hidden" name="_method" value="PATCH">/);
  assert.ok(form.includes(`name="_match" value="${headers.get("etag")!.replaceAll('"', "&quot;")}"`));
  assert.match(form, /name="_key" value="[0-9a-f-]{36}"/);
  assert.match(form, /value="Buy &lt;lemons&gt;"/);
  assert.match(form, /<option value="done" selected>/);
  assert.match(form, /<option value="1" selected>Ann<\/option>/);
  assert.match(form, /type="date" value="2026-12-24"/);
  assert.match(form, /type="datetime-local" value="2026-12-23T09:30"/);
  assert.match(form, /name="urgent" value="true"[^>]* checked/);
  assert.match(form, />Save changes<\/button> <a class="btn" href="\/tasks\/1">Cancel/);
});

test("answers for a form that the caller may not send as the write does", async (t) => {
  const { ask, get } = await startTasks(t);
  await ask("POST", "/tasks", { as: "ada", body: { title: "Mine" } });

  for (const [path, as, expected] of [
    ["/tasks?form=new", undefined, 401],
    ["/tasks?form=new", "ada", 200],
    ["/tasks/1?form=edit", undefined, 401],
    ["/tasks/1?form=edit", "ben", 403],
    ["/tasks/1?form=edit", "root", 200],
    ["/tasks/9?form=edit", "ada", 404],
    ["/members?form=new", "ada", 403],
  ] as const) {
    const caller = as === undefined ? {} : { as };
    assert.equal((await get(path, { ...caller, ...browser })).status, expected, `${path} as ${as}`);
  }
});

test("has forms as pages only, and filters a field called form by its operator", async (t) => {
  const { ask, get } = await startTasks(t);
  for (const form of ["new", "old"]) await ask("POST", "/tasks", { as: "ada", body: { title: form, form } });

  for (const path of ["/tasks?form=new", "/tasks/1?form=edit", "/tasks?form=old", "/tasks?form=new&format=json"]) {
    const answer = await get(path, { as: "ada" });
    assert.deepEqual([answer.status, answer.json.errors[0].code], [400, "unknown_parameter"], path);
  }
  for (const path of ["/tasks?form=edit", "/tasks/1?form=new", "/tasks?form=new&sort=id", "/members/1?form=edit"])
    assert.equal((await get(path, { as: "root", ...browser })).status, 400, path);
  const found = (await get("/tasks?form[eq]=new")).json;
  assert.deepEqual(
    found.map(({ title }: { title: string }) => title),
    ["new"],
  );
});

test("finds a record beyond the first fifty by a part of its name", async (t) => {
  const { ask, get } = await startTasks(t);
  for (let at = 1; at <= 51; at += 1) await ask("POST", "/members", { as: "root", body: { name: `M${at}` } });
  await ask("POST", "/tasks", { as: "ada", body: { title: "a", assignee_id: 9 } });

  const form = formOf(await get("/tasks/1?form=edit", { as: "ada", ...browser }));

  assert.equal(form.match(/<option /g)?.length, 3 + 1 + 50 + 1, "states, nobody, the first fifty, the current one");
  assert.match(form, /<option value="9" selected>M9<\/option>/);
  assert.match(form, /<input id="field-assignee_id-find" name="assignee_id\.find" aria-label="Another Assignee/);
});

test("shows a refused form again with everything that was typed, and each mistake at its field", async (t) => {
  const { ask } = await startTasks(t);
  const body = { title: "", notes: "<b>", state: "open", hours: "a few", urgent: true };

  const page = await ask("POST", "/tasks", { as: "ada", body, ...browser });
  const form = formOf(page);

  assert.equal(page.status, 400);
  assert.match(page.text, /<title>Mistakes: New task/);
  assert.match(page.text, /<h2>2 things to change\. Nothing was saved yet\.<\/h2>/);
  assert.match(page.text, /<a href="#field-hours">Hours: [^<]*<\/a>/);
  assert.match(form, /<p class="wrong" id="field-hours-wrong">[^<]+<\/p>/);
  assert.match(form, /name="hours"[^>]* aria-describedby="field-hours-wrong" aria-invalid="true"[^>]* value="a few"/);
  assert.match(form, /&lt;b&gt;<\/textarea>/);
  assert.match(form, /name="urgent" value="true"[^>]* checked/);
});

const origin = "http://127.0.0.1";
const sent = { accept: "text/html", "content-type": "application/x-www-form-urlencoded", host: "127.0.0.1", origin };

test("creates and changes a record through its forms without script", async (t) => {
  const { ask, get } = await startTasks(t);
  const send = (path: string, values: Record<string, string>) =>
    ask("POST", path, { as: "ada", headers: sent, body: new URLSearchParams(values).toString() });

  const made = await send("/tasks", { title: "Mend the boat", urgent: "false", state: "open", "assignee_id.find": "" });
  assert.deepEqual([made.status, made.headers.get("location")], [303, "/tasks/1"]);
  const [form] = formsOf((await get("/tasks/1?form=edit", { as: "ada", ...browser })).text);
  const changed = await send("/tasks/1", {
    _method: form!.method,
    _match: form!.match!,
    title: "Mend",
    urgent: "true",
  });
  const late = await send("/tasks/1", { _method: form!.method, _match: form!.match!, title: "Sell" });

  assert.equal(changed.status, 303, changed.text);
  assert.deepEqual((await get("/tasks/1")).json.urgent, true);
  assert.equal(late.status, 412);
  assert.match(late.text, /value="Sell" data-side="yours" checked/);
});

test("keeps everything that was typed into a refused form, and offers the records whose name fits", async (t) => {
  const { ask } = await startTasks(t);
  for (let at = 1; at <= 60; at += 1) await ask("POST", "/members", { as: "root", body: { name: `Member ${at}` } });
  const typed = {
    title: "",
    remind_at: "2026-12-24T09:30",
    "remind_at.zone": "Europe/Berlin",
    "assignee_id.find": "60",
  };

  const page = await ask("POST", "/tasks", { as: "ada", headers: sent, body: new URLSearchParams(typed).toString() });
  assert.equal(page.status, 400, page.text);
  const form = formOf(page);

  assert.match(form, /type="datetime-local" value="2026-12-24T09:30"/);
  assert.match(form, /name="remind_at\.zone" value="Europe\/Berlin"/);
  assert.match(form, /<p class="wrong" id="field-assignee_id-wrong">Choose one of those whose name fits/);
  assert.match(form, /<option value=""><\/option><option value="60" selected>Member 60<\/option><\/select>/);
});

test("explains the fields of a user in words for people", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const get = (path: string) => api.get(path, { ...api.admin, accept: "text/html" });

  const forms = [await get("/users?form=new"), await get(`/users/${ann.id}?form=edit`)];

  for (const { status, text: shown } of forms) {
    assert.equal(status, 200);
    const main = shown.slice(shown.indexOf("<main"), shown.indexOf("</main>"));
    assert.match(main, /For logging in\. Without one, the e-mail is used\./);
    assert.doesNotMatch(main, /regard to case|display name|`true`|[Rr]evoke|Default:|API token/);
  }
});

test("names the user whose account an administrator changes, on the page of a mistake", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const headers = { ...api.admin, accept: "text/html", referer: `http://localhost/users/${ann.id}/account` };

  const own = await api.ask("PATCH", "/users/1", { body: { email: "no mailbox" }, headers });
  const refused = await api.ask("PATCH", `/users/${ann.id}`, { body: { email: "no mailbox" }, headers });

  assert.deepEqual([own.status, refused.status], [400, 400]);
  assert.match(own.text, /<h1 tabindex="-1">Change your account<\/h1>/);
  assert.match(refused.text, /<h1 tabindex="-1">Change the account of Ann<\/h1>/);
});
