import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { administrator, authenticated, defineResource, mount, reference, text } from "../../src/door/index.ts";
import { password, startMailedPages, type MailedPages, type Page } from "../harness/mailed-pages.ts";

const project = defineResource({ name: "project", fields: { title: text({ maxLength: 200 }) } });
const membership = defineResource({
  name: "membership",
  fields: { user_id: reference("users"), project_id: reference(project, { onDelete: "cascade" }) },
  unique: [["user_id", "project_id"]],
});
const permission = { list: authenticated, read: authenticated, create: administrator, delete: administrator };
const mounts = [mount(project, { permission }), mount(membership, { permission, invitations: true })];

const ben = "ben@example.com";
const title = "Regatta <b>1</b>";

interface Invited {
  readonly api: MailedPages;
  /** The path of the link in the mail. */
  readonly link: string;
}

/** Starts a service, and invites Ben to a project. */
async function invite(t: TestContext, registration = "open", hasAccount = false): Promise<Invited> {
  const api = await startMailedPages(t, { LATCHKEY_REGISTRATION: registration }, { mounts });
  if (hasAccount) assert.equal((await api.json("POST", "/users", { name: "Ben", email: ben, password })).status, 201);
  assert.equal((await api.json("POST", "/projects", { title })).status, 201);
  const sent = await api.json("POST", "/memberships/invitations", { email: ben, project_id: 1 });
  assert.equal(sent.status, 202, sent.text);
  const { link, to, code } = await api.mailed();
  assert.deepEqual([to, code], [ben, ""]);
  assert.match(link, /^\/invitation\?token=/);
  return { api, link };
}

const mainOf = ({ text: page }: Page) => page.slice(page.indexOf("<main"));
const readCookie = ({ headers }: Page) => ({ cookie: headers.getSetCookie()[0]!.split(";")[0]! });

test("leads a person without an account from the mail to the membership", async (t) => {
  const { api, link } = await invite(t);
  const page = await api.get(link);
  assert.equal(page.status, 200);
  assert.match(mainOf(page), /Regatta &lt;b&gt;1&lt;\/b&gt;/);
  assert.match(mainOf(page), /invites you to/);
  assert.match(mainOf(page), /Your name<\/label>.*E-mail<\/span> <p><bdi>ben@example\.com<\/bdi>.*Password<\/label>/);
  assert.match(
    page.text,
    /<footer><p>You have an account\? <a href="\/login\?next=[^"]*">Log in and join<\/a><\/p><\/footer>/,
  );
  for (let time = 0; time < 20; time++) await api.get(link);

  const weak = await api.submit(page, { name: "Ben", password: "short" });
  const joined = await api.submit(weak, { name: "Ben", password });

  assert.equal(weak.status, 400);
  assert.match(mainOf(weak), /value="Ben"/);
  assert.equal(joined.status, 303, joined.text);
  assert.equal(joined.headers.get("location"), "/login?next=%2Fmemberships%2F1");
  const done = await api.submit(await api.get("/login?next=%2Fmemberships%2F1"), { username: ben, password });
  assert.equal(done.headers.get("location"), "/memberships/1");
  assert.equal((await api.get("/memberships/1", readCookie(done))).status, 200);
  assert.match(mainOf(await api.get(link)), /This invitation is not valid/);
});

test("leads a person with an account through the login to the membership", async (t) => {
  const { api, link } = await invite(t, "closed", true);
  const page = await api.get(link);
  const [, login = ""] = /href="(\/login\?next=[^"]*)"/.exec(mainOf(page)) ?? [];
  const done = await api.submit(await api.get(login.replaceAll("&amp;", "&")), { username: ben, password });
  const back = done.headers.get("location")!;

  assert.equal(back, link);
  const asked = await api.get(back, readCookie(done));
  const joined = await api.submit(asked, {}, readCookie(done));

  assert.doesNotMatch(mainOf(page), /name="password"/);
  assert.equal(joined.status, 303, joined.text);
  assert.equal(joined.headers.get("location"), "/memberships/1");
});

test("tells another user who is logged in to log out first, and offers the login if the address has an account by then", async (t) => {
  const { api, link } = await invite(t);
  const page = await api.get(link);
  await api.json("POST", "/users", { name: "Ben", email: ben, password });
  await api.json("POST", "/users", { name: "Eve", email: "eve@example.com", password });
  const eve = readCookie(await api.submit(await api.get("/login"), { username: "eve@example.com", password }));

  const other = await api.get(link, eve);
  const taken = await api.submit(page, { name: "Ben", password });

  assert.match(mainOf(other), /You are logged in as eve@example\.com/);
  assert.doesNotMatch(mainOf(other), /name="token"/);
  assert.equal(taken.status, 409);
  assert.match(mainOf(taken), /Log in and join/);
  assert.equal((await api.submit(page, { name: "Ben", password }, { "sec-fetch-site": "cross-site" })).status, 403);
});

test("shows a page without an invitation for a wrong link", async (t) => {
  const api = await startMailedPages(t, {}, { mounts });
  for (const path of ["/invitation", "/invitation?token=x", "/invitation?token=%3Cscript%3E"]) {
    const page = await api.get(path);
    assert.equal(page.status, 200);
    assert.match(mainOf(page), /This invitation is not valid/);
    assert.doesNotMatch(mainOf(page), /<script>/);
  }
});

test("has no page of invitations in a service without them", async (t) => {
  const api = await startMailedPages(t);
  assert.equal((await api.get("/invitation?token=x")).status, 404);
});
