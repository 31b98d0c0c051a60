import assert from "node:assert/strict";
import { test } from "node:test";
import type { Format } from "../../src/door/http.ts";
import {
  caller,
  accepted,
  anyOf,
  administrator,
  authenticated,
  defineEndpoint,
  defineResource,
  integer,
  mount,
  owner,
  reference,
  rejected,
  text,
  tokenLogin,
  type Scheme,
} from "../../src/door/index.ts";
import { DeclarationError } from "../../src/door/resources.ts";
import type { ConfigFile } from "../../src/service/service.ts";
import { visitor } from "../harness/own-service.ts";
import { serve } from "../harness/serve.ts";

const books = defineResource({
  name: "book",
  fields: {
    owner_id: reference("users", { default: caller, onDelete: "cascade" }),
    title: text({ maxLength: 200 }),
    pages: integer({ minimum: 1, optional: true }),
  },
  filters: { title: ["starts"] },
});
const lines: Format = {
  mediaType: "text/x-lines",
  problemMediaType: "application/problem+json",
  tagSuffix: "-lines",
  shows: "lists",
  write: ({ value }) => (value as readonly object[]).map((each) => `${Object.values(each).join(" ")}\n`).join(""),
  writeProblem: (document) => JSON.stringify(document),
};
const badge: Scheme = {
  name: "badge",
  carriers: [{ in: "header", name: "X-Badge" }],
  authenticate: (number) =>
    number === "2"
      ? accepted({ id: 2, username: "ann@example.com", role: "user", scheme: "badge", scopes: null, expiresAt: null })
      : rejected("unknown"),
};
const shout = defineEndpoint({
  method: "GET",
  path: "/shouts/{word:text}",
  access: authenticated,
  handle: ({ params }) => ({
    status: 200,
    body: { kind: "data", value: String(params["word"]).toUpperCase(), element: "shout" },
  }),
});

test("serves mounts, endpoints, schemes and formats of a config file next to the built-in ones", async (t) => {
  const api = await serve(t, {
    config: {
      mounts: [mount(books, { permission: anyOf(administrator, owner("owner_id")) })],
      endpoints: [shout],
      schemes: [badge],
      formats: [lines],
    },
  });
  const ann = await api.user("Ann");
  const withBadge = { "x-badge": "2" };

  assert.equal((await api.post("/books", { title: "Emma" }, ann.headers)).json.owner_id, ann.id);
  assert.equal((await api.post("/books", { title: "Persuasion", pages: 249 }, withBadge)).status, 201);
  assert.equal(
    (await api.post("/books", { title: "x" }, { ...withBadge, ...api.admin })).json.code,
    "conflicting_credentials",
  );
  assert.equal(
    (await api.get("/books?title[starts]=P", { ...withBadge, accept: "text/x-lines" })).text,
    "2 2 Persuasion 249\n",
  );
  assert.equal(
    (await api.get("/users?fields=id,name", { ...api.admin, accept: "text/x-lines" })).text,
    "1 Administrator\n2 Ann\n",
  );
  assert.equal((await api.get("/users/2", { ...api.admin, accept: "text/x-lines" })).status, 406);
  assert.equal((await api.get("/shouts/hello", withBadge)).text, '"HELLO"');
  assert.equal((await api.get("/protected/", withBadge)).json.scheme, "badge");
  assert.equal((await api.get("/books", { "x-badge": "3" })).status, 401);
  assert.equal((await api.get("/books")).headers.getSetCookie().length, 0);
  const { paths, components } = (await api.get("/openapi.json")).json;
  assert.ok(paths["/books/{id}"].patch && paths["/shouts/{word}"].get);
  assert.ok(JSON.stringify(components.securitySchemes).includes("X-Badge"));
  assert.equal((await api.delete(`/users/${ann.id}`, api.admin)).status, 204);
  assert.equal((await api.get("/books", api.admin)).text, "[]");
});

test("refuses to start if a mount, an endpoint or a scheme of a config file would hide a built-in one", async (t) => {
  const users = defineResource({ name: "user", fields: { name: text() } });
  const other: Scheme = { ...visitor, name: "basic" };

  await assert.rejects(
    serve(t, { config: { mounts: [mount(users, { permission: authenticated })] } }),
    /\/users is mounted twice: in the feature accounts and among the service's own; keep one/,
  );
  await assert.rejects(
    serve(t, { config: { endpoints: [{ ...shout, path: "/users" }] } }),
    /GET \/users is there twice/,
  );
  await assert.rejects(serve(t, { config: { schemes: [other] } }), /scheme basic is there twice/);
});

test("reports a conflict with a built-in feature, and names the setting that leaves the feature out", async (t) => {
  const orders = defineResource({ name: "order", fields: { name: text() } });
  const collectMistakes = async (config: ConfigFile): Promise<readonly string[]> => {
    const error: unknown = await serve(t, { config }).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof DeclarationError);
    return error.mistakes;
  };

  assert.deepEqual(await collectMistakes({ mounts: [mount(orders, { permission: authenticated })] }), [
    "/orders is mounted twice: in the feature orders and among the service's own; keep one",
    'the feature orders is built in; without: ["orders"] in the config file leaves it out',
  ]);
  assert.deepEqual(await collectMistakes({ features: ({ accounts }) => [tokenLogin(accounts)] }), [
    "two features are called token-login; leave one out, or give it another name",
    'the feature token-login is built in; without: ["token-login"] in the config file leaves it out',
  ]);
});
