import assert from "node:assert/strict";
import { test } from "node:test";
import { consolePages, documentation } from "../../src/door/features.ts";
import {
  accounts,
  anyone,
  createService,
  defineEndpoint,
  defineResource,
  mount,
  Secret,
  sessionLogin,
  text,
  type ServiceOptions,
} from "../../src/door/index.ts";
import { testLatchkey } from "../../src/testing/testing.ts";
import { emptyStore } from "../harness/test-store.ts";

const books = mount(defineResource({ name: "book", fields: { title: text() } }), { permission: anyone });
const people = accounts();
const start = async (options: Omit<ServiceOptions, "store"> = {}) =>
  createService({
    store: await emptyStore(),
    secret: new Secret("a secret of 32 characters or more."),
    mounts: [books],
    features: [
      people,
      sessionLogin(people),
      documentation({ title: "Books", version: "1" }),
      consolePages({ title: "B" }),
    ],
    ...options,
  });
type Answering = { fetch: (request: Request, info: { peer: string }) => Promise<Response> };
const ask = (service: Answering, path: string, init: RequestInit = {}) =>
  service.fetch(new Request(`http://127.0.0.1${path}`, init), { peer: "127.0.0.1" });
const xml = { "content-type": "application/xml" };

test("answers 406 and 415 to XML if XML is off, and names the supported types", async () => {
  const service = await start({ xml: false });

  const listed = await ask(service, "/books", { headers: { accept: "application/xml" } });
  const named = await ask(service, "/books?format=xml");
  const sent = await ask(service, "/books", { method: "POST", headers: xml, body: "<book><title>Emma</title></book>" });
  const patched = await ask(service, "/books/1", { method: "PATCH", headers: xml, body: "<book/>" });
  const login = await ask(service, "/api/session/", { method: "POST", headers: xml, body: "<login/>" });
  const options = await ask(service, "/books", { method: "OPTIONS" });
  const made = await ask(service, "/books", {
    method: "POST",
    body: '{"title":"Emma"}',
    headers: { "content-type": "application/json" },
  });
  const browser = await ask(service, "/books", { headers: { accept: "text/html,application/xml;q=0.9" } });
  await service.close();

  assert.equal(listed.status, 406);
  assert.match(listed.headers.get("content-type")!, /^application\/problem\+json/);
  assert.equal(named.status, 400);
  assert.match(await named.text(), /The formats are json, html/);
  assert.deepEqual([sent.status, patched.status, login.status], [415, 415, 415]);
  assert.equal(sent.headers.get("accept-post") ?? sent.headers.get("accept"), "application/json");
  assert.match(
    patched.headers.get("accept-patch")!,
    /^application\/merge-patch\+json, application\/json-patch\+json, application\/json$/,
  );
  assert.doesNotMatch(JSON.stringify([...options.headers]), /xml/);
  assert.equal(made.status, 201);
  assert.doesNotMatch(await browser.text(), /format=xml/);
});

test("leaves XML out of the OpenAPI document only if XML is off", async () => {
  const readDocument = async (options: Omit<ServiceOptions, "store">): Promise<string> => {
    const service = await start(options);
    const written = await (await ask(service, "/openapi.json")).text();
    await service.close();
    return written;
  };

  const documented = await readDocument({ xml: false });
  const fields = { xml: text(), title: text({ default: "xml", example: "xml" }) };
  const pages = mount(defineResource({ name: "page", fields }), { permission: anyone });
  const named = JSON.parse(await readDocument({ xml: false, mounts: [pages] })) as {
    readonly components: { readonly schemas: Readonly<Record<string, { readonly properties: object }>> };
  };

  assert.doesNotMatch(documented, /application\/(?:problem\+)?xml|"xml":/);
  assert.deepEqual(Object.keys(named.components.schemas["Page"]!.properties), ["id", "xml", "title"]);
  assert.match(await readDocument({}), /"application\/xml"/);
  assert.match(await readDocument({}), /"xml":\{"name":"book"\}/);
});

test("refuses to start if XML is off and an endpoint reads only XML", async () => {
  const importing = defineEndpoint({
    method: "POST",
    path: "/import",
    access: anyone,
    consumes: ["application/xml"],
    handle: () => ({ status: 204 }),
  });

  await assert.rejects(
    start({ xml: false, endpoints: [importing] }),
    /POST \/import consumes application\/xml, which no format reads/,
  );
  await (await start({ endpoints: [importing] })).close();
});

test("uses a custom format for application/xml even if the built-in XML is off", async () => {
  const own = {
    mediaType: "application/xml",
    problemMediaType: "application/xml",
    tagSuffix: "-xml",
    write: () => "<own/>",
    writeProblem: () => "<no/>",
    read: () => ({ value: { title: "own" }, typed: true }),
  };
  const service = await start({ xml: false, formats: [own] });

  assert.equal(await (await ask(service, "/books", { headers: { accept: "application/xml" } })).text(), "<own/>");
  assert.equal((await ask(service, "/books", { method: "POST", headers: xml, body: "<a/>" })).status, 201);
  await service.close();
});

test("removes XML from the whole service if the config file leaves XML out", async () => {
  await using api = await testLatchkey({ without: ["xml"] });

  assert.equal((await ask(api.service, "/", { headers: { accept: "application/xml" } })).status, 406);
  assert.equal((await ask(api.service, "/", {})).status, 200);
});
