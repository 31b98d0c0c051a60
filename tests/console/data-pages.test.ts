import assert from "node:assert/strict";
import { test } from "node:test";
import type { Permission } from "../../src/door/auth.ts";
import { anyone, dateTime, defineResource, mount, text } from "../../src/door/index.ts";
import { mainOf, startClub } from "../harness/club-pages.ts";
import { serve } from "../harness/serve.ts";

// Nightly on PostgreSQL: these pages show what the API answers, whose tests run on both databases.

test("shows a list with names and words, without ids, paths or null", async (t) => {
  const { get } = await startClub(t);

  const main = mainOf(await get("/tasks"));

  assert.match(main, /<h1>Tasks<\/h1><p class="lead">What is to be done, by whom and until when\.<\/p>/);
  assert.match(main, /<a class="btn main" href="\/tasks\?form=new" data-key="n">New task<\/a>/);
  const heads = [...main.matchAll(/<th scope="col"[^>]*>(?:<a[^>]*>)?([^<]*)/g)].map(([, words]) => words);
  assert.deepEqual(heads, ["Title", "Project", "State", "Assignee", "Due", "Remind at", "Hours planned", "Urgent"]);
  assert.match(main, /<caption>2 tasks on this page<\/caption>/);
  assert.match(main, /<th scope="row"><a class="clip" dir="auto" href="\/tasks\/1">Buy lemons<\/a><\/th>/);
  assert.match(main, /<td data-label="Project"><a href="\/projects\/1" dir="auto">Summer regatta<\/a><\/td>/);
  assert.match(main, /<td data-label="State"><span class="tag good">Done<\/span><\/td>/);
  assert.match(main, /<td data-label="Assignee"><a href="\/users\/3" dir="auto">Ben<\/a><\/td>/);
  assert.match(main, /<td data-label="Due"><time datetime="2026-12-24">24 Dec 2026<\/time><\/td>/);
  assert.match(main, /<td data-label="Urgent">No<\/td>/);
  assert.match(main, /<td data-label="Assignee"><span class="none"><span aria-hidden="true">–<\/span>/);
  assert.doesNotMatch(main.replaceAll(/<[^>]*>/g, " "), /\bnull\b|\/tasks|\bid\b/);
});

test("says filters in words, keeps them, and takes each of them away", async (t) => {
  const { get } = await startClub(t);

  const list = await get("/tasks?state[in]=open&state[in]=in_work&assignee_id=3&due[lte]=2026-12-31&title[icontains]=");
  const main = mainOf(list);

  assert.equal(list.status, 200);
  const chips = [...main.matchAll(/<li class="x"><a href="([^"]*)"[^>]*>([^<]*)</g)].map(([, , words]) => words);
  assert.deepEqual(chips, ["State: open or in work", "Assignee: Ben", "Due until 31 Dec 2026"]);
  assert.match(main, /<li class="all"><a href="\/tasks">Remove all<\/a><\/li>/);
  assert.match(main, /name="state\[in\]" value="open" checked>/);
  assert.match(main, /<option value="3" selected>Ben<\/option>/);
  assert.match(main, /name="due\[lte\]" value="2026-12-31" type="date"/);
  assert.match(main, /Buy lemons/);
  assert.doesNotMatch(main, /Book the band/);
  assert.equal((await get("/tasks?title[icontains]=")).status, 200);
});

test("filters by a time, as a program writes it without the script, and says it in words", async (t) => {
  const remind = dateTime({ optional: true });
  const calls = defineResource({
    name: "call",
    fields: { whom: text(), remind_at: remind },
    filters: { remind_at: ["gte", "lte"] },
  });
  const api = await serve(t, { config: { mounts: [mount(calls, { permission: anyone })] } });
  for (const remind_at of ["2026-12-24T09:30:00Z", "2026-12-26T09:30:00Z"])
    await api.post("/calls", { whom: `Somebody on ${remind_at}`, remind_at }, {});

  const list = await api.get("/calls?remind_at[gte]=2026-12-25T00:00:00Z&remind_at[lte]=", { accept: "text/html" });
  const main = mainOf(list);

  assert.equal(list.status, 200);
  assert.match(main, /on 2026-12-26/);
  assert.doesNotMatch(main, /on 2026-12-24/);
  assert.match(main, /<label for="filter-remind_at-gte">Remind at from<\/label>/);
  assert.match(
    main,
    /name="remind_at\[gte\]" value="2026-12-25T00:00:00Z" data-time placeholder="2026-01-31T09:30:00Z"/,
  );
  assert.match(main, /<label for="filter-remind_at-lte">Remind at until<\/label>/);
  assert.match(main, />Remind at from 25 Dec 2026, 00:00 UTC<\/a>/);
});

test("says the declared condition of a permission as the reason, and names it to a caller whom it refuses", async (t) => {
  const weekdays: Permission = {
    name: "on weekdays",
    description: "it is a weekday",
    decide: ({ action }) => (action === "update" ? "deny" : "allow"),
  };
  const confirmedCallers: Permission = { ...weekdays, description: "they came by boat" };
  const news = defineResource({ name: "news", plural: "news", fields: { headline: text() } });
  const permission = { list: weekdays, read: weekdays, create: anyone, update: weekdays, delete: confirmedCallers };
  const api = await serve(t, { config: { mounts: [mount(news, { permission })] } });
  await api.post("/news", { headline: "Snow" }, {});
  const get = (path: string) => api.get(path, { ...api.admin, accept: "text/html" });

  const record = mainOf(await get("/news/1"));
  const start = mainOf(await get("/"));
  const refused = await get("/news/1?form=edit");

  assert.match(record, /<dd>read it, because it is a weekday, and delete it, because you came by boat\.<\/dd>/);
  assert.match(start, /You may read and add them, because it is a weekday\./);
  assert.equal(refused.status, 403);
  assert.match(mainOf(refused), /You may do this only if it is a weekday\./);
});

test("says what to do with a list that is empty, and with filters that leave nothing", async (t) => {
  const { get, ben, lea } = await startClub(t);

  assert.match(
    mainOf(await get("/books", lea)),
    /<h2>No books yet<\/h2>[^]*>New book<\/a> <a class="btn" href="\/books\?form=new#import">Bring from a file</,
  );
  assert.match(mainOf(await get("/books", ben)), /<h2>No books yet<\/h2> <p class="dim">This list has only those/);
  assert.match(mainOf(await get("/tasks?state=late")), /<h2>No task fits<\/h2>[^]*href="\/tasks">All tasks</);
});

test("shows a record by its name, with its lists, its actions and who made it", async (t) => {
  const { get, ben } = await startClub(t);

  const answer = await get("/projects/1");
  const main = mainOf(answer);

  assert.match(answer.text, /<title>Summer regatta · /);
  assert.match(main, /<ol><li><a href="\/projects">Projects<\/a><\/li><\/ol>/);
  assert.match(main, /<h1 dir="auto">Summer regatta<\/h1><p class="meta"><span class="tag accent">Under way</);
  assert.match(main, /<a class="btn main" href="\/projects\/1\?form=edit" data-key="e">Edit<\/a>/);
  assert.match(main, /<dt>Budget<\/dt><dd>1,250\.00<\/dd>/);
  assert.match(main, /<dt>Public<\/dt><dd>Yes<\/dd>/);
  assert.match(main, /<dt>Made by<\/dt><dd>You<\/dd>/);
  assert.match(
    main,
    /<dt>You may<\/dt><dd>read it, because you belong to it, and change and delete it, because you are its owner\. You may use: finish\.<\/dd>/,
  );
  // Only the author of an action knows whether it can be taken back, so it asks first, also without the script.
  assert.match(main, /<button class="btn" type="button" popovertarget="do-finish">Finish<\/button>/);
  assert.match(
    main,
    /<div class="pop" id="do-finish" popover [^>]*> <h2 id="do-finish-title">Finish <bdi>Summer regatta<\/bdi>\?<\/h2> <form class="row" method="post" action="\/projects\/1\/finish"/,
  );
  assert.match(main, /<h2 id="in-members">Members<\/h2> <a class="btn low" href="\/projects\/1\/members\?form=new">/);
  assert.match(main, /<a class="clip" dir="auto" href="\/projects\/1\/members\/2">Ben<\/a>/);
  assert.match(main, /<h2 id="in-tasks">Tasks<\/h2>[^]*Buy lemons[^]*href="\/tasks\?project_id=1">All tasks of/);
  assert.doesNotMatch(main, /Budgets/, "only treasurers see them");

  const his = mainOf(await get("/projects/1", ben));
  assert.match(his, /<dt>You may<\/dt><dd>read it, because you belong to it\.<\/dd>/);
  assert.doesNotMatch(his, /form=edit|_method|members\?form/);
});

test("leads through names: from the form of a change back to the record and its list", async (t) => {
  const { get } = await startClub(t);

  const main = mainOf(await get("/projects/1/members/2?form=edit"));

  const crumbs = [...main.matchAll(/<li><a href="([^"]*)">([^<]*)<\/a><\/li>/g)].map(([, ...each]) => each.join(" "));
  assert.deepEqual(crumbs, [
    "/projects Projects",
    "/projects/1 Summer regatta",
    "/projects/1/members Members",
    "/projects/1/members/2 Member 2",
  ]);
});

test("offers only the groups in which the caller may write", async (t) => {
  const { get, api, ann, ben } = await startClub(t);
  await api.post("/projects", { name: "Boat shed" }, ben.headers);
  await api.post("/projects/2/members", { user_id: ann.id }, api.admin);
  await api.post("/projects", { name: "Library" }, ben.headers);

  const form = mainOf(await get("/tasks?form=new"));
  const [, projects = ""] = /<select id="field-project_id"[^>]*>(.*?)<\/select>/.exec(form)!;

  assert.deepEqual(
    [...projects.matchAll(/<option value="\d+"[^>]*>([^<]*)</g)].map(([, name]) => name),
    ["Boat shed", "Summer regatta"],
  );
  assert.equal((await get("/projects/2/members?form=new", ben)).status, 200);
  assert.equal((await get("/projects/2/members?form=new")).status, 403);
});
