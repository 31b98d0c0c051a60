// The pages of users for a librarian, who lists, reads, renames, expands and chooses members, and sees no address.
import assert from "node:assert/strict";
import { test } from "node:test";
import { administrator } from "../../src/door/index.ts";
import { members, startLibrary, type Library } from "../harness/library.ts";
import { formsOf } from "../harness/page-forms.ts";
import type { Answered } from "../harness/serve.ts";

// Nightly on PostgreSQL: these pages show what the API answers, whose tests run on both databases.

const page = { accept: "text/html", "sec-fetch-site": "same-origin" };

/** Returns the names of the inputs of the forms of a page, without those of its filters and its search. */
function inputsOf({ text }: Answered): readonly string[] {
  return formsOf(text).flatMap(({ names }) => names);
}

/** Returns the headings of the table of a page. */
const columnsOf = ({ text }: Answered): readonly string[] =>
  [...text.matchAll(/<th scope="col"[^>]*>\s*(?:<a[^>]*>)?(\w+)/g)].map(([, name]) => name!);

/** Returns the members that a form offers, by name. */
const optionsOf = ({ text }: Answered): readonly string[] =>
  [...text.matchAll(/<option value="\d+"[^>]*>([^<]*)<\/option>/g)].map(([, name]) => name!);

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
  assert.deepEqual(columnsOf(list), ["Name"]);
  for (const name of ["Lea", "Ben", "Cleo"]) assert.match(list.text, new RegExp(`>${name}<`));
  assert.match(list.text, new RegExp(`<a class="clip" dir="auto" href="/users/${ben.id}">Ben</a>`));
  assert.doesNotMatch(list.text, /name="(?:email|username|password)|\bfields=[\w,]*email|sort=-?email/);
  const record = await get(`/users/${ben.id}`);
  assert.equal(record.status, 200);
  assert.deepEqual(inputsOf(await get(`/users/${ben.id}?form=edit`)), ["name"]);
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
  const [form] = formsOf((await api.get(`${path}?form=edit`, { ...lea.headers, ...page })).text);
  assert.deepEqual([form!.method, form!.action], ["PATCH", path]);
  const tag = form!.match!;

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
  const form = await get("/loans?form=new");
  assert.deepEqual(optionsOf(form), ["Administrator", "Ben", "Cleo", "Lea"]);
});

test("names members by their number to a reader who may not read their names", async (t) => {
  const rule = { read: administrator };
  const ruled = { ...members, rules: { name: rule, email: rule } };
  const { api, lea } = await startLibrary(t, { users: ruled });
  const form = await api.get("/loans?form=new", { ...lea.headers, ...page });
  assert.deepEqual(optionsOf(form), ["User 1", "User 2", "User 3", "User 4"]);
  const whole = await api.get("/loans?form=new", { ...api.admin, ...page });
  assert.deepEqual(optionsOf(whole), ["Administrator", "Ben", "Cleo", "Lea"]);
});

test("shows every user the own address, and leaves the own login to the page of the account", async (t) => {
  const { api, lea, ben } = await startLibrary(t);
  for (const { id, email, headers } of [lea, ben]) {
    const own = await api.get(`/users/${id}`, { ...headers, ...page });
    assert.match(own.text, new RegExp(email));
    assert.deepEqual(inputsOf(await api.get(`/users/${id}?form=edit`, { ...headers, ...page })), ["name"]);
    assert.match((await api.get(`/users/${id}/account`, { ...headers, ...page })).text, new RegExp(email));
  }
  const administrators = await api.get(`/users/${ben.id}?form=edit`, { ...api.admin, ...page });
  for (const name of ["email", "username", "password"]) assert.ok(inputsOf(administrators).includes(name), name);
});
