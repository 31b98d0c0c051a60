import assert from "node:assert/strict";
import test from "node:test";
import type { Format } from "../../src/door/http.ts";
import { anyone, defineEndpoint, defineResource, mount, text } from "../../src/door/index.ts";
import type { ConfigFile } from "../../src/service/settings/config-file/config-file.ts";
import { serve } from "../harness/serve.ts";

const browsers = [
  "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7",
  "application/xml,application/xhtml+xml,text/html;q=0.9,text/plain;q=0.8,image/png,*/*;q=0.5",
];

const withoutPages: ConfigFile = { without: ["console"] };

test("sends JSON to a browser if the service has no HTML pages, also for errors", async (t) => {
  const api = await serve(t, { config: withoutPages });

  for (const accept of browsers) {
    for (const [path, type] of [
      ["/users", "application/json"],
      ["/users/1", "application/json"],
      ["/livez", "application/json"],
      ["/nothing", "application/problem+json"],
      ["/users/999", "application/problem+json"],
    ] as const) {
      const { headers } = await api.get(path, { ...api.admin, accept });
      assert.equal(headers.get("content-type"), type, `${path} ${accept}`);
    }
  }
});

test("sends XML to clients that prefer it", async (t) => {
  const api = await serve(t, { config: withoutPages });

  for (const [accept, type] of [
    ["application/xml", "application/xml"],
    ["application/xml, application/json;q=0.9", "application/xml"],
    ["application/xml;q=0.9, */*;q=0.8", "application/xml"],
    ["application/xml;q=0.9, application/json", "application/json"],
    ["application/xml, application/json", "application/xml"],
    ["text/html;q=0, application/xml, */*;q=0.1", "application/xml"],
    ["text/html, application/xml", "application/xml"],
    ["text/html, application/xml, application/json;q=0.1", "application/json"],
  ] as const) {
    const { headers } = await api.get("/users/1", { ...api.admin, accept });
    assert.equal(headers.get("content-type"), type, accept);
  }
  assert.equal((await api.get("/users/1", { ...api.admin, accept: "text/html" })).status, 406);
});

test("replaces the built-in pages with custom pages", async (t) => {
  const html: Format = {
    mediaType: "text/html",
    problemMediaType: "text/html",
    tagSuffix: "-html",
    write: ({ element }) => `<h1>${element}</h1>`,
    writeProblem: ({ title }) => `<h1>${title}</h1>`,
  };
  const api = await serve(t, { config: { ...withoutPages, formats: [html] } });

  for (const headers of browsers.slice(0, 2).map((accept) => ({ ...api.admin, accept }))) {
    assert.equal((await api.get("/users/1", headers)).text, "<h1>user</h1>");
    assert.equal((await api.get("/users/999", headers)).text, "<h1>Not found</h1>");
  }
  assert.equal((await api.get("/users/1?format=html", api.admin)).text, "<h1>user</h1>");
  assert.equal((await api.get("/users/1", api.admin)).headers.get("content-type"), "application/json");
});

test("chooses the format of every read by ?format= as by Accept", async (t) => {
  const api = await serve(t);
  const [json, xml] = [{ accept: "application/json" }, { accept: "application/xml" }];

  for (const [path, accept] of [
    ["/users?format=xml", json],
    ["/users?format=xml&limit=1&fields=id", json],
    ["/users/1?format=xml", {}],
    ["/users/1?fields=id&format=xml", {}],
    ["/protected/?format=xml", json],
    ["/livez?format=xml", {}],
    ["/users?f%6Frmat=xml", {}],
  ] as const) {
    for (const method of ["GET", "HEAD"]) {
      const answer = await api.ask(method, path, { headers: { ...api.admin, ...accept } });
      assert.deepEqual([answer.status, answer.headers.get("content-type")], [200, "application/xml"], path);
    }
  }
  assert.equal((await api.get("/users?format=json", { ...api.admin, ...xml })).json.length, 1);
  const missing = await api.get("/users/999?format=xml", api.admin);
  assert.deepEqual([missing.status, missing.headers.get("content-type")], [404, "application/problem+xml"]);
  const html = await api.get("/users?format=html", api.admin);
  assert.deepEqual([html.status, html.headers.get("content-type")], [200, "text/html; charset=utf-8"]);
  for (const query of ["format=pdf", "format=", "format=json&format=xml", "format=XML", "format[eq]=json"]) {
    const answer = await api.get(`/users?${query}`, api.admin);
    assert.deepEqual([answer.status, answer.json.code], [400, "invalid_query"], query);
  }
  assert.equal((await api.post("/orders?format=xml", {}, api.admin)).json.code, "invalid_query");
  assert.equal((await api.get("/livez?format=pdf")).status, 200);
  assert.equal((await api.get("/openapi.json?format=xml")).headers.get("content-type"), "application/json");
});

test("keeps the requested format in the links of a page", async (t) => {
  const api = await serve(t);
  await api.user("Ann");

  const { headers } = await api.get("/users?format=xml&limit=1", api.admin);
  const next = /<([^>]+)>; rel="next"/.exec(headers.get("link")!)![1]!;

  assert.match(next, /[?&]format=xml\b/);
  const page = await api.get(next, api.admin);
  assert.match(page.text, /<users><user><id>2</);
});

test("filters a field called format only with an operator, like format[eq]", async (t) => {
  const files = defineResource({
    name: "file",
    fields: { format: text({ maxLength: 10 }) },
    filters: { format: ["eq", "in"] },
    sorts: ["format"],
  });
  const ownFormat = defineEndpoint({
    method: "GET",
    path: "/report",
    access: "open",
    query: "read",
    produces: "text/plain",
    handle: (context) => ({
      status: 200,
      body: { kind: "raw", type: "text/plain", content: JSON.stringify(context.parameters()) },
    }),
  });
  const api = await serve(t, { config: { mounts: [mount(files, { permission: anyone })], endpoints: [ownFormat] } });
  for (const format of ["xml", "json"]) await api.post("/files", { format });

  const filtered = await api.get("/files?format[eq]=xml&format=json&sort=-format&fields=format");
  assert.deepEqual(filtered.json, [{ format: "xml" }]);
  assert.match((await api.get("/files?format=xml")).text, /^<\?xml/);
  assert.equal((await api.get("/report?format=pdf")).text, '[["format","pdf"]]');
  const { paths } = (await api.get("/openapi.json")).json;
  const names = paths["/files"].get.parameters.flatMap(({ name }: { name?: string }) => name ?? []);
  assert.deepEqual(
    names.filter((name: string) => name.startsWith("format")),
    ["format[eq]", "format[in]"],
  );
});
