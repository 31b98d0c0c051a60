import assert from "node:assert/strict";
import { test } from "node:test";
import type { Permission } from "../../src/door/auth.ts";
import { consolePages } from "../../src/door/features.ts";
import {
  administrator,
  anyone,
  defineEndpoint,
  defineResource,
  enumeration,
  mount,
  nobody,
  reference,
  text,
} from "../../src/door/index.ts";
import { array, references } from "../../src/door/resources.ts";
import { ownService, type OwnAnswer } from "../harness/own-service.ts";
import { serve } from "../harness/serve.ts";

// Nightly on PostgreSQL: these pages show what the API answers, whose tests run on both databases.

const browser = { headers: { accept: "text/html" } };
const tags = defineResource({ name: "tag", fields: { name: text({ maxLength: 50 }) } });
const posts = defineResource({
  name: "post",
  fields: {
    title: text({ maxLength: 200 }),
    summary: text({ maxLength: 500, optional: true }),
    body: text({ multiline: true, optional: true }),
    main_id: reference(tags, { optional: true }),
    tags: references(tags, { default: [] }),
    days: array(enumeration(["mon", "tue", "wed"]), { optional: true }),
  },
});

/** Returns a page on one line, with one space in place of each run of white space. */
function joinLines({ text: page }: OwnAnswer): string {
  return page.replaceAll(/\s+/g, " ");
}

function startService(t: Parameters<typeof ownService>[0], listsTags: Permission) {
  return ownService(t, {
    mounts: [
      mount(tags, { permission: { list: listsTags, create: anyone, read: anyone } }),
      mount(posts, { permission: anyone }),
    ],
    features: [consolePages({ title: "Blog" })],
  });
}

test("does not show whether the caller is logged in on a page that checks no credentials", async (t) => {
  const api = await serve(t);
  const headers = { ...api.admin, accept: "text/html" };

  for (const path of ["/nothing", "/livez", "/%zz"]) {
    const page = await api.get(path, headers);
    assert.doesNotMatch(page.text, /Log in<\/a>/, path);
    assert.match(page.text, /<a class="btn low" href="\/api\/session\/" data-login="\/">Who you are<\/a>/, path);
  }
  assert.match((await api.get("/users/999", headers)).text, /<bdi>admin<\/bdi>/);
  assert.match((await api.get("/", { accept: "text/html" })).text, />Log in<\/a>/);
  assert.match((await api.get("/users", { accept: "text/html" })).text, /<h1 tabindex="-1">Log in<\/h1>/);
});

test("does not identify the caller for an unknown path, in any format", async (t) => {
  let looks = 0;
  const { get } = await ownService(t, {
    schemes: [
      {
        name: "visitor",
        carriers: [{ in: "header", name: "X-Visitor" }],
        challenge: () => "Visitor",
        authenticate: () => ((looks += 1), { kind: "absent" }),
      },
    ],
    endpoints: [defineEndpoint({ method: "GET", path: "/now", access: anyone, handle: () => ({ status: 204 }) })],
    features: [consolePages({ title: "Blog" })],
  });

  for (const accept of ["application/json", "text/html"]) await get("/nothing", { as: "ada", headers: { accept } });
  assert.equal(looks, 0);
  await get("/now", { as: "ada" });
  assert.equal(looks, 1);
});

/** True if the select of a form offers the tag. */
function offersInk(page: OwnAnswer): boolean {
  const [, options = ""] = /<select id="field-main_id"[^>]*>(.*?)<\/select>/.exec(joinLines(page)) ?? [];
  return /<option value="1"[^>]*>Ink<\/option>/.test(options);
}

test("offers the records of a reference as choices only if the caller may list them", async (t) => {
  for (const [permission, isListed] of [
    [anyone, true],
    [nobody, false],
    [administrator, false],
  ] as const) {
    const { ask, get } = await startService(t, permission);
    await ask("POST", "/tags", { body: { name: "Ink" } });
    await ask("POST", "/posts", { body: { title: "a", main_id: 1, tags: [1] } });

    for (const path of ["/posts?form=new", "/posts/1?form=edit"])
      assert.equal(offersInk(await get(path, browser)), isListed, path);
    const refused = await ask("POST", "/posts", { ...browser, body: { title: "", tags: [1] } });
    assert.equal(refused.status, 400);
    assert.equal(offersInk(refused), isListed);
    // The page still shows the name, because the caller may read this record.
    assert.match(joinLines(refused), /value="1" checked> <span dir="auto">Ink<\/span>/);
  }
  const { ask, get } = await startService(t, administrator);
  await ask("POST", "/tags", { body: { name: "Ink" } });
  assert.ok(offersInk(await get("/posts?form=new", { ...browser, as: "root" })));
});

test("shows several ids as checkboxes with names, and keeps all sent values", async (t) => {
  const { ask, get } = await startService(t, anyone);
  for (const name of ["Ink", "<b>"]) await ask("POST", "/tags", { body: { name } });
  await ask("POST", "/posts", { body: { title: "a", tags: [2, 1], days: ["tue"] } });

  const page = joinLines(await get("/posts/1?form=edit", browser));
  const boxes = [...page.matchAll(/type="checkbox" name="(\w+)" value="(\w+)"( checked)?/g)].map(
    ([, ...found]) => found,
  );
  assert.deepEqual(boxes, [
    ["tags", "2", " checked"],
    ["tags", "1", " checked"],
    ["days", "tue", " checked"],
    ["days", "mon", undefined],
    ["days", "wed", undefined],
  ]);
  assert.match(page, /<span dir="auto">&lt;b&gt;<\/span>/);
  assert.match(page, /<fieldset class="field" id="field-tags"/);

  for (const sent of [[["x", { y: 1 }]].flat(), Array.from({ length: 150 }, (_, at) => at + 1)]) {
    const again = await ask("POST", "/posts", { ...browser, body: { title: "a", tags: sent } });
    assert.equal(again.status, 400);
    const [, typed = ""] = /<textarea id="field-tags"[^>]*>([^<]*)</.exec(again.text) ?? [];
    if (typed !== "") assert.deepEqual(JSON.parse(typed.replaceAll("&quot;", '"')), sent);
    else for (const id of sent) assert.match(again.text, new RegExp(`name="tags" value="${String(id)}" checked`));
  }
  const strange = joinLines(
    await ask("POST", "/posts", { ...browser, body: { title: "", days: ["sun"], tags: [77] } }),
  );
  assert.match(strange, /name="days" value="sun" checked/);
  assert.match(strange, /name="tags" value="77" checked/);
});

test("shows a text with several lines in a textarea, and keeps each line", async (t) => {
  const { ask, get } = await startService(t, anyone);
  const body = "\n\n  First </textarea><script>alert(1)</script>\n\tsecond\n";
  const made = await ask("POST", "/posts", { body: { title: "a", body: `a${body}b` } });
  assert.equal(made.json.body, `a${body}b`);

  const { text: page } = await get("/posts/1?form=edit", browser);
  const [, shown = ""] = /<textarea id="field-body"[^>]*>\n([\s\S]*?)<\/textarea>/.exec(page) ?? [];
  assert.equal(shown.replaceAll("&lt;", "<").replaceAll("&gt;", ">"), `a${body}b`);
  assert.match(page, /<input id="field-summary"/);
  assert.match(page, /<input id="field-title"/);
  assert.doesNotMatch(page, /<script>/);
});
