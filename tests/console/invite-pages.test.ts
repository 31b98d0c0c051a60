import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { memberOf, sharesGroup } from "../../src/door/auth.ts";
import {
  administrator,
  anyOf,
  authenticated,
  defineResource,
  enumeration,
  mount,
  reference,
  text,
} from "../../src/door/index.ts";
import type { Mount, Resource } from "../../src/door/resources.ts";
import { password, startMailedPages, type MailedPages, type Page } from "../harness/mailed-pages.ts";
import { basicHeader } from "../harness/serve.ts";

// Nightly on PostgreSQL: these pages show what the API answers, whose tests run on both databases.

const label = { one: "Member", many: "Members" } as const;
const project = defineResource({ name: "project", fields: { title: text({ maxLength: 80 }) }, sorts: ["title"] });

/** Returns mounts of projects with tasks and memberships, which are by themselves or nested in the project. */
function mountsOf(isNested: boolean): { readonly mounts: readonly Mount[]; readonly membership: Resource } {
  const project_id = reference(project, { onDelete: "cascade" });
  const role = enumeration(["owner", "viewer"], { default: "viewer", labels: { owner: "Owner", viewer: "Viewer" } });
  const user_id = reference("users", { onDelete: "cascade" });
  const membership: Resource = isNested
    ? defineResource({
        name: "membership",
        label,
        within: project,
        fields: { user_id, role },
        unique: [["user_id", "project_id"]],
      })
    : defineResource({
        name: "membership",
        label,
        fields: { user_id, project_id, role },
        unique: [["user_id", "project_id"]],
        filters: { project_id: ["eq"] },
      });
  const member = anyOf(administrator, memberOf(membership));
  const owner = anyOf(administrator, memberOf(membership, { where: { role: "owner" } }));
  const task = defineResource({
    name: "task",
    fields: { project_id, title: text({ maxLength: 80 }) },
    filters: { project_id: ["eq"] },
  });
  return {
    membership,
    mounts: [
      mount(project, {
        permission: { list: member, read: member, create: authenticated, update: owner },
        founder: { memberships: membership, values: { role: "owner" } },
      }),
      mount(membership, {
        permission: { list: member, read: member, create: owner, delete: owner },
        invitations: true,
      }),
      mount(task, { permission: { list: member, read: member, create: owner } }),
    ],
  };
}

interface Club {
  readonly api: MailedPages;
  readonly ada: Readonly<Record<string, string>>;
  readonly ben: Readonly<Record<string, string>>;
  /** The path of the invitations to the first project. */
  readonly path: string;
}

/** Starts a service in which Ada owns two projects. Ben is a viewer of the first one and owns a third one. */
async function start(t: TestContext, isNested = false): Promise<Club> {
  const { mounts, membership } = mountsOf(isNested);
  const seen = anyOf(administrator, sharesGroup(membership));
  const users = { permissions: { list: seen, read: seen } };
  const api = await startMailedPages(t, { LATCHKEY_REGISTRATION: "open" }, { mounts, users });
  for (const name of ["Ada", "Ben"])
    await api.json("POST", "/users", { name, email: `${name}@example.com`.toLowerCase(), password });
  const [ada, ben] = [basicHeader("ada@example.com", password), basicHeader("ben@example.com", password)];
  for (const [title, as] of [
    ["Regatta", ada],
    ["Museum", ada],
    ["Chess", ben],
  ] as const)
    assert.equal((await api.json("POST", "/projects", { title }, as)).status, 201);
  const path = isNested ? "/projects/1/memberships" : "/memberships";
  const ofBen = { user_id: 3, ...(isNested ? {} : { project_id: 1 }), role: "viewer" };
  assert.equal((await api.json("POST", path, ofBen)).status, 201);
  return { api, ada, ben, path: `${path}/invitations` };
}

const mainOf = ({ text: page }: Page) => page.slice(page.indexOf("<main"));
const linksOf = (page: Page, words: string) =>
  [...mainOf(page).matchAll(/<a class="[^"]*" href="([^"]*)"[^>]*>([^<]*)<\/a>/g)].flatMap(([, href, text]) =>
    text === words ? [href] : [],
  );

for (const isNested of [false, true]) {
  const kind = isNested ? "nested memberships" : "memberships by themselves";

  test(`leads an owner from the page of a group to its invitations, with ${kind}`, async (t) => {
    const { api, ada, path } = await start(t, isNested);
    const [invite] = linksOf(await api.get("/projects/1", ada), "Invite");

    assert.equal(invite, isNested ? path : `${path}?project_id=1`);
    const page = await api.get(invite, ada);
    const fields = { email: "eve@example.com", role: "viewer", ...(isNested ? {} : { project_id: "1" }) };
    const sent = await api.submit(page, fields, ada);

    assert.match(mainOf(page), /<h1>Invitations<\/h1>/);
    assert.deepEqual([sent.status, sent.text], [303, ""]);
    const { to, link } = await api.mailed();
    assert.equal(to, "eve@example.com");
    assert.match(link, /^\/invitation\?token=/);
    const after = mainOf(await api.get(invite, ada));
    assert.match(after, /eve@example\.com.*Viewer.*You/);
    assert.doesNotMatch(after, /What programs get|project_id<|null/);
  });

  test(`ends an invitation by its button, with ${kind}`, async (t) => {
    const { api, ada, path } = await start(t, isNested);
    const fields = { email: "eve@example.com", ...(isNested ? {} : { project_id: 1 }) };
    assert.equal((await api.json("POST", path, fields, ada)).status, 202);

    const page = await api.get(path, ada);
    const [button = ""] =
      /<form[^>]*> ?<input type="hidden" name="_method" value="DELETE">.*?<\/form>/.exec(mainOf(page)) ?? [];
    const done = await api.submit({ ...page, text: `<main>${button}` }, {}, ada);
    assert.equal(done.status, 303);
    assert.match(mainOf(await api.get(path, ada)), /No open invitations/);
  });

  test(`shows a member without the right to invite no link and no form, with ${kind}`, async (t) => {
    const { api, ben, path } = await start(t, isNested);

    assert.deepEqual(linksOf(await api.get("/projects/1", ben), "Invite"), []);
    if (isNested) assert.equal((await api.get(path, ben)).status, 200);
    const page = mainOf(await api.get(isNested ? path : `${path}?project_id=1`, ben));
    assert.doesNotMatch(page, /Regatta<\/option>|eve@example\.com/);
  });
}

test("shows the form of an invitation again, with what was typed and each mistake", async (t) => {
  const { api, ada, path } = await start(t);

  const wrong = await api.submit(await api.get(path, ada), { email: "eve", project_id: "2", role: "owner" }, ada);

  assert.equal(wrong.status, 400);
  assert.match(mainOf(wrong), /<a href="#field-email">/);
  assert.match(mainOf(wrong), /name="email"[^>]* value="eve"/);
  assert.match(mainOf(wrong), /<option value="2" selected>Museum/);
  assert.match(mainOf(wrong), /<option value="owner" selected>Owner/);
  const sent = await api.submit(wrong, { email: "eve@example.com", project_id: "2", role: "owner" }, ada);
  assert.equal(sent.status, 303, sent.text);
  assert.match(mainOf(await api.get(path, ada)), /eve@example\.com.*Museum.*Owner/);
});

test("offers only groups to which the caller may invite, with the one of the address chosen", async (t) => {
  const { api, ada, ben, path } = await start(t);

  const ofAda = mainOf(await api.get(`${path}?project_id=2`, ada));
  assert.match(ofAda, /<option value="2" selected>Museum.*<option value="1">Regatta/);
  assert.doesNotMatch(ofAda, /Chess/);
  assert.doesNotMatch(mainOf(await api.get(path, ben)), /<option[^>]*>(?:Regatta|Museum)/);
  const [invite] = linksOf(await api.get("/memberships?project_id=1", ada), "Invite");
  assert.equal(invite, `${path}?project_id=1`);
});

test("refuses an invitation that a page of another origin sends", async (t) => {
  const { api, ada, path } = await start(t);

  const page = await api.get(path, ada);
  const foreign = { ...ada, "sec-fetch-site": "cross-site", origin: "https://elsewhere.example" };
  const sent = await api.submit(page, { email: "eve@example.com", project_id: "1" }, foreign);

  assert.equal(sent.status, 403);
  assert.match(mainOf(await api.get(path, ada)), /No open invitations/);
});

test("fills in the group of a new record that is made from the page of the group", async (t) => {
  const { api, ada, ben } = await start(t);

  const [added] = linksOf(await api.get("/projects/2", ada), "New task");
  assert.equal(added, "/tasks?form=new&amp;project_id=2");
  const page = await api.get("/tasks?form=new&project_id=2", ada);
  assert.match(mainOf(page), /<option value="2" selected>Museum/);
  const made = await api.submit(page, { title: "Dust", project_id: "2" }, ada);
  assert.equal(made.headers.get("location"), "/tasks/1");
  assert.deepEqual(linksOf(await api.get("/projects/1", ben), "New task"), []);
});

test("says that a caller belongs to a group, without a column in the permission", async (t) => {
  const { api, ada, ben } = await start(t);
  await api.json("POST", "/tasks", { title: "Dust", project_id: 1 }, ada);
  const may = async (path: string, as: Readonly<Record<string, string>>) =>
    /<dt>You may<\/dt><dd>(.*?)<\/dd>/.exec(mainOf(await api.get(path, as)))?.[1];

  assert.equal(
    await may("/projects/1", ada),
    "read it, because you belong to it, and change it, because you are its owner.",
  );
  assert.equal(await may("/projects/1", ben), "read it, because you belong to it.");
  assert.equal(await may("/tasks/1", ben), "read it, because it is of a group of yours.");
});

test("takes only names of references in the address of a form", async (t) => {
  const { api, ada } = await start(t);

  for (const query of ["title=x", "hidden=x", "project_id=1&project_id=2", "project_id[gt]=1"])
    assert.equal((await api.get(`/tasks?form=new&${query}`, ada)).status, 400, query);
  for (const id of ["x", "99", "1%27", ""])
    assert.equal((await api.get(`/tasks?form=new&project_id=${id}`, ada)).status, 200, id);
});
