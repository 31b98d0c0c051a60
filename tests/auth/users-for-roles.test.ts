// Users for roles of a project: `permissions` and `rules` of `accounts()`.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { accountsCollection, hasRole, type AccountsOptions } from "../../src/door/auth.ts";
import { accounts, administrator, anyOf, basicLogin, integer, self, sessionLogin, text } from "../../src/door/index.ts";
import { email, open, password, serve, type Answered, type Own } from "../harness/own-logins.ts";
import { basicHeader } from "../harness/serve.ts";

const librarian = hasRole("librarian");
const staff = anyOf(administrator, librarian, self());

const library = {
  ...open,
  roles: ["user", "librarian", "admin"],
  fields: {
    card: text({ optional: true, maxLength: 20, read: librarian, write: librarian }),
    fines: integer({ default: 0, read: anyOf(librarian, administrator), write: administrator }),
  },
  permissions: { list: staff, read: staff, update: staff, replace: staff },
  rules: { email: { read: administrator } },
} satisfies AccountsOptions;

/** Starts a library with the administrator root, the librarian lea, and the members ada and ben. */
async function startLibrary(t: TestContext, options: AccountsOptions = library) {
  const people = accounts(options);
  const api = await serve(t, people, [basicLogin(people), sessionLogin(people)]);
  const ids: Record<string, number> = { ada: 1 };
  for (const name of ["ben", "lea", "root"]) {
    const made = await api.ask("POST", "/users", { name, email: `${name}@example.com`, password });
    assert.equal(made.status, 201, made.text);
    ids[name] = made.json.id;
  }
  const setRole = (name: string, role: string) =>
    api.service.store.write({
      changes: [{ kind: "update", collection: accountsCollection, key: ids[name]!, values: { role } }],
    });
  await setRole("lea", "librarian");
  await setRole("root", "admin");
  const as = (name: string) => basicHeader(name === "ada" ? email : `${name}@example.com`, password);
  return { api, ids, as };
}

const keys = ({ json }: Answered): readonly string[] => Object.keys(json);

test("lets a librarian list, read and rename users, and shows addresses to administrators alone", async (t) => {
  const { api, ids, as } = await startLibrary(t);

  const list = await api.get("/users", as("lea"));
  assert.equal(list.status, 200);
  assert.equal(list.json.length, 4);
  assert.deepEqual(list.json[1], { id: ids["ben"], name: "ben", card: null, fines: 0 });
  assert.deepEqual(keys(await api.get(`/users/${ids["ben"]}`, as("lea"))), ["id", "name", "card", "fines"]);
  assert.equal((await api.get("/users?search=ben@example", as("lea"))).json.length, 0, "the word is in the address");
  assert.equal((await api.get("/users?search=ben", as("lea"))).json.length, 1);
  for (const query of ["email=ben@example.com", "sort=email", "fields=email", "email[starts]=ben"])
    assert.equal((await api.get(`/users?${query}`, as("lea"))).status, 400, query);

  const renamed = await api.ask("PATCH", `/users/${ids["ben"]}`, { name: "Benjamin", card: "C-1" }, as("lea"));
  assert.deepEqual([renamed.status, renamed.json], [200, { id: ids["ben"], name: "Benjamin", card: "C-1", fines: 0 }]);
  const whole = await api.get(`/users/${ids["ben"]}`, as("root"));
  assert.deepEqual(whole.json, { id: ids["ben"], name: "Benjamin", email: "ben@example.com", fines: 0 });
});

test("changes no credential of another user for a librarian, and tells nothing about an address", async (t) => {
  const { api, ids, as } = await startLibrary(t);
  const path = `/users/${ids["ben"]}`;
  const unknown = (await api.ask("PATCH", path, { address: "x@example.com" }, as("lea"))).status;

  for (const address of ["ben@example.com", "other@example.com"]) {
    const refused = await api.ask("PATCH", path, { email: address }, as("lea"));
    assert.deepEqual([refused.status, refused.json.errors[0].code], [unknown, "unknown_field"], address);
  }
  for (const change of [{ password: "copper teapot 17" }, { username: "benny" }, { current_password: password }]) {
    const { status } = await api.ask("PATCH", path, change, as("lea"));
    assert.ok([200, 400, 403].includes(status));
    assert.equal((await api.get(path, as("ben"))).status, 200, "the old password still logs in");
  }
  assert.equal((await api.ask("PATCH", path, { fines: 3 }, as("lea"))).json.errors[0].code, "read_only");
  for (const [method, below] of [
    ["PATCH", "account"],
    ["GET", "account"],
    ["GET", "sessions"],
    ["DELETE", "sessions"],
    ["GET", "factors"],
  ] as const) {
    const body = method === "PATCH" ? { role: "admin" } : undefined;
    assert.equal((await api.ask(method, `${path}/${below}`, body, as("lea"))).status, 403, below);
  }
  assert.equal((await api.ask("DELETE", path, undefined, as("lea"))).status, 403);
});

test("answers every guess at an address, a username or a password of another user alike", async (t) => {
  const { email: rule, ...rules } = { email: library.rules.email };
  const blind = {
    ...library,
    rules: { ...rules, email: { ...rule, write: librarian }, username: { write: librarian } },
  };
  const open = { ...library, rules: {} };
  for (const options of [library, blind, open]) {
    const { api, ids, as } = await startLibrary(t, options);
    const path = `/users/${ids["ben"]}`;
    const guess = async (body: object): Promise<readonly unknown[]> => {
      const { status, json } = await api.ask("PATCH", path, body, as("lea"));
      return [status, json.code, json.detail, json.errors];
    };
    const hidden = options === open ? ["username"] : ["username", "email"];
    for (const name of hidden) {
      const answers = ["ben@example.com", "BEN@example.com", "free@example.com", "root@example.com"].map(
        async (value) => guess({ [name]: value }),
      );
      const [right, ...others] = await Promise.all(answers);
      assert.ok([400, 403].includes(right![0] as number), JSON.stringify(right));
      for (const other of others) assert.deepEqual(other, right, name);
    }
    assert.deepEqual(await guess({ username: "benny" }), await guess({ username: "ben@example.com" }));
    assert.deepEqual(await guess({ password: "copper teapot 17" }), await guess({ password }));
  }
});

test("lets an administrator who may not read addresses create users under an id, as with POST", async (t) => {
  const rules = { email: { read: hasRole("hr") }, name: { write: hasRole("hr") } };
  const { api, as } = await startLibrary(t, { ...library, roles: [...library.roles, "hr"], rules });
  const { status, json } = await api.ask("PUT", "/users/99", { name: "Kim", email: "kim@example.com" }, as("root"));
  assert.deepEqual([status, json], [201, { id: 99, name: "Kim", email: "kim@example.com", fines: 0 }]);
  const unnamed = await api.ask("PUT", "/users/98", { name: "Kim" }, as("root"));
  assert.deepEqual([unnamed.status, unnamed.json.errors?.[0].pointer], [400, "/email"]);
  assert.deepEqual(keys(await api.get("/users/99", as("root"))), ["id", "name", "fines"]);
  assert.equal((await api.ask("PUT", "/users/99", { name: "Kay" }, as("root"))).json.errors[0].code, "read_only");
  for (const address of ["kim@example.com", "ben@example.com", "free@example.com"]) {
    const refused = await api.ask("PATCH", "/users/99", { email: address }, as("root"));
    assert.deepEqual([refused.status, refused.json.errors?.[0].code], [400, "unknown_field"], address);
  }
});

test("refuses a field that only administrators set and that others may send without reading it", async (t) => {
  const start = async (score: object): Promise<Own> => {
    const people = accounts({ ...open, fields: { score: integer({ default: 0, ...score }) }, administered: ["score"] });
    return serve(t, people, [basicLogin(people)]);
  };
  await assert.rejects(
    start({ read: administrator }),
    /administered names score, which has a rule for read \(administrator\), so an answer would show its value; write write: administrator in its place/,
  );
  await start({ read: administrator, write: administrator });
  await start({});
});

test("keeps a field with a rule for `read` out of the identity, because clients can read the claims of tokens", async (t) => {
  const start = async (rule: object): Promise<Own> => {
    const people = accounts({ ...open, fields: { team: integer({ default: 0, ...rule }) }, identity: ["team"] });
    return serve(t, people, [basicLogin(people)]);
  };
  await assert.rejects(
    start({ read: administrator }),
    /identity names team, which has a rule for read \(administrator\), but clients can read the claims of tokens/,
  );
  await start({ write: administrator });
});

test("shows users their own name and address, and not the fields that their rules deny", async (t) => {
  const { api, ids, as } = await startLibrary(t);
  const own = { id: 1, name: "Ada", email };

  assert.deepEqual((await api.get("/users/1", as("ada"))).json, own);
  assert.deepEqual((await api.get("/users", as("ada"))).json, [own]);
  const session = await api.ask("POST", "/api/session/", { username: email, password });
  assert.deepEqual(session.json.user, own);
  const cookie = { cookie: session.headers.getSetCookie()[0]!.split(";")[0]! };
  assert.deepEqual((await api.get("/api/session/", cookie)).json.user, own);
  const moved = await api.ask(
    "PATCH",
    "/users/1",
    { email: "ada2@example.com", current_password: password },
    as("ada"),
  );
  assert.deepEqual([moved.status, moved.json], [200, { ...own, email: "ada2@example.com" }]);
  assert.equal(
    (await api.ask("PATCH", `/users/${ids["ben"]}`, { name: "x" }, basicHeader("ada2@example.com", password))).status,
    403,
  );
});

test("lets users change their own name only if the rule for sending allows them, and create theirs in any case", async (t) => {
  const { api, as } = await startLibrary(t, { ...library, rules: { name: { write: librarian } } });

  const refused = await api.ask("PATCH", "/users/1", { name: "Countess" }, as("ada"));
  assert.deepEqual([refused.status, refused.json.errors?.[0].code], [400, "read_only"]);
  const allowed = await api.ask("PATCH", "/users/3", { name: "Lea L." }, as("lea"));
  assert.deepEqual([allowed.status, allowed.json.name], [200, "Lea L."]);
});

test("lets users change their own address by the rule for sending alone, and others only administrators too", async (t) => {
  const { api, as } = await startLibrary(t, { ...library, rules: { email: { write: librarian } } });
  const move = async (id: number, name: string) => {
    const body = { email: `new-${name}@example.com`, current_password: password };
    const { status, json } = await api.ask("PATCH", `/users/${id}`, body, as(name));
    return [status, json.errors?.[0].code ?? null];
  };

  assert.deepEqual(await move(1, "ada"), [400, "read_only"]);
  assert.deepEqual(await move(1, "lea"), [400, "read_only"]);
  assert.deepEqual(await move(3, "lea"), [200, null]);
});

test("takes one permission of several fields of users as one rule", async (t) => {
  const start = async (count: number): Promise<Own> => {
    const names = [...Array(count)].map((_, at) => `role_${at}`);
    const fields = names.map((role) => [role, text({ optional: true, read: hasRole(role) })] as const);
    const rules = { name: { read: librarian }, username: { write: administrator }, email: { read: librarian } };
    const people = accounts({
      ...open,
      roles: ["user", "librarian", ...names, "admin"],
      fields: Object.fromEntries(fields),
      rules,
    });
    return serve(t, people, [basicLogin(people)]);
  };
  // Three rules are of the built-in fields: to read name and email, to send username, and to send email.
  await start(9);
  await assert.rejects(start(10), /13 different rules/);
});

test("keeps a misspelt action or field of users from starting", async (t) => {
  const start = async (options: object): Promise<Own> => {
    const people = accounts({ ...open, ...options });
    return serve(t, people, [basicLogin(people)]);
  };
  await assert.rejects(start({ permissions: { create: administrator } }), /registration decides who creates users/);
  await assert.rejects(start({ permissions: { lists: administrator } }), /no option lists; did you mean list/);
  await assert.rejects(start({ rules: { mail: { read: administrator } } }), /no option mail/);
  await assert.rejects(start({ rules: { email: { readable: administrator } } }), /no option readable/);
  await assert.rejects(start({ rules: { email: { read: hasRole("clerk") } } }), /requires the role clerk/);
  await assert.rejects(start({ rules: { email: { read: self() } } }), /narrows to rows/);
  for (const malformed of [null, "librarian"]) {
    await assert.rejects(start({ permissions: malformed }), /permissions is [^]*it has to be permissions by action/);
    await assert.rejects(start({ rules: malformed }), /rules is [^]*it has to be rules by field/);
    await assert.rejects(
      start({ rules: { email: malformed } }),
      /email is [^]*it has to be like \{ read: administrator/,
    );
  }
});
