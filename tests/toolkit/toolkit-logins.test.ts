import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import {
  customHeaderLogin,
  issuerLogin,
  namedKeys,
  remoteUserLogin,
  revocationsCollection,
  sessionsCollection,
  type AccountsFeature,
  type AccountsOptions,
  type IssuerDeclaration,
} from "../../src/door/auth.ts";
import {
  accounts,
  apiTokens,
  basicLogin,
  createService,
  rejected,
  Secret,
  sessionLogin,
  text,
  tokenLogin,
  type Feature,
  type Scheme,
} from "../../src/door/index.ts";
import { DeclarationError } from "../../src/door/resources.ts";
import { sqliteStore } from "../../src/door/stores.ts";
import { admittedBy } from "../harness/admitted.ts";
import { email, notes, open, password, secret, serve, type Answered, type Own } from "../harness/own-logins.ts";
import { basicHeader } from "../harness/serve.ts";
import { sharedDatabase } from "../harness/test-store.ts";

type Headers = Readonly<Record<string, string>>;

/** A login: its feature, and the functions and headers with which the tests use it. */
interface Way {
  make(people: AccountsFeature): Feature;
  /** Returns headers that log ada in. */
  logIn(api: Own, feature: Feature): Promise<Headers>;
  /** Headers that must not log in. */
  readonly wrong: Headers;
  /** A path that only this login has, or null if the login has no path. */
  readonly path: string | null;
  /** The name of the scheme. */
  readonly scheme: string;
}

const login = { username: email, password };
const elsewhere = generateKeyPairSync("ed25519");
const declaration: IssuerDeclaration = {
  issuer: "https://login.example",
  audience: "us",
  jwksURL: "https://login.example/keys",
  algorithms: ["EdDSA"],
};

function tokenFromElsewhere(now: number): string {
  const claims = { iss: declaration.issuer, aud: "us", sub: "a-1", preferred_username: email, exp: now / 1000 + 300 };
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${encode({ alg: "EdDSA", kid: "one" })}.${encode(claims)}`;
  return `${signed}.${sign(null, Buffer.from(signed), elsewhere.privateKey).toString("base64url")}`;
}

const ways = {
  basic: {
    make: (people) => basicLogin(people),
    logIn: async () => basicHeader(email, password),
    wrong: basicHeader(email, "another-engine"),
    path: null,
    scheme: "basic",
  },
  session: {
    make: (people) => sessionLogin(people),
    async logIn({ ask }) {
      const { status, headers } = await ask("POST", "/api/session/", login);
      assert.equal(status, 201);
      return { cookie: headers.getSetCookie()[0]!.split(";")[0]! };
    },
    wrong: { cookie: `session=${"A".repeat(43)}` },
    path: "/api/session/",
    scheme: "session",
  },
  tokens: {
    make: (people) => tokenLogin(people),
    logIn: async ({ ask }) => ({ authorization: `Bearer ${(await ask("POST", "/api/token/", login)).json.access}` }),
    wrong: { authorization: "Bearer abc.def.ghi" },
    path: "/api/token/",
    scheme: "bearer",
  },
  "api tokens": {
    make: (people) => apiTokens(people),
    logIn: async ({ ask }) => ({ authorization: `Token ${(await ask("POST", "/api-token-auth/", login)).json.token}` }),
    wrong: { authorization: "Token lk_AAAAAAAAAAAAAAAA" },
    path: "/api-token-auth/",
    scheme: "token",
  },
  keys: {
    make: (people) => namedKeys(people),
    async logIn({ service, clock }, feature) {
      const keys = service.use(feature as ReturnType<typeof namedKeys>);
      const keyOptions = { name: "laptop", scopes: ["read", "write"], expiresAt: null };
      return {
        authorization: `Token ${(await keys.create(await admittedBy(service.store, 1), keyOptions, clock.now)).key}`,
      };
    },
    wrong: { authorization: "Token lk_AAAAAAAAAAAAAAAA" },
    path: "/users/1/keys",
    scheme: "token",
  },
  "remote user": {
    make: (people) => remoteUserLogin(people, { create: true }),
    logIn: async () => ({ "x-remote-user": "colleague", "x-remote-email": "colleague@example.com" }),
    wrong: { "x-remote-user": "not:a:name" },
    path: null,
    scheme: "remote-user",
  },
  "custom header": {
    make: (people) => customHeaderLogin(people, { token: new Secret("open sesame, all of you"), username: email }),
    logIn: async () => ({ "x-custom-token": "open sesame, all of you" }),
    wrong: { "x-custom-token": "open barley" },
    path: null,
    scheme: "custom-header",
  },
  issuers: {
    make: (people) =>
      issuerLogin(people, {
        issuers: [{ ...declaration, usernameClaim: "preferred_username" }],
        fetch: async () =>
          new Response(
            JSON.stringify({ keys: [{ ...elsewhere.publicKey.export({ format: "jwk" }), kid: "one", alg: "EdDSA" }] }),
          ),
      }),
    async logIn({ service, clock }, feature) {
      const [people] = feature.needs as [AccountsFeature];
      const identity = { issuer: declaration.issuer, subject: "a-1" };
      await service.use(people).accounts.bindings.bind(1, identity, clock.now);
      return { authorization: `Bearer ${tokenFromElsewhere(clock.now)}` };
    },
    wrong: { authorization: "Bearer abc.def.ghi" },
    path: null,
    scheme: "bearer",
  },
} as const satisfies Record<string, Way>;

const names = Object.keys(ways) as (keyof typeof ways)[];
for (const name of names) {
  const way: Way = ways[name];

  test(`logs a user in if ${name} is the only login, and refuses wrong or missing credentials`, async (t) => {
    const people = accounts(open);
    const feature = way.make(people);
    const api = await serve(t, people, [feature]);

    const headers = await way.logIn(api, feature);

    assert.equal((await api.get("/notes", headers)).status, 200);
    assert.ok([401, 403].includes((await api.get("/notes", way.wrong)).status));
    assert.ok([401, 403].includes((await api.get("/notes")).status));
    for (const other of names) {
      const path = ways[other].path;
      if (path !== null && path !== way.path) assert.equal((await api.ask("OPTIONS", path)).status, 404, path);
    }
  });

  test(`keeps the other logins working if ${name} is left out`, async (t) => {
    const people = accounts(open);
    const others = names
      .filter((other) => other !== name)
      .map((other) => [ways[other] as Way, ways[other].make(people)] as const);
    const api = await serve(
      t,
      people,
      others.map(([, feature]) => feature),
    );

    for (const [other, feature] of others)
      assert.equal((await api.get("/notes", await other.logIn(api, feature))).status, 200);
    if (way.path !== null) assert.equal((await api.ask("OPTIONS", way.path)).status, 404);
  });
}

test("accepts the credentials of any two combined logins, and refuses wrong ones", async (t) => {
  for (const [at, one] of names.entries()) {
    for (const other of names.slice(at + 1)) {
      const people = accounts(open);
      const pair = [one, other].map((name) => [ways[name] as Way, ways[name].make(people)] as const);
      const api = await serve(
        t,
        people,
        pair.map(([, feature]) => feature),
      );
      for (const [way, feature] of pair) {
        assert.equal((await api.get("/notes", await way.logIn(api, feature))).status, 200, `${one} and ${other}`);
        assert.ok([401, 403].includes((await api.get("/notes", way.wrong)).status), `${one} and ${other}`);
      }
    }
  }
});

test("uses the same features in two services, which share no state", async (t) => {
  const people = accounts(open);
  const logins = names.map((name) => ways[name].make(people));
  const one = await serve(t, people, logins);
  const other = await serve(t, people, logins, { secret: new Secret("another secret of the other service") });
  const headers = await ways.tokens.logIn(one);

  assert.equal((await one.get("/notes", headers)).status, 200);
  assert.equal((await other.get("/notes", headers)).status, 401);
  assert.equal((await other.get("/notes", await ways.session.logIn(one))).status, 401);
});

test("stops the start for a login without its accounts, or without a secret, and explains why", async () => {
  const people = accounts(open);
  const collectMistakes = async (features: readonly Feature[], withSecret = true): Promise<readonly string[]> => {
    const store = sqliteStore({ path: ":memory:" });
    try {
      await (await createService({ store, features, ...(withSecret ? { secret } : {}) })).close();
      return [];
    } catch (error) {
      assert.ok(error instanceof DeclarationError, String(error));
      return error.mistakes;
    }
  };
  const all = names.map((name) => ways[name].make(people));
  const lacksSecret = "it needs the service's secret; give createService one: secret: new Secret(…)";

  assert.deepEqual(await collectMistakes([basicLogin(people), tokenLogin(accounts())]), [
    "feature basic-login needs accounts, which is not in the list; add it",
    "feature token-login needs accounts, which is not in the list; add it",
  ]);
  assert.deepEqual(
    await collectMistakes([people, ...all], false),
    ["token-login", "api-tokens", "named-keys"].map((name) => `feature ${name}: ${lacksSecret}`),
  );
  const [twice] = await collectMistakes([people, sessionLogin(people), sessionLogin(people)]);
  assert.equal(twice, "two features are called session-login; leave one out, or give it another name");
  const misspelt = { registraton: "open", outsideCredentialsSeconds: -1 } as AccountsOptions;
  assert.deepEqual(await collectMistakes([accounts(misspelt)]), [
    "feature accounts: there is no option registraton; did you mean registration?",
    "feature accounts: outsideCredentialsSeconds is -1; it has to be a whole number of seconds from 0",
  ]);
  assert.deepEqual(await collectMistakes([people, sessionLogin(people, { idleSeconds: 0.5 })]), [
    "feature session-login: idleSeconds is 0.5; it has to be a whole number of seconds from 1",
  ]);
  assert.deepEqual(await collectMistakes([accounts({ fields: { email: text(), city: text() } })]), [
    "feature accounts: users have the field email already; give yours another name",
    "feature accounts: the field city of users is required, but the first administrator, imported users and users from a proxy are created without it; make it optional, or give it a default",
  ]);
});

test("refuses to start with a custom scheme that has the name of a built-in one", async () => {
  const people = accounts();
  const mine: Scheme = {
    name: "bearer",
    carriers: [{ in: "authorization", scheme: "bearer" }],
    authenticate: () => rejected("unknown"),
  };
  const store = sqliteStore({ path: ":memory:" });

  await assert.rejects(
    createService({ store, secret, features: [people, tokenLogin(people)], schemes: [mine] }),
    (error) => {
      assert.ok(error instanceof DeclarationError);
      assert.match(error.mistakes.join(), /the scheme bearer is there twice/);
      return true;
    },
  );
});

test("revokes sessions and access tokens when the password changes, and API tokens and keys only on request", async (t) => {
  const people = accounts(open);
  const made = names.map((name) => [name, ways[name].make(people)] as const);
  const api = await serve(
    t,
    people,
    made.map(([, feature]) => feature),
  );
  const kinds = ["session", "tokens", "api tokens", "keys"] as const;
  const headers = new Map<string, Headers>();
  for (const kind of kinds) headers.set(kind, await ways[kind].logIn(api, made.find(([name]) => name === kind)![1]));
  const living = async (): Promise<readonly string[]> => {
    const statuses = await Promise.all(
      kinds.map(async (kind) => [kind, (await api.get("/notes", headers.get(kind))).status] as const),
    );
    return statuses.filter(([, status]) => status === 200).map(([kind]) => kind);
  };
  const change = (proof: string, next: string, more = {}): Promise<Answered> =>
    api.ask("PATCH", "/users/1", { password: next, current_password: proof, ...more }, basicHeader(email, proof));

  assert.deepEqual(await living(), kinds);
  assert.equal((await change(password, "analytical-engine")).status, 200);
  assert.deepEqual(await living(), ["api tokens", "keys"]);
  assert.equal((await change("analytical-engine", "the-engine-of-three", { end_keys: true })).status, 200);
  assert.deepEqual(await living(), []);
});

test("deletes the credentials of a disabled login when the password changes, so that none becomes valid again", async (t) => {
  const database = await sharedDatabase(t);
  const people = accounts(open);
  const on = [basicLogin(people), sessionLogin(people), apiTokens(people)];
  const first = await serve(t, people, on, { store: database.open() });
  const [session, token] = [await ways.session.logIn(first), await ways["api tokens"].logIn(first)];
  await first.service.close();

  const off = [basicLogin(people), sessionLogin(people, { enabled: false }), apiTokens(people, { enabled: false })];
  const clock = Date.parse("2026-03-01T12:01:00Z");
  const second = await createService({
    store: database.open(),
    secret,
    features: [people, ...off],
    observe: null,
    now: () => clock,
  });
  const ask = async (method: string, path: string, body?: object): Promise<number> => {
    const headers = { ...basicHeader(email, password), "content-type": "application/json" };
    const request = new Request(`http://127.0.0.1${path}`, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return (await second.fetch(request, { peer: "127.0.0.1" })).status;
  };
  assert.equal(await ask("POST", "/api/session/", login), 404);
  assert.equal(
    await ask("PATCH", "/users/1", { password: "analytical-engine", current_password: password, end_keys: true }),
    200,
  );
  await second.close();

  const third = await createService({
    store: database.open(),
    secret,
    features: [people, ...on],
    mounts: [notes],
    observe: null,
    now: () => clock,
  });
  t.after(() => third.close());
  for (const headers of [session, token]) {
    const answer = await third.fetch(new Request("http://127.0.0.1/notes", { headers }), { peer: "127.0.0.1" });
    assert.equal(answer.status, 401);
  }
});

test("refuses an access token as soon as it is revoked, and deletes expired sessions and revocations", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const people = accounts(open);
  const api = await serve(t, people, [
    tokenLogin(people),
    sessionLogin(people, { lifetimeSeconds: 60 }),
    basicLogin(people),
  ]);
  const rows = async (): Promise<readonly number[]> =>
    Promise.all([sessionsCollection, revocationsCollection].map(async (table) => api.service.store.count(table, null)));
  const byToken = await ways.tokens.logIn(api);
  await ways.session.logIn(api);

  assert.equal((await api.ask("DELETE", "/users/1/sessions", undefined, byToken)).status, 204);

  assert.equal((await api.get("/notes", byToken)).status, 401);
  await ways.session.logIn(api);
  assert.deepEqual(await rows(), [1, 1]);
  // A revocation is deleted after twice the longest token lifetime (15 minutes, for a token that acts for a user) and
  // one minute for different clocks.
  api.clock.now += 1_861_000;
  t.mock.timers.tick(1000);
  while ((await rows()).some((count) => count > 0)) await turn();
});

test("answers 403 to a write with a key that has only the scope `read`", async (t) => {
  const people = accounts(open);
  const feature = namedKeys(people);
  const api = await serve(t, people, [feature]);
  const keys = api.service.use(feature);
  const { key } = await keys.create(
    await admittedBy(api.service.store, 1),
    { name: "reader", scopes: ["read"], expiresAt: null },
    api.clock.now,
  );
  const headers = { authorization: `Token ${key}` };

  assert.equal((await api.get("/notes", headers)).status, 200);
  assert.equal((await api.ask("POST", "/notes", { body: "x" }, headers)).status, 403);
});

test("adds custom fields to users in JSON and XML, with defaults for users that are created without them", async (t) => {
  const people = accounts({ ...open, fields: { phone: text({ optional: true }), tenant: text({ default: "main" }) } });
  const api = await serve(t, people, [basicLogin(people)]);
  const headers = basicHeader(email, password);

  const changed = await api.ask("PATCH", "/users/1", { phone: "+44 20" }, headers);
  assert.deepEqual(changed.json, { id: 1, name: "Ada", email, phone: "+44 20", tenant: "main" });
  assert.match(
    (await api.get("/users/1", { ...headers, accept: "application/xml" })).text,
    /<phone>\+44 20<\/phone><tenant>main</,
  );
  const { insertUser, requireUser } = api.service.use(people).accounts;
  const user = { name: "Bob", email: "bob@example.com", username: "bob", role: "user", passwordHash: null } as const;
  await api.service.store.write({ changes: insertUser({ ...user, now: api.clock.now }) });
  assert.deepEqual(await requireUser(2), { id: 2, name: "Bob", email: "bob@example.com", phone: null, tenant: "main" });
});

test("lets a user delete the account even if there is no administrator, but refuses to delete the last administrator", async (t) => {
  const people = accounts(open);
  const api = await serve(t, people, [basicLogin(people)]);
  const { accounts: found, logins } = api.service.use(people);
  const remove = (id: number, name: string): Promise<Answered> =>
    api.ask("DELETE", `/users/${id}`, undefined, basicHeader(name, password));

  assert.equal((await remove(1, email)).status, 204);

  const passwordHash = await logins.passwords.hash(null, password);
  const root = { name: "Root", email: "root@example.com", username: "root", role: "admin", passwordHash } as const;
  await api.service.store.write({ changes: found.insertUser({ ...root, now: api.clock.now }) });
  assert.equal((await remove(2, "root")).json.code, "last_admin");
});
