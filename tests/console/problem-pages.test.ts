import assert from "node:assert/strict";
import { test } from "node:test";
import { mainOf, startClub } from "../harness/club-pages.ts";
import type { Answered } from "../harness/serve.ts";

// Nightly on PostgreSQL: these pages show what the API answers, whose tests run on both databases.

/** Returns the links above the title of a page. */
function crumbsOf({ text }: Answered): readonly string[] {
  const [, crumbs = ""] = /<nav class="crumbs"[^>]*>([^]*?)<\/nav>/.exec(text) ?? [];
  return [...crumbs.matchAll(/<a href="([^"]*)"/g)].map(([, href]) => href!);
}

test("shows the pages above a form, also above a refused one, and none above a problem", async (t) => {
  const { api, ann, get } = await startClub(t);
  const submit = (path: string, fields: Readonly<Record<string, string>>) =>
    api.ask("POST", path, {
      body: new URLSearchParams(fields).toString(),
      headers: {
        ...ann.headers,
        accept: "text/html",
        "sec-fetch-site": "same-origin",
        "content-type": "application/x-www-form-urlencoded",
      },
    });

  const [missing, forbidden] = [await get("/tasks/88"), await get("/projects/1/budgets")];
  const [asked, refused] = [await get("/tasks?form=new"), await submit("/tasks", { hours: "a few" })];
  const [edited, again] = [
    await get("/tasks/1?form=edit"),
    await submit("/tasks/1", { _method: "PATCH", hours: "a few" }),
  ];

  assert.deepEqual([missing.status, forbidden.status, refused.status, again.status], [404, 403, 400, 400]);
  assert.deepEqual([crumbsOf(missing), crumbsOf(forbidden)], [[], []]);
  assert.deepEqual([crumbsOf(asked), crumbsOf(refused)], [["/tasks"], ["/tasks"]]);
  assert.deepEqual(crumbsOf(edited), ["/tasks", "/tasks/1"]);
  assert.deepEqual(crumbsOf(again), ["/tasks", "/tasks/1"]);

  const late = await submit("/tasks/1", { _method: "PATCH", _match: '"0"', hours: "3" });
  assert.equal(late.status, 412);
  assert.match(late.text, /Someone saved before you/);
  assert.deepEqual(crumbsOf(late), []);
});

test("names what still refers to a record that was not deleted, with a link to it", async (t) => {
  const { api, ben, lea } = await startClub(t);
  await api.post("/books", { title: "Tide tables" }, lea.headers);
  await api.post("/loans", { book_id: 1, member_id: ben.id }, lea.headers);

  const refused = await api.ask("DELETE", "/books/1", { headers: { ...lea.headers, accept: "text/html" } });

  assert.equal(refused.status, 409);
  const main = mainOf(refused);
  assert.match(main, /This book was not deleted<\/h1>/);
  assert.match(main, /“<bdi>Tide tables<\/bdi>” is as it was\. It still has loans\./);
  assert.match(main, /<a class="btn main" href="\/books\/1">Back to the book<\/a>/);
  assert.match(main, /<a class="btn" href="\/loans\?book_id=1">See its loans<\/a>/);
  assert.doesNotMatch(main, /record|referenced/);
});
