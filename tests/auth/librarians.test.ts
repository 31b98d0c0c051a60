// The rights of librarians over the users of their library: `permissions` and `rules` of users, in a service with every
// endpoint below `/users/{id}`.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { hasRole, identityProviders, type OwnUserFields } from "../../src/door/auth.ts";
import { administrator, anyOf, authenticated } from "../../src/door/index.ts";
import { accountsCollection } from "../../src/features/auth/records/accounts.ts";
import {
  members,
  membersWithoutAddresses,
  startLibrary,
  type Library,
  type LibraryOptions,
  type Member,
} from "../harness/library.ts";
import { declare } from "../harness/provider-logins.ts";
import { withMail, type Answered } from "../harness/serve.ts";

const settings = { LATCHKEY_PUBLIC_URL: "https://library.example", ...withMail };
const password = "copper teapot 17";
const patchJSON = { "content-type": "application/json-patch+json" };
const form = { "content-type": "application/x-www-form-urlencoded" };
const accept = (type: string) => ({ accept: type });

/** Starts a library in which users may also log in at a provider. */
const startWholeLibrary = (t: TestContext, options: LibraryOptions = {}): Promise<Library> =>
  startLibrary(t, {
    settings,
    more: {
      features: ({ accounts, "session-login": sessions }) => [
        identityProviders(accounts, { sessions, providers: [declare("https://issuer.example")] }),
      ],
    },
    ...options,
  });

/** Returns the rows of a user and of the user's account. */
async function findRows({ api }: Library, { id }: Member): Promise<unknown> {
  const { store, mounts } = api.service;
  const users = mounts.find(({ resource }) => resource.path === "/users")!;
  return [await store.find(users.collection, id), await store.find(accountsCollection, id)];
}

/** Returns everything that is stored about a user and the user's logins. */
async function storedOf(library: Library, member: Member): Promise<unknown> {
  const below: string[] = [];
  for (const name of ["sessions", "keys", "factors", "identities", "token"]) {
    const { status, text } = await library.api.get(`/users/${member.id}/${name}`, library.api.admin);
    below.push(`${status} ${text.replace(/"request_id":"[^"]*"/, "")}`);
  }
  return { rows: await findRows(library, member), below };
}

/** The parts of a login, each with the value that Ben has if it can be guessed, and with another one. */
const parts = ({ ben }: Library): readonly (readonly [string, readonly unknown[]])[] => [
  ["email", [ben.email, "other@example.com"]],
  ["username", [ben.email, "ben", "other@example.com"]],
  ["password", [ben.password, password]],
  ["current_password", [ben.password, password]],
  ["end_keys", [true]],
  ["invite", [true, false]],
  ["role", ["admin", "user"]],
  ["active", [true, false]],
  ["password_hash", ["x"]],
  ["factors", [0]],
];

for (const [name, users] of [
  ["with rules", membersWithoutAddresses],
  ["without rules", members],
] as const) {
  test(`refuses every part of another user's login in every kind of write, ${name}`, async (t) => {
    const library = await startWholeLibrary(t, { users });
    const { api, lea, ben } = library;
    const path = `/users/${ben.id}`;
    const before = await storedOf(library, ben);
    const rows = await findRows(library, ben);
    const attempt = async (what: string, answer: Promise<Answered>): Promise<void> => {
      const { status, text } = await answer;
      assert.ok(status >= 400 && status < 500, `${what}: ${status} ${text}`);
      assert.deepEqual(await findRows(library, ben), rows, what);
    };

    for (const [part, values] of parts(library)) {
      for (const value of values) {
        if (part === "email" && value === ben.email && users === members) continue;
        const body = { name: "Ben 2", [part]: value };
        const what = JSON.stringify(body);
        await attempt(`PATCH ${what}`, api.patch(path, body, lea.headers));
        await attempt(`PUT ${what}`, api.put(path, body, lea.headers));
        for (const op of ["add", "replace", "test"])
          await attempt(
            `${op} ${what}`,
            api.patch(path, [{ op, path: `/${part}`, value }], { ...lea.headers, ...patchJSON }),
          );
        await attempt(`array ${what}`, api.patch("/users", [{ id: ben.id, ...body }], lea.headers));
        await attempt(`POST ${what}`, api.post("/users", { email: "new@example.com", ...body }, lea.headers));
        await attempt(
          `POST of an array ${what}`,
          api.post("/users", [{ email: "new@example.com", ...body }], lea.headers),
        );
        for (const method of ["POST", "PATCH", "PUT"])
          await attempt(
            `${method} of a form ${what}`,
            api.ask(method, path, { headers: { ...lea.headers, ...form }, body: `name=Ben&${part}=${String(value)}` }),
          );
      }
      for (const [op, from, to] of [
        ["copy", "/name", `/${part}`],
        ["move", "/name", `/${part}`],
        ["copy", `/${part}`, "/name"],
        ["move", `/${part}`, "/name"],
      ] as const)
        if (!(op === "copy" && from === "/email" && users === members))
          await attempt(
            `${op} ${from} ${to}`,
            api.patch(path, [{ op, from, path: to }], { ...lea.headers, ...patchJSON }),
          );
    }
    await attempt("a new user by PUT", api.put("/users/99", { name: "New", email: "new@example.com" }, lea.headers));
    await attempt("DELETE", api.delete(path, lea.headers));
    assert.deepEqual(await storedOf(library, ben), before);
    assert.equal((await api.get("/users", api.admin)).json.length, 4);
  });
}

test("tells a librarian nothing about the parts of a login, whatever is sent", async (t) => {
  const library = await startLibrary(t);
  const { api, lea, ben } = library;
  for (const [part, values] of parts(library)) {
    const answers = new Set<string>();
    for (const value of values) {
      const { status, json } = await api.patch(`/users/${ben.id}`, { [part]: value }, lea.headers);
      answers.add(JSON.stringify([status, json.code, json.errors]));
    }
    assert.equal(answers.size, 1, `${part}: ${[...answers].join(" ")}`);
  }
});

test("gives a librarian no endpoint below another user, and no role", async (t) => {
  const library = await startWholeLibrary(t);
  const { api, lea, ben } = library;
  const before = await storedOf(library, ben);
  const { paths } = (await api.get("/openapi.json")).json as { paths: Record<string, object> };
  const below = Object.entries(paths).filter(([path]) => path.startsWith("/users/{id}/"));
  for (const name of ["account", "sessions", "factors", "keys", "token", "identities", "act", "password", "email"])
    assert.ok(
      below.some(([path]) => path === `/users/{id}/${name}`),
      name,
    );
  for (const [path, operations] of below)
    for (const method of Object.keys(operations).filter((each) => /^(?:get|put|post|patch|delete)$/.test(each))) {
      const at = path.replace("{id}", String(ben.id)).replaceAll(/\{\w+\}/g, "1");
      const body = method === "get" ? {} : { body: { role: "admin", active: false, name: "x", provider: "company" } };
      const { status, text } = await api.ask(method.toUpperCase(), at, { headers: lea.headers, ...body });
      assert.equal(status, 403, `${method} ${at}: ${text}`);
    }
  assert.deepEqual(await storedOf(library, ben), before);

  for (const change of [{ role: "admin" }, { active: false }]) {
    const own = await api.patch(`/users/${lea.id}/account`, change, lea.headers);
    assert.ok([400, 403].includes(own.status), own.text);
  }
  assert.equal((await api.get(`/users/${lea.id}/account`, lea.headers)).json.role, "librarian");
});

test("lets librarians change their own login as every user does, and administrators that of others", async (t) => {
  const { api, lea, ben } = await startLibrary(t);
  const moved = { email: "lea2@example.com", current_password: lea.password };
  assert.deepEqual((await api.patch(`/users/${lea.id}`, moved, lea.headers)).json, {
    id: lea.id,
    name: "Lea",
    email: "lea2@example.com",
  });
  const given = { email: "ben2@example.com", username: "ben", password, current_password: "first-administrator" };
  assert.deepEqual((await api.patch(`/users/${ben.id}`, given, api.admin)).json, {
    id: ben.id,
    name: "Ben",
    email: "ben2@example.com",
  });
  assert.equal((await api.get(`/users/${ben.id}/account`, api.admin)).json.username, "ben");
});

test("lets a rule for `write` decide about a user's own record, and gives no login of others", async (t) => {
  const librarians = hasRole("librarian");
  const { api, lea, ben } = await startLibrary(t, {
    users: {
      ...members,
      rules: {
        name: { write: librarians },
        email: { read: administrator, write: authenticated },
        username: { write: anyOf(librarians, administrator) },
      },
    },
  });
  const patch = async ({ id }: Member, body: object, headers: Member["headers"]) => {
    const { status, json } = await api.patch(`/users/${id}`, body, headers);
    return [status, json.errors?.[0]];
  };
  const unknown = (name: string) => [
    400,
    { pointer: `/${name}`, code: "unknown_field", detail: "There is no field of this name." },
  ];
  for (const email of [ben.email, "x@example.com"])
    assert.deepEqual(await patch(ben, { email }, lea.headers), unknown("email"));
  for (const username of [ben.email, "benny"])
    assert.deepEqual(await patch(ben, { username }, lea.headers), unknown("username"));
  assert.equal((await patch(ben, { name: "Benny" }, ben.headers))[1].code, "read_only");
  assert.deepEqual(await patch(ben, { name: "Benny" }, lea.headers), [200, undefined]);

  const proof = { current_password: ben.password };
  assert.deepEqual(await patch(ben, { username: "benny", ...proof }, ben.headers), unknown("username"));
  assert.deepEqual(await patch(ben, { email: "ben2@example.com", ...proof }, ben.headers), [200, undefined]);
  const own = { username: "lea", current_password: lea.password };
  assert.deepEqual(await patch(lea, own, lea.headers), [200, undefined]);
  const given = { username: "ben", email: "ben3@example.com", current_password: "first-administrator" };
  assert.deepEqual(await patch(ben, given, api.admin), [200, undefined]);
});

test("keeps what a librarian leaves out of a whole record, and takes what stays the same", async (t) => {
  for (const users of [members, membersWithoutAddresses]) {
    const { api, lea, ben } = await startLibrary(t, { users });
    const path = `/users/${ben.id}`;
    const { json: seen } = await api.get(path, lea.headers);
    const kept = await api.put(path, { ...seen, name: "Benjamin" }, lea.headers);
    assert.deepEqual([kept.status, kept.json], [200, { ...seen, name: "Benjamin" }]);
    assert.equal((await api.put(path, { name: "Benno" }, lea.headers)).status, 200);
    assert.deepEqual((await api.get(path, api.admin)).json, { id: ben.id, name: "Benno", email: ben.email });
    assert.equal((await api.get(path, ben.headers)).status, 200, "the password still logs in");
  }
});

test("shows addresses of others to administrators alone, in every channel", async (t) => {
  const { api, lea, ben, cleo } = await startLibrary(t);
  const at = `/users/${ben.id}`;
  const where = (condition: object) => ({ body: { where: condition } });
  const requests: readonly (readonly [string, string, { body?: unknown; headers?: Record<string, string> }?])[] = [
    ["GET", "/users"],
    ["GET", "/users", { headers: accept("application/xml") }],
    ["GET", "/users", { headers: accept("text/csv") }],
    ["GET", "/users?fields=id,email"],
    ["GET", `/users?email=${ben.email}`],
    ["GET", "/users?email[starts]=ben"],
    ["GET", "/users?sort=email"],
    ["GET", "/users?sort=-email&limit=1"],
    ["GET", `/users?search=ben%20example`],
    ["GET", at],
    ["GET", at, { headers: accept("application/xml") }],
    ["GET", `${at}?fields=email`],
    ["GET", "/loans?expand=member"],
    ["GET", "/loans?expand=member", { headers: accept("application/xml") }],
    ["GET", "/loans/1?expand=member"],
    ["QUERY", "/users"],
    ["QUERY", "/users", where({ email: { starts: "ben" } })],
    ["QUERY", "/users", where({ not: { email: "x" } })],
    ["QUERY", "/users", { body: { sort: "email" } }],
    ["QUERY", "/users", { body: { fields: "email" } }],
    ["QUERY", "/users", { body: { search: "example" } }],
    ["QUERY", "/loans", { body: { expand: "member" } }],
    ["PATCH", at, { body: { name: "Ben 1" }, headers: { "idempotency-key": "ben-00001" } }],
    ["PATCH", at, { body: { name: "Ben 1" }, headers: { "idempotency-key": "ben-00001" } }],
    ["PUT", at, { body: { name: "Ben" } }],
    ["PATCH", at, { body: [{ op: "test", path: "/email", value: ben.email }], headers: patchJSON }],
    ["PATCH", at, { body: { name: "" } }],
    ["PATCH", at, { body: { name: "B" }, headers: { "if-match": '"x"' } }],
  ];
  for (const [method, path, { body, headers = {} } = {}] of requests) {
    const answer = await api.ask(method, path, { body, headers: { ...lea.headers, ...headers } });
    const what = `${method} ${path} ${JSON.stringify(body ?? "")}: ${answer.status} ${answer.text}`;
    assert.ok(![ben, cleo].some(({ email }) => answer.text.includes(email)), what);
    if (
      /sort=|email(?:=|\[)|fields=.*email/.test(path) ||
      /"(?:email|starts)"|: *"email"/.test(JSON.stringify(body ?? ""))
    )
      assert.ok(answer.status >= 400, what);
    if (/search/.test(path + JSON.stringify(body ?? ""))) assert.deepEqual(answer.json, [], what);
  }
  const shown = await api.get("/users?sort=email&search=com", api.admin);
  assert.deepEqual(
    shown.json.map(({ email }: { email: string }) => email),
    [ben, cleo, lea].map(({ email }) => email),
  );
  assert.equal((await api.get("/loans?expand=member", api.admin)).json[0].member.email, ben.email);
  assert.equal((await api.get("/loans?expand=member", lea.headers)).json[0].member.name, "Ben");
});

test("shows users their own name and address, also if a rule or a permission denies the rest", async (t) => {
  const rule = { read: administrator };
  const { api, lea, ben } = await startLibrary(t, {
    users: { ...members, rules: { name: rule, email: rule } },
  });
  for (const { id, email, password: own, headers, name } of [
    { ...lea, name: "Lea" },
    { ...ben, name: "Ben" },
  ]) {
    const whole = { id, name, email };
    assert.deepEqual((await api.get(`/users/${id}`, headers)).json, whole);
    assert.match((await api.get(`/users/${id}`, { ...headers, ...accept("application/xml") })).text, new RegExp(email));
    const login = await api.post("/api/session/", { username: email, password: own });
    assert.deepEqual(login.json.user, whole);
    const renamed = await api.patch(`/users/${id}`, { name }, headers);
    assert.deepEqual(renamed.json, whole);
  }
  assert.deepEqual((await api.get(`/users/${ben.id}`, lea.headers)).json, { id: ben.id });
});

test("replaces the default of a named action alone", async (t) => {
  const { api, lea, ben } = await startLibrary(t, {
    users: { ...members, permissions: { read: hasRole("librarian") } },
  });
  const path = `/users/${ben.id}`;
  assert.equal((await api.get(path, lea.headers)).status, 200);
  assert.equal((await api.get(path, ben.headers)).status, 403);
  assert.equal((await api.get(path, api.admin)).status, 403);
  assert.deepEqual((await api.get("/users", ben.headers)).json.length, 1);
  assert.equal((await api.get("/users", api.admin)).json.length, 4);
  assert.equal((await api.patch(path, { name: "x" }, lea.headers)).status, 403);
  assert.equal((await api.patch(path, { name: "B" }, ben.headers)).status, 204);
  assert.equal((await api.patch(path, { name: "Ben" }, api.admin)).status, 204);
  const login = await api.post("/api/session/", { username: ben.email, password: ben.password });
  assert.deepEqual(login.json.user, { id: ben.id, name: "Ben", email: ben.email }, "a login shows the own record");
});

test("lets a role delete users if `permissions` say so", async (t) => {
  const { api, lea, ben, cleo } = await startLibrary(t, {
    users: { ...members, permissions: { delete: hasRole("librarian") } },
  });
  assert.equal((await api.delete(`/users/${cleo.id}`, ben.headers)).status, 403);
  assert.equal((await api.delete(`/users/${cleo.id}`, lea.headers)).status, 204);
});

test("lets a role that may only replace users change no login of another user", async (t) => {
  const librarian = hasRole("librarian");
  const { api, lea, ben } = await startLibrary(t, {
    users: { ...members, permissions: { read: librarian, replace: librarian } },
  });
  const path = `/users/${ben.id}`;
  const { json: whole } = await api.get(path, lea.headers);
  for (const change of [{ email: "ben2@example.com" }, { username: "benny" }, { password: "copper teapot 18" }])
    assert.equal((await api.put(path, { ...whole, ...change }, lea.headers)).status, 400, JSON.stringify(change));
  assert.equal((await api.put(path, { ...whole, name: "Benno" }, lea.headers)).status, 200);
});

test("describes a rule for each part of a login if a role changes users, and otherwise no rule", async (t) => {
  const describe = async (users: OwnUserFields): Promise<readonly string[]> => {
    const { api } = await startLibrary(t, { users });
    const { properties } = (await api.get("/openapi.json")).json.components.schemas.UserPatch;
    const parts = ["email", "username", "password", "current_password", "end_keys"];
    return parts.filter((name) => String(properties[name].description).includes("administrators, and users for them"));
  };
  assert.deepEqual(await describe(members), ["email", "username", "password", "current_password", "end_keys"]);
  for (const rules of [{}, { name: { write: hasRole("librarian") } }])
    assert.deepEqual(await describe({ roles: members.roles, rules }), []);
});
