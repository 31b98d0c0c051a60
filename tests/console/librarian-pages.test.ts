// The pages of users for a librarian, who lists, reads, renames, expands and chooses members, and sees no address.
import assert from "node:assert/strict";
import { test } from "node:test";
import { administrator } from "../../src/door/index.ts";
import { members, startLibrary, type Library } from "../harness/library.ts";
import type { Answered } from "../harness/serve.ts";

const page = { accept: "text/html", "sec-fetch-site": "same-origin" };

/** Returns the names of the inputs of the forms of a page, without those of its filters and its search. */
function inputsOf({ text }: Answered): readonly string[] {
  const forms = [...text.matchAll(/<form[^>]*data-method[^]*?<\/form>/g)].map(([form]) => form);
  const raw = [...text.matchAll(/<textarea id="raw-body"[^>]*>([^]*?)<\/textarea>/g)].map(([, body]) => body!);
  return [
    ...forms.flatMap((form) => [...form.matchAll(/ name="(?!_)(\w+)"/g)].map(([, name]) => name!)),
    ...raw.flatMap((body) => Object.keys(JSON.parse(body.replaceAll("&quot;", '"')))),
  ];
}

/** Returns the headings of the table of a page. */
const columnsOf = ({ text }: Answered): readonly string[] =>
  [...text.matchAll(/<th scope="col"[^>]*>\s*(?:<a[^>]*>)?(\w+)/g)].map(([, name]) => name!);

/** Returns the attribute of an input of a page. */
const attribute = ({ text }: Answered, input: string, name: string): string | undefined =>
  new RegExp(`<input[^>]* name="${input}"[^>]* ${name}="([^"]*)"`).exec(text)?.[1];

/** The pages on which an address of another user could appear. */
const pagesOf = ({ ben }: Library): readonly string[] => [
  "/",
  "/users",
  "/users?sort=-name&limit=1",
  "/users?search=ben",
  "/users?fields=id,email",
  "/users?email=ben@example.com",
  "/users?email[starts]=ben",
  "/users?sort=email",
  `/users/${ben.id}`,
  `/users/${ben.id}?fields=email`,
  `/users/${ben.id}/account`,
  `/users/${ben.id}/sessions`,
  "/loans",
  "/loans?expand=member",
  "/loans/1",
  "/loans/1?expand=member",
  `/console/why?of=/users/${ben.id}`,
  "/console/why?of=/loans/1",
];

test("lists and reads members on pages that contain no address and no part of a login", async (t) => {
  const library = await startLibrary(t);
  const { api, lea, ben } = library;
  const get = (path: string) => api.get(path, { ...lea.headers, ...page });

  const list = await get("/users");
  assert.equal(list.status, 200);
  assert.deepEqual(columnsOf(list), ["id", "name"]);
  for (const name of ["Lea", "Ben", "Cleo"]) assert.match(list.text, new RegExp(`>${name}<`));
  assert.match(list.text, new RegExp(`<a class="mono" href="/users/${ben.id}">`));
  assert.doesNotMatch(list.text, /name="(?:email|username|password)|\bfields=[\w,]*email|sort=-?email/);
  const record = await get(`/users/${ben.id}`);
  assert.equal(record.status, 200);
  assert.deepEqual(inputsOf(record), ["name", "name"], "the form, and the JSON to send");
  const main = /<main[^]*<\/main>/.exec(record.text)![0];
  assert.doesNotMatch(main, new RegExp(`password|username|email|/users/${ben.id}/`, "i"));

  for (const path of pagesOf(library)) {
    const answer = await get(path);
    assert.match(answer.headers.get("content-type") ?? "", /^text\/html/);
    // A page repeats the query that the reader sent.
    const shown = answer.text.replaceAll(/ben@example\.com|ben%40example\.com/g, (found) =>
      path.includes("ben@example.com") ? "" : found,
    );
    assert.doesNotMatch(shown, /(?:ben|cleo)(?:@|%40|&#64;)example/i, path);
    const whole = await api.get(path, { ...api.admin, ...page });
    if (path === "/users" || path === `/users/${ben.id}`) assert.match(whole.text, /ben@example\.com/, path);
  }
});

test("renames a member through the form, also after a mistake and after a change by someone else", async (t) => {
  const { api, lea, ben } = await startLibrary(t);
  const path = `/users/${ben.id}`;
  const send = (name: string, tag: string) => api.patch(path, { name }, { ...lea.headers, ...page, "if-match": tag });
  const form = /<form[^>]*data-method="PATCH"[^>]*data-path="([^"]*)"[^>]*data-match="([^"]*)"/.exec(
    (await api.get(path, { ...lea.headers, ...page })).text.replaceAll("&quot;", "'"),
  )!;
  assert.equal(form[1], path);
  const tag = form[2]!.replaceAll("'", '"');

  const mistaken = await send("", tag);
  assert.equal(mistaken.status, 400);
  assert.deepEqual(new Set(inputsOf(mistaken)), new Set(["name"]));
  const renamed = await send("Benjamin", tag);
  assert.equal(renamed.status, 200);
  assert.match(renamed.text, />Benjamin</);
  const late = await send("Benno", tag);
  assert.equal(late.status, 412);
  assert.match(late.text, /Benjamin/);
  for (const answer of [mistaken, renamed, late]) assert.doesNotMatch(answer.text, /ben@example/);

  const current = (await api.get(path, lea.headers)).headers.get("etag")!;
  await api.patch(path, { email: "hidden@example.com", current_password: "first-administrator" }, api.admin);
  const unseen = await send("Benno", current);
  assert.equal(unseen.status, 200, "the address has changed, which the librarian does not see");
  assert.deepEqual((await api.get(path, api.admin)).json, { id: ben.id, name: "Benno", email: "hidden@example.com" });
});

test("shows the names of members in lists and expanded records, and offers them where a member is chosen", async (t) => {
  const { api, lea, ben } = await startLibrary(t);
  const get = (path: string) => api.get(path, { ...lea.headers, ...page });

  const named = new RegExp(`<a href="/users/${ben.id}" dir="auto">Ben</a>`);
  const loans = await get("/loans");
  assert.match(loans.text, named);
  assert.match((await get("/loans/1")).text, named);
  assert.match((await get("/loans?expand=member")).text, /Ben/);
  assert.equal(attribute(loans, "member_id", "data-choices"), "/users");
  assert.equal(attribute(loans, "member_id", "data-called"), "name");
  const choices = await api.get("/users?limit=50&fields=id,name&search=be", lea.headers);
  assert.deepEqual(choices.json, [{ id: ben.id, name: "Ben" }]);
});

test("offers a chooser only the fields and the search that its reader may use", async (t) => {
  const rule = { read: administrator };
  const ruled = { ...members, rules: { name: rule, email: rule } };
  const { api, lea } = await startLibrary(t, { users: ruled });
  const loans = await api.get("/loans", { ...lea.headers, ...page });
  assert.equal(attribute(loans, "member_id", "data-choices"), "/users");
  assert.equal(attribute(loans, "member_id", "data-called"), "id");
  assert.doesNotMatch(loans.text, /data-search|>Ben</);
  assert.equal((await api.get("/users?limit=50&fields=id", lea.headers)).status, 200);
  const whole = await api.get("/loans", { ...api.admin, ...page });
  assert.equal(attribute(whole, "member_id", "data-called"), "name");
  assert.match(whole.text, /data-search/);
});

test("shows every user the own address, and the form for the own login", async (t) => {
  const { api, lea, ben } = await startLibrary(t);
  for (const { id, email, headers } of [lea, ben]) {
    const own = await api.get(`/users/${id}`, { ...headers, ...page });
    assert.match(own.text, new RegExp(email));
    assert.deepEqual(
      new Set(inputsOf(own)),
      new Set(["name", "email", "username", "password", "current_password", "end_keys"]),
    );
    assert.match((await api.get(`/users/${id}/account`, { ...headers, ...page })).text, new RegExp(email));
  }
  const administrators = await api.get(`/users/${ben.id}`, { ...api.admin, ...page });
  for (const name of ["email", "username", "password"]) assert.ok(inputsOf(administrators).includes(name), name);
});
