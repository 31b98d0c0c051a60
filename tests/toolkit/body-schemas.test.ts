import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import { documentation } from "../../src/door/features.ts";
import { formType, objectSchema, textSchema, type Endpoint } from "../../src/door/http.ts";
import { anyone, createService, defineEndpoint } from "../../src/door/index.ts";
import { DeclarationError } from "../../src/door/resources.ts";
import { sqliteStore } from "../../src/door/stores.ts";
import { emptyStore } from "../harness/test-store.ts";

// Nightly on PostgreSQL: bodies are checked before the store is asked.

async function serve(t: TestContext, ...endpoints: readonly Endpoint[]) {
  const service = await createService({
    store: await emptyStore(),
    features: [documentation({ title: "Bodies", version: "1" })],
    endpoints,
    observe: null,
  });
  t.after(() => service.close());
  return async (path: string, body?: string, contentType = "application/json", method = "POST") => {
    const init = body === undefined ? {} : { body, headers: { "content-type": contentType } };
    const reply = await service.fetch(new Request(`http://localhost${path}`, { method, ...init }), { peer: null });
    return { status: reply.status, headers: reply.headers, json: (await reply.json()) as Record<string, unknown> };
  };
}

const shown = (value: unknown) => ({ status: 200, body: { kind: "data", value, element: "sum" } }) as const;

const lines = defineEndpoint({
  method: "POST",
  path: "/lines",
  access: anyone,
  body: {
    type: "object",
    xml: { name: "order" },
    properties: {
      lines: {
        type: "array",
        items: {
          type: "object",
          properties: { product: { type: "string" }, count: { type: "integer", minimum: 1 } },
          required: ["product", "count"],
          additionalProperties: false,
        },
      },
    },
    required: ["lines"],
    additionalProperties: false,
  },
  consumes: ["application/json", "application/xml"],
  handle({ body }) {
    // No cast is needed: the type follows from the schema.
    const sum: number = body.value.lines.reduce((all, { count }) => all + count, 0);
    return shown({ sum, octets: body.bytes.length });
  },
});

const zod = defineEndpoint({
  method: "POST",
  path: "/zod",
  access: anyone,
  body: z.object({ at: z.string().transform((text) => text.length), tags: z.array(z.string()).optional() }),
  handle: ({ body }) => shown({ length: body.value.at satisfies number, tags: body.value.tags ?? null }),
});

test("checks a body against a JSON Schema, and names each mistake by its pointer", async (t) => {
  const ask = await serve(t, lines);

  const good = await ask("/lines", '{"lines":[{"product":"a","count":2},{"product":"b","count":3}]}');
  const bad = await ask("/lines", '{"lines":[{"product":1,"count":0},{"product":"b","extra":1}]}');
  const none = await ask("/lines", "");

  assert.deepEqual([good.status, good.json], [200, { sum: 5, octets: 63 }]);
  assert.deepEqual([bad.status, bad.json["code"]], [400, "invalid"]);
  assert.deepEqual(
    (bad.json["errors"] as readonly { pointer: string; code: string }[]).map(
      ({ pointer, code }) => `${pointer} ${code}`,
    ),
    ["/lines/0/product invalid", "/lines/0/count too_small", "/lines/1/count required", "/lines/1/extra unknown_field"],
  );
  assert.deepEqual([none.status, none.json["code"]], [400, "malformed"]);
});

test("converts the texts of an XML body to the types of the JSON Schema", async (t) => {
  const ask = await serve(t, lines);
  const xml = (element: string) =>
    `<${element}><lines><i><product>7</product><count>2</count></i></lines></${element}>`;

  const good = await ask("/lines", xml("order"), "application/xml");
  const bad = await ask("/lines", xml("order").replace("<count>2", "<count>two"), "application/xml");
  const other = await ask("/lines", xml("orders"), "application/xml");

  assert.equal(good.json["sum"], 2);
  assert.deepEqual((bad.json["errors"] as { pointer: string }[])[0]!.pointer, "/lines/0/count");
  assert.deepEqual([other.status, other.json["detail"]], [400, "The root element must be <order>."]);
});

test("converts the texts of a form to the types of the JSON Schema", async (t) => {
  const form = defineEndpoint({
    method: "POST",
    path: "/form",
    access: anyone,
    consumes: ["application/json", formType],
    body: { type: "object", properties: { n: { type: "integer" }, keep: { type: "boolean" } }, required: ["n"] },
    handle: ({ body }) => shown({ n: body.value.n + 1, keep: body.value.keep ?? null }),
  });
  const ask = await serve(t, form);

  assert.deepEqual((await ask("/form", "n=1&keep=true", formType)).json, { n: 2, keep: true });
  assert.equal((await ask("/form", "n=one", formType)).status, 400);
});

test("checks a body with a schema of zod, valibot or arktype", async (t) => {
  const valibot = defineEndpoint({
    method: "PUT",
    path: "/valibot",
    access: anyone,
    body: toStandardJsonSchema(v.object({ name: v.pipe(v.string(), v.minLength(2)) })),
    handle: ({ body }) => shown({ name: body.value.name.toUpperCase() }),
  });
  const arktype = defineEndpoint({
    method: "PATCH",
    path: "/arktype",
    access: anyone,
    body: type({ seats: "1 <= number.integer <= 500" }),
    handle: ({ body }) => shown({ seats: body.value.seats + 1 }),
  });
  const ask = await serve(t, zod, valibot, arktype);

  assert.deepEqual((await ask("/zod", '{"at":"abc"}')).json, { length: 3, tags: null });
  const refused = await ask("/zod", '{"at":"abc","tags":["a",1]}');
  assert.deepEqual([refused.status, (refused.json["errors"] as { pointer: string }[])[0]!.pointer], [400, "/tags/1"]);
  assert.deepEqual((await ask("/valibot", '{"name":"ann"}', undefined, "PUT")).json, { name: "ANN" });
  assert.equal((await ask("/valibot", '{"name":"a"}', undefined, "PUT")).status, 400);
  assert.deepEqual((await ask("/arktype", '{"seats":9}', undefined, "PATCH")).json, { seats: 10 });
  assert.equal((await ask("/arktype", '{"seats":0}', undefined, "PATCH")).status, 400);
});

test("reads only JSON if the endpoint names no media types, and accepts a missing body only with `bodyOptional`", async (t) => {
  const optional = defineEndpoint({
    method: "POST",
    path: "/optional",
    access: anyone,
    body: objectSchema("more", { note: textSchema, by: textSchema }, ["by"]),
    bodyOptional: true,
    handle: ({ body }) => shown({ note: body === null ? null : body.value.note, by: body?.value.by ?? null }),
  });
  const ask = await serve(t, zod, optional);

  const xml = await ask("/zod", "<a/>", "application/xml");

  assert.deepEqual([xml.status, xml.headers.get("accept-post")], [415, "application/json"]);
  assert.deepEqual((await ask("/optional")).json, { note: null, by: null });
  assert.deepEqual((await ask("/optional", '{"note":"a"}')).json, { note: "a", by: null });
  assert.equal((await ask("/optional", "{}")).status, 400);
});

test("checks the syntax and then the schema of a body before the endpoint looks for the record", async (t) => {
  const calls: string[] = [];
  const endpoint = defineEndpoint({
    method: "PUT",
    path: "/things/{id}",
    access: anyone,
    body: { type: "object", required: ["a"] },
    target: () => calls.push("target"),
    handle: () => shown(calls.push("handle")),
  });
  const ask = await serve(t, endpoint);

  assert.equal((await ask("/things/1", "{", undefined, "PUT")).json["code"], "malformed");
  assert.equal((await ask("/things/1", "{}", undefined, "PUT")).json["code"], "invalid");

  assert.deepEqual(calls, []);
});

test("describes the body in the OpenAPI document", async (t) => {
  const ask = await serve(t, lines, zod);

  // oxlint-disable-next-line typescript/no-explicit-any -- a document that the test looks into
  const { paths }: any = (await ask("/openapi.json", undefined, undefined, "GET")).json;

  const { content } = paths["/lines"].post.requestBody;
  assert.deepEqual(Object.keys(content), ["application/json", "application/xml"]);
  assert.deepEqual(content["application/json"].schema.required, ["lines"]);
  assert.deepEqual(paths["/zod"].post.requestBody.content["application/json"].schema.required, ["at"]);
  assert.match(paths["/lines"].post.responses["400"].$ref, /MalformedInvalid/);
});

test("refuses to start with an unusable body schema, or with a body for GET", async () => {
  const rows: readonly (readonly [body: unknown, said: RegExp])[] = [
    [5, /body is 5; it has to be a Standard Schema/],
    [
      { type: "object", requierd: ["a"] },
      /body is an object; jsonSchema: requierd is not checked; did you mean required\?/,
    ],
    [z.unknown().refine(async () => true), /body is .*; the schema gives a promise, but a body is read synchronously/],
    [{ "~standard": { version: 2 } }, /is not checked/],
  ];
  const start = (body: unknown, method = "POST") =>
    createService({
      store: sqliteStore({ path: ":memory:" }),
      endpoints: [{ method, path: "/a", access: anyone, body, handle: () => ({ status: 204 }) } as Endpoint],
    });

  for (const [body, said] of rows)
    await assert.rejects(
      start(body),
      (error: unknown) => error instanceof DeclarationError && said.test(error.message),
      String(said),
    );
  await assert.rejects(start({}, "GET"), /endpoints\[0\] \(GET \/a\): GET has no body; take POST or QUERY/);
});

test("refuses to compile a handler that reads a member of the body which the schema does not declare", () => {
  const untyped = defineEndpoint({
    method: "POST",
    path: "/a",
    access: anyone,
    consumes: ["application/json"],
    // @ts-expect-error -- the type of the body is unknown
    handle: ({ body }) => shown(body.value.a),
  });
  const misspelt = defineEndpoint({
    method: "POST",
    path: "/a",
    access: anyone,
    body: { type: "object", properties: { count: { type: "integer" } } },
    // @ts-expect-error -- there is no such member
    handle: ({ body }) => shown(body.value.cuont),
  });

  assert.notEqual(untyped, misspelt);
});
