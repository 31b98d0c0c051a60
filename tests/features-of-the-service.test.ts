import assert from "node:assert/strict";
import { test } from "node:test";
import { banner } from "../src/cli/banner.ts";
import { authenticated, defineEndpoint, defineFeature, defineResource, mount, text } from "../src/index.ts";
import { optionalFeatures } from "../src/service/built-in.ts";
import type { ConfigFile } from "../src/service/config-file.ts";
import { ConfigError, readSettings } from "../src/service/settings.ts";
import { serve } from "./serve.ts";

const paths = {
  health: ["/livez", "/readyz"],
  metrics: ["/metrics"],
  documentation: ["/openapi.json", "/docs", "/problems", "/problems/not_found"],
  "way-in": ["/"],
  orders: ["/orders"],
  protected: ["/protected/"],
} as const satisfies Record<(typeof optionalFeatures)[number], readonly string[]>;

for (const name of optionalFeatures) {
  test(`the service goes without ${name}, and everything else is there`, async (t) => {
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

test("what is left out leaves its names and tables free", async (t) => {
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

test("a feature of one's own may need a built-in one", async (t) => {
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

test("the API is called what its owner calls it", async (t) => {
  const api = await serve(t, {
    config: { api: { title: "Bookshop", version: "2.1", description: "Books & <more>." } },
  });

  const { info } = (await api.get("/openapi.json")).json;
  assert.deepEqual(info, { title: "Bookshop", version: "2.1", description: "Books & <more>." });
  assert.equal((await api.get("/")).json.service, "Bookshop");
});

test("what a config file says wrong of features is told at once", () => {
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
        "api.titel in the config file means nothing. The nearest is title.",
        'api.title in the config file is no text. Write api: { title: "Bookshop", version: "1" }.',
        'api.version in the config file is no text. Write api: { title: "Bookshop", version: "1" }.',
        "features in the config file is neither a list of features nor a function that gives one. Write features: [ … ].",
        "without in the config file names order, which is no feature that can be left out. The nearest is orders.",
        "without in the config file names 7, which is no feature that can be left out. The nearest is health.",
      ]);
      return true;
    },
  );
});

test("users have the fields that the config file gives them, the first administrator too", async (t) => {
  const fields = { phone: text({ optional: true }), tenant_id: text({ default: "main" }) };
  const api = await serve(t, { config: { users: { fields } } });

  const made = await api.post("/users", { name: "Ann", email: "ann@example.com", phone: "+44 20" }, api.admin);

  assert.deepEqual([made.status, made.json.phone, made.json.tenant_id], [201, "+44 20", "main"]);
  const { json } = await api.get("/users/1", api.admin);
  assert.deepEqual([json.phone, json.tenant_id], [null, "main"]);
  const { schemas } = (await api.get("/openapi.json")).json.components;
  assert.ok("tenant_id" in schemas.User.properties);
});

test("a feature of one's own logs in through the built-in accounts", async (t) => {
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
                  const user = await host.use(accounts).requireUser(context.requireIdentity().id);
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

test("the start names what is there", async (t) => {
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
