import assert from "node:assert/strict";
import { test } from "node:test";
import { banner } from "../../src/cli/serving/banner.ts";
import { pageStyle } from "../../src/core/html/look.ts";
import type { Beginning, BeginningOptions } from "../../src/door/auth.ts";
import { authenticated, defineEndpoint, defineFeature, defineResource, mount, text } from "../../src/door/index.ts";
import type { optionalFeatures } from "../../src/service/built-in.ts";
import type { ConfigFile } from "../../src/service/settings/config-file/config-file.ts";
import { ConfigError, readSettings } from "../../src/service/settings/settings.ts";
import { adminPassword, serve, type API } from "../harness/serve.ts";

// Nightly on PostgreSQL: the paths follow from the declarations.

const customToken = "a-custom-token-of-32-characters-or-more";

const paths = {
  health: ["/livez", "/readyz"],
  metrics: ["/metrics"],
  documentation: ["/openapi.json", "/docs", "/problems", "/problems/not_found"],
  console: [`/console/${pageStyle().name}`],
  "way-in": ["/"],
  orders: ["/orders"],
  protected: ["/protected/"],
  "session-login": ["/api/session/"],
  "token-login": ["/api/token/", "/.well-known/jwks.json"],
  "api-tokens": ["/users/1/token", "/api-token-auth/"],
  "named-keys": ["/users/1/keys"],
} as const;

for (const name of Object.keys(paths) as (keyof typeof paths)[]) {
  test(`answers 404 at the paths of ${name} if the config file leaves this feature out, and serves all other features`, async (t) => {
    const whole = await serve(t);
    const api = await serve(t, { config: { without: [name] } });

    for (const [feature, own] of Object.entries(paths))
      for (const path of own) {
        const expected = feature === name ? 404 : (await whole.get(path, whole.admin)).status;
        assert.equal((await api.get(path, api.admin)).status, expected, path);
      }
    assert.equal((await api.get("/users/1", api.admin)).status, 200);
  });
}

test("has no link to a disabled feature", async (t) => {
  const undescribed = await serve(t, { config: { without: ["documentation"] } });
  const whole = await serve(t);
  assert.match((await whole.get("/")).headers.get("link") ?? "", /service-desc.*service-doc/);
  assert.equal((await undescribed.get("/")).headers.get("link"), null);

  // Leaves out the console too, because the console has a page at / even without way-in.
  const api = await serve(t, { config: { without: ["way-in", "console"] } });
  const accept = "text/html";
  const pages = (await api.get("/openapi.json")).json.paths;
  for (const page of ["/docs", "/docs/getDocs", "/problems", "/problems/not_found"]) {
    const { text, status } = await api.get(page, { accept });
    assert.equal(status, 200, page);
    const links = Array.from(text.matchAll(/(?:href|action|data-login)="(\/[^"#]*)"/g), ([, link = ""]) => link);
    assert.ok(links.includes("/docs") && pages["/docs"] !== undefined, page);
    for (const link of links) assert.ok(api.service.serves(link.replaceAll("&amp;", "&")), `${page} leads to ${link}`);
  }
});

/**
 * For each login, a function that logs in and returns the headers of a request. No other login accepts these headers.
 */
const ways: Readonly<Record<string, (api: API) => Promise<Record<string, string>>>> = {
  "basic-login": async (api) => api.admin,
  "session-login": async (api) => {
    const made = await api.post("/api/session/", { username: "admin", password: adminPassword });
    return { cookie: made.headers.get("set-cookie")?.split(";")[0] ?? "session=none" };
  },
  "token-login": async (api) => {
    const { access } = (await api.post("/api/token/", { username: "admin", password: adminPassword })).json;
    return { authorization: `Bearer ${access}` };
  },
  "api-tokens": async (api) => {
    const { token } = (await api.post("/api-token-auth/", { username: "admin", password: adminPassword })).json;
    return { authorization: `Token ${token}` };
  },
  "custom-header-login": async () => ({ "x-custom-token": customToken }),
  "remote-user-login": async () => ({ "x-remote-user": "admin" }),
};

test("refuses each login that the config file leaves out, and accepts all others", async (t) => {
  const settings = {
    LATCHKEY_SCHEMES: "basic,session,token,bearer,remote-user,custom-header",
    LATCHKEY_REMOTE_USER_TRUST: "network",
    LATCHKEY_TRUSTED_PROXIES: "127.0.0.1",
    LATCHKEY_CUSTOM_TOKEN: customToken,
    LATCHKEY_CUSTOM_TOKEN_USERNAME: "admin",
  };
  for (const left of [...Object.keys(ways), "named-keys", "issuer-login"] as (typeof optionalFeatures)[number][]) {
    const api = await serve(t, { settings, config: { without: [left] } });

    for (const [name, logIn] of Object.entries(ways)) {
      const { status } = await api.get("/users/1", await logIn(api));
      assert.equal(status, name === left ? 401 : 200, `${name} without ${left}`);
    }
    assert.equal((await api.get("/openapi.json")).status, 200);
    await api.service.close();
  }
});

test("lets a custom feature use the names, paths and tables of disabled features", async (t) => {
  const orders = defineResource({ name: "order", fields: { table_number: text() } });
  const own = defineFeature({
    name: "orders",
    setUp: () => ({
      offer: null,
      mounts: [mount(orders, { permission: authenticated })],
      endpoints: [
        defineEndpoint({
          method: "GET",
          path: "/protected/",
          access: authenticated,
          handle: () => ({ status: 200, body: { kind: "data", value: { mine: true }, element: "protected" } }),
        }),
      ],
    }),
  });
  const api = await serve(t, { config: { without: ["orders", "protected"], features: [own] } });

  assert.equal((await api.post("/orders", { table_number: "7" }, api.admin)).status, 201);
  assert.equal((await api.get("/protected/", api.admin)).json.mine, true);
});

test("lets a custom feature use a built-in feature", async (t) => {
  const api = await serve(t, {
    config: {
      features: ({ metrics }) => [
        defineFeature({
          name: "scraped",
          needs: [metrics],
          setUp: (host) => ({
            offer: null,
            endpoints: [
              defineEndpoint({
                method: "GET",
                path: "/families",
                access: authenticated,
                handle: () => ({
                  status: 200,
                  body: {
                    kind: "data",
                    value: host
                      .use(metrics)
                      .read()
                      .map(({ name }) => name),
                    element: "families",
                  },
                }),
              }),
            ],
          }),
        }),
      ],
    },
  });

  assert.ok((await api.get("/families", api.admin)).json.includes("latchkey_requests_total"));
});

test("shows the title, the version and the description that the config file sets", async (t) => {
  const api = await serve(t, {
    config: { api: { title: "Bookshop", version: "2.1", description: "Books & <more>." } },
  });

  const { info } = (await api.get("/openapi.json")).json;
  assert.deepEqual(info, { title: "Bookshop", version: "2.1", description: "Books & <more>." });
  assert.equal((await api.get("/")).json.service, "Bookshop");
});

test("reports all mistakes about features in a config file together", () => {
  const config = {
    without: ["order", 7],
    features: [{ name: "no feature" }],
    api: { titel: "Bookshop", version: 2 },
  } as unknown as ConfigFile;

  assert.throws(
    () => readSettings({ LATCHKEY_DATABASE: "sqlite::memory:" }, config),
    (error: unknown) => {
      assert.ok(error instanceof ConfigError);
      assert.deepEqual(error.problems, [
        "api.titel in the config file is unknown. The nearest is title.",
        'api.title in the config file is not a text. Write api: { title: "Bookshop", version: "1" }.',
        'api.version in the config file is not a text. Write api: { title: "Bookshop", version: "1" }.',
        "features in the config file is neither a list of features nor a function that gives one. Write features: [ … ].",
        "without in the config file names order, which is not an optional feature. The nearest is orders.",
        "without in the config file names 7, which is not an optional feature. The nearest is xml.",
      ]);
      return true;
    },
  );
});

test("reports a function of the config file that returns no list of features", async (t) => {
  for (const [features, pattern] of [
    [() => undefined, /features in the config file is a function that returns nothing\. It has to return a list/],
    [async () => [], /is a function that returns a value that is not a list\./],
  ] as const)
    await assert.rejects(serve(t, { config: { features: features as never } }), pattern);
});

test("adds the fields of the config file to all users, including the first administrator", async (t) => {
  const fields = { phone: text({ optional: true }), tenant_id: text({ default: "main" }) };
  const api = await serve(t, { config: { users: { fields } } });

  const made = await api.post("/users", { name: "Ann", email: "ann@example.com", phone: "+44 20" }, api.admin);

  assert.deepEqual([made.status, made.json.phone, made.json.tenant_id], [201, "+44 20", "main"]);
  const { json } = await api.get("/users/1", api.admin);
  assert.deepEqual([json.phone, json.tenant_id], [null, "main"]);
  const { schemas } = (await api.get("/openapi.json")).json.components;
  assert.ok("tenant_id" in schemas.User.properties);
});

test("lets a custom feature read users through the built-in accounts", async (t) => {
  const api = await serve(t, {
    config: {
      features: ({ accounts }) => [
        defineFeature({
          name: "pilots",
          needs: [accounts],
          setUp: (host) => ({
            offer: null,
            endpoints: [
              defineEndpoint({
                method: "GET",
                path: "/pilot",
                access: authenticated,
                async handle(context) {
                  const user = await host.use(accounts).accounts.requireUser(context.requireIdentity().id);
                  return { status: 200, body: { kind: "data", value: { ...user }, element: "pilot" } };
                },
              }),
            ],
          }),
        }),
      ],
    },
  });

  assert.equal((await api.get("/pilot", api.admin)).json.id, 1);
});

test("lets a custom login start a session or issue tokens through the built-in logins", async (t) => {
  const config: ConfigFile = {
    features: ({ accounts, "session-login": sessions, "token-login": tokens }) => [
      defineFeature({
        name: "badge-login",
        needs: [accounts, sessions, tokens],
        setUp(host) {
          const people = host.use(accounts);
          const [session, pair] = [host.use(sessions), host.use(tokens)];
          const login = <O extends BeginningOptions>(path: `/badge/${string}`, begin: Beginning<O>, options: O) =>
            defineEndpoint({
              method: "POST",
              path,
              access: "open",
              logsIn: true,
              async handle(context) {
                const account = await people.accounts.findByUsername(context.call.header("x-badge") ?? "");
                const proofs = [{ method: "hwk", at: context.call.now }] as const;
                return people.logins.beginLogin(context, { account: account!, proofs, begin, options });
              },
            });
          return {
            offer: null,
            endpoints: [
              login("/badge/session", session.begin, {}),
              login("/badge/tokens", pair.begin, { cookie: false }),
            ],
          };
        },
      }),
    ],
  };
  const api = await serve(t, { config });

  const begun = await api.post("/badge/session", null, { "x-badge": "admin" });
  const pair = await api.post("/badge/tokens", null, { "x-badge": "admin" });

  const cookie = (begun.headers.get("set-cookie") ?? "").split(";")[0]!;
  assert.equal((await api.get("/protected/", { cookie })).status, 200);
  assert.equal((await api.get("/protected/", { authorization: `Bearer ${pair.json.access}` })).status, 200);

  const off = await serve(t, { config, settings: { LATCHKEY_SCHEMES: "basic" } });
  for (const [path, login] of [
    ["/badge/session", "session-login"],
    ["/badge/tokens", "token-login"],
  ] as const) {
    assert.equal((await off.post(path, null, { "x-badge": "admin" })).status, 500);
    const fault = off.observed.findLast(({ kind }) => kind === "fault");
    assert.match(String(fault !== undefined && "error" in fault && fault.error), new RegExp(`${login} is turned off`));
  }
});

test("prints at startup only addresses that the service serves", async (t) => {
  const settings = readSettings({ LATCHKEY_DATABASE: "sqlite::memory:" });
  const whole = banner(settings, "http://h", (await serve(t)).service);
  const bare = banner(
    settings,
    "http://h",
    (await serve(t, { config: { without: ["documentation", "protected"] } })).service,
  );

  assert.match(whole, /docs {7}http:\/\/h\/docs[^]*http:\/\/h\/protected\/\n/);
  assert.doesNotMatch(bare, /docs|protected/);
  assert.match(bare, /curl -s -u 'admin:PASSWORD' http:\/\/h\/users\n/);
});
