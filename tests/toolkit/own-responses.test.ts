import assert from "node:assert/strict";
import { test } from "node:test";
import { documentation } from "../../src/door/features.ts";
import { defineResponse, listOf } from "../../src/door/http.ts";
import { anyone, dateTime, defineEndpoint, integer, text } from "../../src/door/index.ts";
import { ownService } from "../harness/own-service.ts";

// Nightly on PostgreSQL: the promise is about declared responses, which no store changes.

const quote = defineResponse({
  name: "quote",
  fields: { price: integer({ example: 950 }), until: dateTime({ optional: true }), note: text() },
  optional: ["note"],
});
const create = defineEndpoint({
  method: "POST",
  path: "/quotes",
  access: anyone,
  responses: { 201: quote },
  documentation: {
    summary: "Ask for a quote",
    responses: { 201: { description: "The quote." }, 303: { description: "See it." } },
  },
  handle: () => quote.reply(201, { price: 950, until: null }),
});
const list = defineEndpoint({
  method: "GET",
  path: "/quotes",
  access: anyone,
  responses: { 200: listOf(quote, "quotes"), 204: null },
  handle: () =>
    listOf(quote, "quotes").reply(200, [
      { price: 1, until: null, note: "a" },
      { price: 2, until: null },
    ]),
});

test("answers with the declared body, in JSON and XML", async (t) => {
  const { ask, get } = await ownService(t, { endpoints: [create, list] });

  const made = await ask("POST", "/quotes");

  assert.deepEqual([made.status, made.json], [201, { price: 950, until: null }]);
  assert.match(
    (await get("/quotes", { headers: { accept: "application/xml" } })).text,
    /<quotes><quote><price>1<\/price>.*<note>a<\/note><\/quote><quote>.*<\/quotes>/,
  );
});

test("describes declared responses in OpenAPI, with the words of the documentation", async (t) => {
  const { get } = await ownService(t, {
    endpoints: [create, list],
    features: [documentation({ title: "Shop", version: "1" })],
  });

  const { post, get: read } = (await get("/openapi.json")).json.paths["/quotes"];

  const { 201: created, 303: other } = post.responses;
  assert.equal(created.description, "The quote.");
  assert.deepEqual(created.content["application/json"].schema, {
    type: "object",
    xml: { name: "quote" },
    properties: {
      price: { type: "integer", examples: [950] },
      until: { type: ["string", "null"], format: "date-time" },
      note: { type: "string" },
    },
    required: ["price", "until"],
  });
  assert.deepEqual([other.description, other.content], ["See it.", undefined]);
  assert.equal(read.responses["200"].description, "Done.");
  assert.equal(read.responses["200"].content["application/json"].schema.items.xml.name, "quote");
  assert.equal(read.responses["204"].content, undefined);
});

test("refuses an endpoint whose responses are no responses", async (t) => {
  const wrong = { ...create, responses: { abc: null, 200: { price: integer() } } } as never;

  await assert.rejects(
    ownService(t, { endpoints: [wrong] }),
    /responses is an object; of 200: it has to be defineResponse[^]*; abc is not a status from 200 to 599/,
  );
});
