// Shows over HTTP that each hole leaks, and that its twin does not. The projects are read as `latchkey prove` reads
// them.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import path from "node:path";
import { test, type TestContext } from "node:test";
import "../harness/doors-of-source.ts";
import { identityOf } from "../../src/door/auth.ts";
import { accepted, rejected, type Scheme } from "../../src/door/index.ts";
import { openLatchkey } from "../../src/service/latchkey.ts";
import { loadConfigFile } from "../../src/service/settings/config-file/config-file.ts";
import { readSettings } from "../../src/service/settings/settings.ts";
import { ADA, ADMIN, BEN, leaksOfCode, SECRET, type Ask } from "./leaks-of-code.ts";

const folder = path.join(import.meta.dirname, "holes");

/** Serves a project with an administrator, Ada and Ben. */
async function serveProject(t: TestContext, place: string): Promise<Ask> {
  const config = (await loadConfigFile(place))!;
  const secret = "a secret for one test of this project";
  const settings = readSettings({ LATCHKEY_DATABASE: "sqlite::memory:", LATCHKEY_SECRET: secret }, config);
  const byId: Scheme = {
    name: "by-id",
    carriers: [{ in: "header", name: "X-Test-User" }],
    async authenticate(id) {
      const account = await people.accounts.find(Number(id));
      return account === null ? rejected("unknown") : accepted(identityOf(account, "by-id"));
    },
  };
  const { service, people } = await openLatchkey({
    settings,
    config: { ...config, schemes: [...(config.schemes ?? []), byId] },
    observe: null,
  });
  t.after(() => service.close());
  for (const [username, role] of Object.entries({ admin: "admin", ada: "user", ben: "user" } as const)) {
    const user = { name: username, email: `${username}@example.com`, username, role } as const;
    const { accounts } = people;
    const changes = accounts.insertUser({ ...user, passwordHash: null, emailOrigin: "vouched", now: Date.now() });
    await service.store.write({ changes });
  }
  const ask: Ask = async (as, method, target, body, headers = {}) => {
    const response = await service.fetch(
      new Request(`http://127.0.0.1${target}`, {
        method,
        headers: {
          ...(as === null ? {} : { "x-test-user": String(as) }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
      { peer: "127.0.0.1" },
    );
    const text = await response.text();
    return { status: response.status, text, headers: response.headers, id: Number(/"id":(\d+)/.exec(text)?.[1]) };
  };
  return ask;
}

const salary = async (ask: Ask): Promise<number> =>
  (await ask(ADMIN, "POST", "/people", { name: "Ada", salary: SECRET })).id;

/** Each hole, with requests that return true if it leaks. */
const leaks: Readonly<Record<string, (ask: Ask) => Promise<boolean>>> = {
  ...leaksOfCode,
  async action(ask) {
    await ask(ADA, "POST", "/notes", { body: SECRET });
    return (await ask(BEN, "GET", "/notes/digest")).text.includes(SECRET);
  },
  async "computed-function"(ask) {
    const id = await salary(ask);
    return (await ask(BEN, "GET", `/people/${id}`)).text.includes(SECRET);
  },
  async "computed-sql"(ask) {
    const id = await salary(ask);
    return (await ask(BEN, "GET", `/people/${id}`)).text.includes(SECRET);
  },
  async endpoint(ask) {
    const { id } = await ask(ADA, "POST", "/notes", { body: SECRET });
    return (await ask(BEN, "GET", `/printed/${id}`)).text.includes(SECRET);
  },
  async expanded(ask) {
    const author = await ask(ADA, "POST", "/authors", { bank_account: SECRET });
    const book = await ask(ADA, "POST", "/books", { title: "Notes", author_id: author.id });
    return (await ask(BEN, "GET", `/books/${book.id}/whole`)).text.includes(SECRET);
  },
  async "forgotten-update"(ask) {
    const { id } = await ask(ADA, "POST", "/notes", { body: SECRET });
    await ask(BEN, "PATCH", `/notes/${id}`, { body: "changed by Ben" });
    return (await ask(ADA, "GET", `/notes/${id}`)).text.includes("changed by Ben");
  },
  async format(ask) {
    const id = await salary(ask);
    return (await ask(BEN, "GET", `/people/${id}`, undefined, { accept: "text/plain" })).text.includes(SECRET);
  },
  async header(ask) {
    const { id } = await ask(ADA, "POST", "/notes", { body: SECRET });
    return (await ask(null, "GET", `/notes/${id}`, undefined, { "x-user-id": String(ADA) })).text.includes(SECRET);
  },
  async hook(ask) {
    const id = await salary(ask);
    return (await ask(BEN, "GET", `/people/${id}`)).text.includes(SECRET);
  },
  async membership(ask) {
    const project = (await ask(ADA, "POST", "/projects", { name: "Ours" })).id;
    const membership = await ask(ADA, "POST", "/memberships", { user_id: BEN, project_id: project, role: "viewer" });
    await ask(BEN, "PATCH", `/memberships/${membership.id}`, { role: "owner" });
    return (await ask(BEN, "PATCH", `/projects/${project}`, { name: "Mine" })).status === 200;
  },
  async "older-shape"(ask) {
    const id = await salary(ask);
    return (await ask(BEN, "GET", `/v1/people/${id}`)).text.includes(SECRET);
  },
  async "own-tenant"(ask) {
    await ask(ADMIN, "PATCH", `/users/${ADA}`, { tenant: 7 });
    const { id } = await ask(ADA, "POST", "/notes", { body: SECRET });
    await ask(BEN, "PATCH", `/users/${BEN}`, { tenant: 7 });
    return (await ask(BEN, "GET", `/notes/${id}`)).text.includes(SECRET);
  },
};

test("has requests for every hole", () => {
  assert.deepEqual(readdirSync(folder).toSorted(), Object.keys(leaks).toSorted());
});

for (const [name, isLeaking] of Object.entries(leaks))
  test(`leaks with the hole ${name}, and not in its twin`, async (t) => {
    const place = path.join(folder, name);

    assert.equal(await isLeaking(await serveProject(t, place)), true, "the hole");
    assert.equal(await isLeaking(await serveProject(t, path.join(place, "twin"))), false, "the twin");
  });
