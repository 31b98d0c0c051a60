import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { accountsCollection, type People } from "../../src/door/auth.ts";
import {
  defineEndpoint,
  rejected,
  accepted,
  authenticated,
  defineFeature,
  type Identity,
  type Scheme,
} from "../../src/door/index.ts";
import { mayChangeLogins } from "../../src/features/auth/requests/access.ts";
import { addTOTPTo, readCookies } from "../harness/factors.ts";
import { adminPassword, basicHeader, serve, withMail, type Answered, type API } from "../harness/serve.ts";

// An administrator changes the login of another user. Every endpoint that writes a column of a login has the same rule
// for the caller.

type Headers = Readonly<Record<string, string>>;

/** A request that changes a part of the login of the user with this id. */
type Write = (api: API, id: number, caller: Headers) => Promise<Answered>;

const merge = { "content-type": "application/merge-patch+json" };
const patchJSON = { "content-type": "application/json-patch+json" };
const xml = { "content-type": "application/xml" };
const ben = { name: "Ben", email: "ben@example.com" };

/** Every request that changes the password, the e-mail, the username or the role of a user. */
const writes = {
  "PATCH /users/{id} password": (api, id, caller) => api.patch(`/users/${id}`, { password: "another pass 1" }, caller),
  "PATCH /users/{id} e-mail": (api, id, caller) => api.patch(`/users/${id}`, { email: "new@example.com" }, caller),
  "PATCH /users/{id} case of the e-mail": (api, id, caller) =>
    api.patch(`/users/${id}`, { email: "BEN@example.com" }, caller),
  "PATCH /users/{id} username": (api, id, caller) =>
    api.patch(`/users/${id}`, { username: "b" }, { ...merge, ...caller }),
  "PATCH /users/{id} JSON Patch": (api, id, caller) =>
    api.patch(`/users/${id}`, [{ op: "add", path: "/password", value: "another pass 1" }], { ...patchJSON, ...caller }),
  "PATCH /users/{id} XML": (api, id, caller) =>
    api.patch(`/users/${id}`, "<user><password>another pass 1</password></user>", { ...xml, ...caller }),
  "PUT /users/{id} password": (api, id, caller) =>
    api.put(`/users/${id}`, { ...ben, password: "another pass 1" }, caller),
  "PUT /users/{id} e-mail": (api, id, caller) => api.put(`/users/${id}`, { ...ben, email: "new@example.com" }, caller),
  "PUT /users/{id} XML": (api, id, caller) =>
    api.put(`/users/${id}`, "<user><name>Ben</name><email>new@example.com</email></user>", { ...xml, ...caller }),
  "PATCH /users/{id}/account username": (api, id, caller) =>
    api.patch(`/users/${id}/account`, { username: "b" }, caller),
  "PATCH /users/{id}/account role": (api, id, caller) => api.patch(`/users/${id}/account`, { role: "admin" }, caller),
  "PATCH /users/{id}/account JSON Patch": (api, id, caller) =>
    api.patch(`/users/${id}/account`, [{ op: "replace", path: "/role", value: "admin" }], { ...patchJSON, ...caller }),
  "PATCH /users/{id}/account XML": (api, id, caller) =>
    api.patch(`/users/${id}/account`, "<account><username>b</username></account>", { ...xml, ...caller }),
} satisfies Record<string, Write>;

/** Requests with the same power that no key may send. */
const credentials = {
  "POST /users/{id}/password": (api, id, caller) => api.post(`/users/${id}/password`, undefined, caller),
  "POST /users/{id}/email": (api, id, caller) => api.post(`/users/${id}/email`, { email: "new@example.com" }, caller),
  "POST /users/{id}/token": (api, id, caller) => api.post(`/users/${id}/token`, undefined, caller),
  "POST /users/{id}/keys": (api, id, caller) => api.post(`/users/${id}/keys`, { name: "k" }, caller),
  "POST /users/{id}/act": (api, id, caller) => api.post(`/users/${id}/act`, undefined, caller),
  // An endpoint of another party, which asks `confirming.requireProof`.
  "POST /own/{id}": (api, id, caller) => api.post(`/own/${id}`, undefined, caller),
} satisfies Record<string, Write>;

/**
 * The other unsafe requests below `/users/{id}`. They change no column of a login, or only for the user, or by a mail.
 */
const others = new Set([
  "DELETE /users/{id}",
  "POST /users/{id}/invitation",
  "DELETE /users/{id}/sessions",
  "DELETE /users/{id}/sessions/{session_id}",
  "DELETE /users/{id}/token",
  "DELETE /users/{id}/keys/{key_id}",
  "POST /users/{id}/factors",
  "POST /users/{id}/factors/recovery",
  "POST /users/{id}/factors/{factor_id}/confirm",
  "DELETE /users/{id}/factors/{factor_id}",
]);

const customToken = "a-token-of-32-characters-or-more";
const settings = {
  ...withMail,
  LATCHKEY_SCHEMES: "basic,session,token,bearer,custom-header",
  LATCHKEY_CUSTOM_TOKEN: customToken,
  LATCHKEY_CUSTOM_TOKEN_USERNAME: "admin",
};

/** Schemes of another party. They accept the administrator, and report no time of a proof. */
const schemeOf = (
  name: string,
  more: Partial<Scheme> = {},
  id = 1,
  claims: (now: number) => Partial<Identity> = () => ({}),
): Scheme => ({
  name,
  carriers: [{ in: "header", name }],
  authenticate: (credential, { now }) =>
    credential === "right"
      ? accepted({ id, username: "admin", role: "admin", scheme: name, scopes: null, expiresAt: null, ...claims(now) })
      : rejected("unknown"),
  ...more,
});

interface World {
  readonly api: API;
  readonly id: number;
  /** Returns the headers of a new key of the administrator. */
  key(scopes: readonly string[] | null): Promise<Headers>;
}

async function startWorld(t: TestContext): Promise<World> {
  const api = await serve(t, {
    settings,
    config: {
      features: ({ accounts }) => [
        defineFeature({
          name: "own",
          needs: [accounts],
          setUp(host) {
            const people: People = host.use(accounts);
            const endpoint = defineEndpoint({
              method: "POST",
              path: "/own/{id}",
              access: authenticated,
              async handle(context) {
                await people.confirming.requireProof(context, await people.accounts.requireAccount(context), undefined);
                return { status: 204 };
              },
            });
            const schemes = [
              schemeOf("x-undeclared"),
              schemeOf("x-password", { proves: ["pwd"] }),
              schemeOf("x-command", {}, 0),
              schemeOf("x-scopes", { proves: "program" }, 1, () => ({
                scopes: ["read", "write", "users:credentials"],
              })),
              schemeOf("x-key", { proves: "each" }, 1, (at) => ({
                keyId: "1",
                level: 1,
                proofs: [{ method: "pwd", at }],
              })),
            ];
            return { offer: null, schemes, endpoints: [endpoint] };
          },
        }),
      ],
    },
  });
  const { id } = await api.user("Ben");
  const key = async (scopes: readonly string[] | null) => {
    const made = await api.post(
      "/users/1/keys",
      { name: "program", ...(scopes === null ? {} : { scopes }) },
      api.admin,
    );
    assert.equal(made.status, 201, made.text);
    return { authorization: `Token ${made.json.key}` };
  };
  return { api, id, key };
}

const logIn = async (api: API): Promise<Headers> =>
  readCookies(await api.post("/api/session/", { username: "admin", password: adminPassword }));

async function logInForTokens(api: API): Promise<Headers> {
  const { access } = (await api.post("/api/token/", { username: "admin", password: adminPassword })).json;
  return { authorization: `Bearer ${access}` };
}

/** Logs in, and waits until the login is no longer fresh. A refresh does not make it fresh again. */
async function refreshed(api: API): Promise<Headers> {
  const { refresh } = (await api.post("/api/token/", { username: "admin", password: adminPassword })).json;
  api.clock.turn(601);
  const { access } = (await api.post("/api/token/refresh/", { refresh })).json;
  return { authorization: `Bearer ${access}` };
}

/** The callers that may not change the login of another user, with the answer that each of them gets. */
const refusals: readonly (readonly [string, readonly [number, string], (world: World) => Promise<Headers>])[] = [
  [
    "a session of eleven minutes",
    [401, "confirmation_required"],
    async ({ api }) => {
      const session = await logIn(api);
      api.clock.turn(601);
      return session;
    },
  ],
  ["an access token of an old login", [401, "confirmation_required"], ({ api }) => refreshed(api)],
  [
    "a session of eleven minutes at level 2",
    [401, "confirmation_required"],
    async ({ api }) => {
      const { headers } = await addTOTPTo(api, { id: 1, email: "admin", password: adminPassword });
      api.clock.turn(601);
      return headers;
    },
  ],
  [
    "a session at level 2 of a clock that was ahead",
    [401, "confirmation_required"],
    async ({ api }) => {
      const { headers } = await addTOTPTo(api, { id: 1, email: "admin", password: adminPassword });
      api.clock.turn(-3600);
      return headers;
    },
  ],
  [
    "an API token",
    [403, "permission_denied"],
    async ({ api }) => ({
      authorization: `Token ${(await api.post("/users/1/token", undefined, api.admin)).json.token}`,
    }),
  ],
  ["a key without scopes", [403, "permission_denied"], ({ key }) => key(null)],
  ["a key that writes", [403, "permission_denied"], ({ key }) => key(["read", "write"])],
  ["a key that may not write", [403, "permission_denied"], ({ key }) => key(["read", "users:credentials"])],
  ["a key with a similar scope", [403, "permission_denied"], ({ key }) => key(["write", "users:credential"])],
  ["the custom header", [403, "permission_denied"], async () => ({ "x-custom-token": customToken })],
  [
    "a token that acts for the user",
    [403, "permission_denied"],
    async ({ api, id }) => {
      const acted = await api.post(`/users/${id}/act`, undefined, await logInForTokens(api));
      return { authorization: `Bearer ${acted.json.access}` };
    },
  ],
  ["a scheme that declares no proofs", [403, "permission_denied"], async () => ({ "x-undeclared": "right" })],
  ["a scheme that names the id of the command", [403, "permission_denied"], async () => ({ "x-command": "right" })],
  ["a scheme with both scopes and no key", [403, "permission_denied"], async () => ({ "x-scopes": "right" })],
  ["a key of another party that claims a fresh proof", [403, "permission_denied"], async () => ({ "x-key": "right" })],
  ["a scheme without the time of a proof", [401, "confirmation_required"], async () => ({ "x-password": "right" })],
];

/** Returns what decides about the login of a user. */
async function findLogin({ api, id }: Pick<World, "api" | "id">) {
  const { record } = (await api.service.store.find(accountsCollection, id))!;
  const { username, role, password_hash, username_follows_email } = record;
  const { email } = (await api.get(`/users/${id}`, api.admin)).json;
  return { username, role, password_hash, username_follows_email, email };
}

for (const [name, expected, makeCaller] of refusals)
  test(`refuses every change of another user's login by ${name}`, async (t) => {
    const world = await startWorld(t);
    const caller = await makeCaller(world);
    // The administrator's own Basic does not work any more with a factor, so the rows are read from the store.
    const before = (await world.api.service.store.find(accountsCollection, world.id))!.record;

    for (const [write, send] of Object.entries<Write>({ ...writes, ...credentials })) {
      const { status, json } = await send(world.api, world.id, caller);
      const isOwnPassword = json?.errors?.[0]?.pointer === "/current_password";
      // Tokens and keys ask for the password instead of a login, because it replaces a fresh login there.
      const isMade = ["POST /users/{id}/token", "POST /users/{id}/keys", "POST /users/{id}/act"].includes(write);
      if (isMade && status === 400 && isOwnPassword && expected[0] === 401) continue;
      assert.deepEqual([status, json?.code], expected, write);
    }

    assert.deepEqual((await world.api.service.store.find(accountsCollection, world.id))!.record, before);
  });

/** The callers that may change the login of another user. */
const fresh: readonly (readonly [string, (world: World) => Promise<Headers>])[] = [
  ["Basic", async ({ api }) => api.admin],
  ["a new session", ({ api }) => logIn(api)],
  ["an access token of a new login", ({ api }) => logInForTokens(api)],
  [
    "a new session at level 2",
    async ({ api }) => (await addTOTPTo(api, { id: 1, email: "admin", password: adminPassword })).headers,
  ],
];

for (const [name, makeCaller] of fresh)
  test(`changes the login of another user for an administrator with ${name}`, async (t) => {
    const world = await startWorld(t);
    const caller = await makeCaller(world);

    for (const [write, send] of Object.entries<Write>(writes)) {
      const { status, text } = await send(world.api, world.id, caller);
      assert.equal(status, 200, `${write}: ${text}`);
      await restore(world, caller);
    }
  });

/** Gives the user the first values back, for the next request. */
async function restore({ api, id }: World, caller: Headers): Promise<void> {
  await api.service.store.write({
    changes: [
      { kind: "update", collection: accountsCollection, key: id, values: { role: "user", was_administrator_at: null } },
    ],
  });
  const back = await api.patch(`/users/${id}`, { email: ben.email, username: ben.email }, caller);
  assert.equal(back.status, 200, back.text);
}

test("changes the login of another user for a key with the scopes write and users:credentials, and shows it nothing", async (t) => {
  const world = await startWorld(t);
  const caller = await world.key(["write", "users:credentials"]);

  for (const [write, send] of Object.entries<Write>(writes)) {
    const { status, text } = await send(world.api, world.id, caller);
    assert.deepEqual([status, text], [204, ""], write);
    await restore(world, world.api.admin);
  }
});

test("takes only a key of an administrator with both scopes for one that may change the logins of others", () => {
  const scopes = ["write", "users:credentials"];
  const key: Identity = { id: 1, username: "admin", role: "admin", scheme: "key", scopes, keyId: "1", expiresAt: null };
  const { keyId: _, ...withoutKey } = key;
  assert.equal(mayChangeLogins(key), true);
  for (const other of [
    { ...key, scopes: ["users:credentials"] },
    { ...key, scopes: ["read", "users:credentials"] },
    { ...key, scopes: ["write"] },
    { ...key, scopes: ["read", "write"] },
    { ...key, scopes: [] },
    { ...key, scopes: null },
    { ...key, role: "user" },
    withoutKey,
  ])
    assert.equal(mayChangeLogins(other), false, JSON.stringify(other));
});

test("refuses a key with users:credentials its own user, other administrators, and everything beside logins", async (t) => {
  const { api, id, key } = await startWorld(t);
  const caller = await key(["write", "users:credentials"]);
  const other = await api.user("Cleo");
  await api.patch(`/users/${other.id}/account`, { role: "admin" }, api.admin);

  const answers = [
    await api.patch("/users/1", { name: "Root" }, caller),
    await api.patch("/users/1/account", { role: "user" }, caller),
    await api.patch(`/users/${other.id}`, { password: "another pass 1" }, caller),
    await api.post("/users", { name: "Dan", email: "dan@example.com" }, caller),
    await api.delete(`/users/${id}`, caller),
    await api.get(`/users/${id}`, caller),
    await api.post(`/users/${id}/password`, undefined, caller),
  ];

  assert.deepEqual(
    answers.map(({ status }) => status),
    Array.from(answers, () => 403),
  );
  // A key of an ordinary user has no more rights by this scope.
  const own = await api.post(
    `/users/${id}/keys`,
    { name: "k", scopes: ["write", "users:credentials"] },
    basicHeader(ben.email, "password of Ben"),
  );
  const byUser = { authorization: `Token ${own.json.key}` };
  assert.equal((await api.patch(`/users/${id}`, { name: "Benny" }, byUser)).status, 403);
  assert.equal((await api.patch(`/users/${other.id}`, { name: "Benny" }, byUser)).status, 403);
});

test("refuses an administrator the password, the e-mail and the username of another one, also for a day after the role was taken away", async (t) => {
  const { api, id } = await startWorld(t);
  const role = (value: string) => api.patch(`/users/${id}/account`, { role: value }, api.admin);
  assert.equal((await role("admin")).status, 200);
  const powers = Object.entries<Write>({ ...writes, ...credentials }).filter(
    ([name]) => !name.includes("account role") && !name.includes("account JSON Patch"),
  );
  const tryAll = async () => {
    for (const [write, send] of powers) {
      const { status, json } = await send(api, id, api.admin);
      assert.deepEqual([status, json?.code], [403, "permission_denied"], write);
    }
  };

  await tryAll();
  assert.equal((await role("user")).status, 200);
  await tryAll();
  api.clock.turn(86_399);
  await tryAll();
  api.clock.turn(2);

  assert.equal((await api.patch(`/users/${id}`, { password: "another pass 1" }, api.admin)).status, 200);
});

test("takes no value that stays the same for a change", async (t) => {
  const { api, id } = await startWorld(t);
  const { token } = (await api.post("/users/1/token", undefined, api.admin)).json;
  const caller = { authorization: `Token ${token}` };
  const before = await findLogin({ api, id });
  const same = { username: ben.email, role: "user" };

  const answers = [
    await api.patch(`/users/${id}`, { name: "Benny" }, caller),
    await api.patch(`/users/${id}`, { email: ben.email, username: ben.email }, caller),
    await api.put(`/users/${id}`, { ...ben, username: ben.email }, caller),
    await api.patch(`/users/${id}/account`, same, caller),
    await api.patch(`/users/${id}/account`, { active: false }, caller),
    await api.patch(`/users/${id}/account`, { ...same, active: true }, caller),
  ];

  assert.deepEqual(
    answers.map(({ status }) => status),
    Array.from(answers, () => 200),
  );
  assert.deepEqual(await findLogin({ api, id }), before);
});

test("accepts the administrator's own password in place of a new login, and counts wrong ones", async (t) => {
  const { api, id } = await startWorld(t);
  const session = await logIn(api);
  api.clock.turn(601);
  const change = (current_password: string) =>
    api.patch(`/users/${id}`, { password: "another pass 1", current_password }, session);

  const wrong = await change("password of Ben");
  const right = await change(adminPassword);

  assert.deepEqual([wrong.status, wrong.json.errors[0].pointer], [400, "/current_password"]);
  assert.equal(right.status, 200, right.text);
});

test("takes no password of an administrator with a second factor in place of a confirmed login", async (t) => {
  const { api, id } = await startWorld(t);
  const { headers } = await addTOTPTo(api, { id: 1, email: "admin", password: adminPassword });
  const change = () =>
    api.patch(`/users/${id}`, { password: "another pass 1", current_password: adminPassword }, headers);
  assert.equal((await change()).status, 200);

  api.clock.turn(601);
  const refused = await change();
  assert.deepEqual([refused.status, refused.json.code], [401, "confirmation_required"], refused.text);
});

test("sends a notice to a user whose role was changed, and none if it stays the same", async (t) => {
  const { api, id } = await startWorld(t);
  const given = await api.patch(`/users/${id}/account`, { role: "admin" }, api.admin);
  const again = await api.patch(`/users/${id}/account`, { role: "admin" }, api.admin);

  const mails = await api.mails();

  assert.deepEqual([given.status, again.status], [200, 200]);
  assert.deepEqual(
    mails.map(({ to, subject }) => [to, subject]),
    [[ben.email, "The role of your account was changed"]],
  );
});

test("knows every unsafe endpoint below a user", async (t) => {
  const { api } = await startWorld(t);
  const { paths } = (await api.get("/openapi.json")).json as { paths: Record<string, Record<string, unknown>> };
  const unsafe = Object.entries(paths)
    .filter(([path]) => path.startsWith("/users/{"))
    .flatMap(([path, item]) =>
      Object.keys(item)
        .filter((method) => ["post", "put", "patch", "delete"].includes(method))
        .map((method) => `${method.toUpperCase()} ${path}`),
    );
  const tried = new Set(
    Object.keys({ ...writes, ...credentials }).map((name) => name.split(" ").slice(0, 2).join(" ")),
  );

  const unknown = unsafe.filter((endpoint) => !tried.has(endpoint) && !others.has(endpoint));

  // A new endpoint belongs into `writes` if it changes a column of a login, and into `others` if not.
  assert.deepEqual(unknown, []);
  assert.deepEqual(
    [...others].filter((endpoint) => !unsafe.includes(endpoint)),
    [],
  );
});
