// Usernames are equal without regard to case in all of Unicode: a new name that equals another is taken, and a login
// finds the account under each spelling. Usernames of earlier versions, which compared by lower case, stay different
// accounts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { accountsCollection } from "../../src/door/auth.ts";
import { makeNamesUpkeep } from "../../src/features/auth/accounts/names-upkeep.ts";
import { namesCollection } from "../../src/features/auth/records/names.ts";
import type { BuiltIn } from "../../src/service/built-in.ts";
import { importUsers } from "../../src/service/records/import-users.ts";
import { arrive } from "../harness/arrive.ts";
import { basicHeader, serve, withMail, type Answered, type API } from "../harness/serve.ts";
import { sharedDatabase } from "../harness/test-store.ts";

/** Spellings that case folding makes equal. The first two differ in lower case. */
const equal = [
  ["ΑΣ", "ασ", "Ας", "αΣ"],
  ["ſmith", "smith", "SMITH", "Smith"],
  ["miſſ", "MISS", "miſs"],
  ["µ", "μ", "Μ"],
  ["ϐαθύς", "βαϑύσ", "ΒΑΘΎΣ"],
  ["ﬅ", "ﬆ"],
  ["ᲀод", "ВОД", "вᲂᲁ"],
  ["ẛ", "Ṡ", "S\u0307", "ſ\u0307"],
  ["ϰ ϖ ϱ ϵ ϕ", "κ π ρ ε φ"],
  // A capital and its mark are two characters, and the small letter is one.
  ["ΜΑΪ́ΟΥ", "μαΐου", "Μαΐου"],
  ["ǰſ", "J̌S", "J̌ſ"],
] as const;

/** Spellings that lower case makes equal, of a name that no other lower case can equal. */
const alike = ["grace", "GRACE", "gRaCe"] as const;

/** Spellings that are different names, although other foldings make them equal. */
const different = [
  ["ß", "ss"],
  ["ﬁ", "fi"],
  ["i", "ı"],
  ["ŉ", "ʼn"],
] as const;

const password = "a password for the tests";
let made = 0;
const newcomer = (username: string) => ({ name: "Someone", email: `user${++made}@example.com`, username });

const create = (api: API, username: string, more = {}) =>
  api.post("/users", { ...newcomer(username), password, ...more }, api.admin);

async function create201(api: API, username: string): Promise<number> {
  const reply = await create(api, username);
  assert.equal(reply.status, 201, `${username}: ${reply.text}`);
  return reply.json.id;
}

async function whoIs(api: API, username: string, word = password): Promise<number | null> {
  const { status, json } = await api.post("/api/session/", { username, password: word });
  api.clock.turn(61);
  return status === 201 ? json.user.id : null;
}

/** Creates a user whose username is written as by a version that knows no folded names. */
async function createAsOlder(api: API, username: string): Promise<number> {
  const id = await create201(api, `older${++made}`);
  await writeAsOlder(api, id, username);
  const where = { column: "user_id", operator: "eq", value: id } as const;
  await api.service.store.write({ changes: [{ kind: "deleteAll", collection: namesCollection, where }] });
  return id;
}

async function writeAsOlder(api: API, id: number, username: string): Promise<void> {
  const { kind } = await api.service.store.write({
    changes: [{ kind: "update", collection: accountsCollection, key: id, values: { username } }],
  });
  assert.equal(kind, "written");
}

async function upkeep(api: API): Promise<number> {
  return makeNamesUpkeep({ store: api.service.store, observe: () => assert.fail() }).run();
}

async function readNames(api: API): Promise<readonly unknown[]> {
  const rows = await api.service.store.list({
    collection: accountsCollection,
    where: null,
    sort: [{ column: "id" }],
    limit: 100,
  });
  return rows.map(({ revision, record }) => [record["id"], record["username"], revision]);
}

const taken = [409, "taken", "/username"];
const problemOf = ({ status, json }: Answered) => [status, json?.code, json?.errors?.[0]?.pointer];

test("refuses a new name that equals another in any case, whoever chooses it and wherever", async (t) => {
  const api = await serve(t, { config: { registration: "open" } });
  const ann = await api.user("Ann");
  const proof = { current_password: ann.password };
  for (const [first, ...others] of [...equal, alike]) {
    const owner = await create201(api, first);
    for (const other of others) {
      const attempts = {
        "an administrator": await create(api, other),
        "an administrator, without a password": await api.post("/users", newcomer(other), api.admin),
        "a sign-up": await api.post("/users", { ...newcomer(other), password }),
        "PATCH /users": await api.patch(`/users/${ann.id}`, { username: other, ...proof }, ann.headers),
        "PATCH /account": await api.patch(`/users/${ann.id}/account`, { username: other, ...proof }, ann.headers),
        "PATCH of an administrator": await api.patch(`/users/${ann.id}/account`, { username: other }, api.admin),
      };
      api.clock.turn(61);
      for (const [how, reply] of Object.entries(attempts))
        assert.deepEqual(problemOf(reply), taken, `${how}: ${other} beside ${first}`);
      const renamed = await api.patch(`/users/${owner}/account`, { username: other }, api.admin);
      assert.equal(renamed.status, 200, `the owner of ${first}: ${renamed.text}`);
    }
  }
});

test("takes names that are equal only by other rules", async (t) => {
  const api = await serve(t);
  for (const names of different) {
    const ids = [await create201(api, names[0]), await create201(api, names[1])];
    assert.deepEqual([await whoIs(api, names[0]), await whoIs(api, names[1])], ids);
  }
});

test("logs in under every spelling of the username, by each way to send it", async (t) => {
  const api = await serve(t);
  for (const names of equal) {
    const id = await create201(api, names[0]);
    for (const name of names) {
      assert.equal(await whoIs(api, name), id, name);
      assert.equal((await api.get("/protected/", basicHeader(name, password))).json.user?.id, id, name);
      assert.equal((await api.post("/api/token/", { username: name, password })).status, 200, name);
      assert.equal((await api.post("/api/token/", { username: name, password: "another" })).status, 401, name);
    }
  }
});

test("gives a name to one of several users who choose it at once, in two services", async (t) => {
  const { url } = await sharedDatabase(t);
  const settings = { LATCHKEY_DATABASE: url, LATCHKEY_SECRET: "a secret that both of the services know" };
  const services = [await serve(t, { settings }), await serve(t, { settings })];
  for (const names of [...equal, alike]) {
    const replies = await Promise.all(
      [...names, ...names].map((name, at) => services[at % 2]!.post("/users", newcomer(name), services[0]!.admin)),
    );
    assert.deepEqual(
      replies.map(({ status }) => status).toSorted((one, other) => one - other),
      [201, ...replies.slice(1).map(() => 409)],
      names[0],
    );
    for (const reply of replies) if (reply.status !== 201) assert.deepEqual(problemOf(reply), taken);
  }
});

test("gives a name free again after its owner has another one or is deleted", async (t) => {
  const api = await serve(t);
  const first = await create201(api, "ſmith");
  await api.patch(`/users/${first}/account`, { username: "jones" }, api.admin);
  const second = await create201(api, "smith");
  assert.equal((await api.delete(`/users/${second}`, api.admin)).status, 204);
  assert.equal((await create(api, "ſMITH")).status, 201);
});

test("stores the case folding of names that another lower case can equal, and of no others", async (t) => {
  const api = await serve(t);
  const id = await create201(api, "grace");
  const expected = { grace: [], ſmith: ["smith"], GRACE: [], Smith: ["smith"], αΣ: ["ασ"], "\u212A": ["k"], k: [] };
  for (const [username, folded] of Object.entries(expected)) {
    await api.patch(`/users/${id}/account`, { username }, api.admin);
    const where = { column: "user_id", operator: "eq", value: id } as const;
    const rows = await api.service.store.list({ collection: namesCollection, where, sort: [], limit: 2 });
    assert.deepEqual(
      rows.map(({ record }) => record["username"]),
      folded,
      username,
    );
    for (const spelling of [username, username.toLowerCase(), username.toUpperCase()])
      assert.deepEqual(problemOf(await create(api, spelling)), taken, spelling);
  }
});

test("refuses names that are equal in any case in an import, also within the file", async (t) => {
  let builtIn: BuiltIn | null = null;
  const api = await serve(t, { config: { features: (each) => ((builtIn = each), []) } });
  const people = api.service.use(builtIn!.accounts);
  await create201(api, "smith");
  const names = ["ſmith", "ΑΣ", "Jones", "ασ", "joneſ", "ϐ"];
  const lines = names.map((username, at) => ({
    line: at + 1,
    record: { name: "Imported", email: `imported${at}@example.com`, username },
  }));

  const into = { store: api.service.store, people };
  const { imported, refused } = await importUsers(into, lines, { now: api.clock.now });

  assert.deepEqual([imported, refused.map(({ line }) => line)], [3, [1, 4, 5]], JSON.stringify(refused));
  for (const { reasons } of refused) assert.deepEqual(reasons, ["username: another user has it already."]);
});

test("refuses a verified sign-up and a moved address whose username equals another in any case", async (t) => {
  const api = await serve(t, { settings: { LATCHKEY_REGISTRATION: "verified", ...withMail } });
  await create201(api, "ſmith");
  await create201(api, "ſ@example.com");
  const confirm = async (email: string, more = {}) => {
    await api.post("/users", { name: "Someone", email });
    const code = (await api.mails())[0]!.text.match(/\d{8}/)![0];
    api.clock.turn(61);
    return api.post("/api/email/confirm/", { email, code, password, ...more });
  };

  assert.deepEqual(problemOf(await confirm("one@example.com", { username: "smith" })), taken);
  assert.deepEqual(problemOf(await confirm("s@example.com")), taken);

  const tom = await api.user("Tom");
  const move = { email: "S@example.com", current_password: tom.password };
  assert.equal((await api.post(`/users/${tom.id}/email`, move, tom.headers)).status, 202);
  const code = (await api.mails())[0]!.text.match(/\d{8}/)![0];
  const moved = await api.post("/api/email/confirm/", { email: move.email, code }, tom.headers);
  assert.deepEqual(problemOf(moved), taken);
});

const proxy = "10.0.0.1";
const proxied = {
  LATCHKEY_SCHEMES: "basic,session,token,bearer,remote-user",
  LATCHKEY_TRUSTED_PROXIES: proxy,
  LATCHKEY_REMOTE_USER_CREATE: "true",
};

/** Sends a request through the proxy, which names this user. Returns the id of the user, or the code of the problem. */
async function remote(api: API, username: string): Promise<unknown> {
  const { status, json } = await arrive(api, "/protected/", {
    peer: proxy,
    headers: [
      ["X-Forwarded-Proto", "https"],
      ["X-Remote-User", Buffer.from(username).toString("latin1")],
      ["X-Remote-Email", `remote${++made}@example.com`],
    ],
  });
  return status === 200 ? json.user.id : json.code;
}

test("binds no identity of a proxy to an account whose username is equal by case folding only", async (t) => {
  const api = await serve(t, { settings: proxied });
  for (const [first, second] of equal) {
    const id = await create201(api, second);
    assert.equal(await remote(api, first), "identity_not_bound", first);
    assert.equal(await remote(api, second), id, second);
    assert.equal(await remote(api, first), "identity_not_bound", first);
  }
});

test("makes one user of a proxy for equal names, also at once", async (t) => {
  const api = await serve(t, { settings: proxied });
  const answers = await Promise.all(
    equal.map(async ([first, second]) => [await remote(api, first), await remote(api, second)]),
  );
  for (const [id, refused] of answers) assert.deepEqual([typeof id, refused], ["number", "identity_not_bound"]);
  const both = await Promise.all([remote(api, "riſe"), remote(api, "rise")]);
  assert.deepEqual(both.map((each) => typeof each).toSorted(), ["number", "string"], String(both));
});

async function tryFrom(api: API, peer: string, username: string, word = "wrong"): Promise<number> {
  const headers = [["Authorization", basicHeader(username, word).authorization] as const];
  return (await arrive(api, "/protected/", { peer, encrypted: true, headers })).status;
}

test("counts the tries with all spellings of a username together, with and without an account", async (t) => {
  const api = await serve(t);
  await create201(api, "smith");
  await create201(api, "µ");
  for (const [name, other] of [
    ["smith", "ſmith"],
    ["ſmith", "SMITH"],
    ["µ", "Μ"],
    ["Μ", "µ"],
    ["ϐ", "β"],
    ["Β", "ϐ"],
  ] as const) {
    api.clock.turn(3600);
    for (let turn = 0; turn < 10; turn++) assert.equal(await tryFrom(api, `192.0.2.${turn}`, name), 401);
    assert.equal(await tryFrom(api, "192.0.2.200", other, password), 429, `${name}, ${other}`);
  }
});

const older = [
  ["ΑΣ", "ασ"],
  ["ſmiſs", "smiss", "ſmiss"],
  ["ϐϐ", "ββ"],
];

test("keeps equal names of an earlier version apart, and finds no account under a third spelling", async (t) => {
  const api = await serve(t);
  const groups: (readonly [string, number])[][] = [];
  for (const names of older) {
    const users = [];
    for (const name of names) users.push([name, await createAsOlder(api, name)] as const);
    groups.push(users);
  }
  const check = async () => {
    for (const [name, id] of groups.flat()) assert.equal(await whoIs(api, name), id, name);
  };

  await check();
  const before = await readNames(api);
  assert.deepEqual([await upkeep(api), await upkeep(api)], [4, 0]);
  assert.deepEqual(await readNames(api), before);
  await check();
  for (const third of ["smiſs", "ϐβ"]) {
    assert.equal(await whoIs(api, third), null, third);
    assert.deepEqual(problemOf(await create(api, third)), taken, third);
  }

  // The last one of equal names is found under each spelling, and no other user can take them.
  for (const [, id] of groups[1]!.slice(0, 2)) assert.equal((await api.delete(`/users/${id}`, api.admin)).status, 204);
  for (const spelling of ["smiſs", "SMISS", "ſmiſſ"]) {
    assert.equal(await whoIs(api, spelling), groups[1]![2]![1], spelling);
    assert.deepEqual(problemOf(await create(api, spelling)), taken, spelling);
    assert.deepEqual(problemOf(await api.post("/users", newcomer(spelling), api.admin)), taken, spelling);
  }
});

test("follows an earlier version that writes beside this one", async (t) => {
  const api = await serve(t);
  const old = await createAsOlder(api, "ſmith");
  const plain = await createAsOlder(api, "rise");
  assert.deepEqual(problemOf(await create(api, "riſe")), taken, "a name that both foldings fold alike needs no upkeep");
  const unchecked = await api.post("/users", newcomer("riſe"), api.admin);
  assert.deepEqual(problemOf(unchecked), taken, "the transaction itself refuses it too");
  assert.equal(await whoIs(api, "riſe"), plain);
  assert.equal(await upkeep(api), 1);
  assert.equal(await whoIs(api, "smith"), old);

  await writeAsOlder(api, old, "joneſ");
  assert.equal(await whoIs(api, "smith"), null);
  assert.equal(await upkeep(api), 1);
  assert.deepEqual([await whoIs(api, "jones"), await whoIs(api, "smith")], [old, null]);
  const next = await create201(api, "smith");
  assert.equal(await whoIs(api, "ſmith"), next);
});

test("never lets a custom token act as another user with an equal name", async (t) => {
  const { url } = await sharedDatabase(t);
  const settings = {
    LATCHKEY_DATABASE: url,
    LATCHKEY_SECRET: "a secret that both of the services know",
  };
  const before = await serve(t, { settings });
  const smith = await create201(before, "smith");
  const token = "a-token-of-32-characters-or-more";
  const api = await serve(t, {
    settings: {
      ...settings,
      LATCHKEY_SCHEMES: "basic,session,token,bearer,custom-header",
      LATCHKEY_CUSTOM_TOKEN: token,
      LATCHKEY_CUSTOM_TOKEN_USERNAME: "smith",
    },
  });
  const ask = async () => (await api.get("/protected/", { "x-custom-token": token })).json.user?.id;
  assert.equal(await ask(), smith);
  await api.delete(`/users/${smith}`, api.admin);
  await create201(api, "ſmith");
  assert.equal(await ask(), undefined);
});

test("takes no address with letters beyond ASCII, so lower case finds every spelling of an address", async (t) => {
  const api = await serve(t, { config: { registration: "open" }, settings: withMail });
  await api.post("/users", { name: "Someone", email: "s@example.com", password }, api.admin);
  for (const email of ["ſ@example.com", "s@exampleſ.com", "\u212A@example.com"]) {
    assert.equal((await api.post("/users", { name: "Someone", email, password })).status, 400, email);
    assert.equal((await api.post("/users", { name: "Someone", email }, api.admin)).status, 400, email);
    assert.equal((await api.post("/api/password/reset/", { email })).status, 400, email);
  }
  assert.deepEqual(await api.mails(), []);
});
