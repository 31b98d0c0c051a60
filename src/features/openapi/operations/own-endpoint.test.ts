import assert from "node:assert/strict";
import { test } from "node:test";
import type { Endpoint } from "../../../http/declarations/endpoint.ts";
import { json } from "../../../http/formats/json.ts";
import { xml } from "../../../http/formats/xml.ts";
import type { Format } from "../../../http/request/format.ts";
import * as fields from "../../../resource/kinds/fields.ts";
import { defineResource } from "../../../resource/resource.ts";
import type { Description } from "./operation.ts";
import { describeOwn } from "./own-endpoint.ts";

const account = defineResource({
  name: "account",
  fields: { role: fields.enumeration(["user", "admin"]), proof: fields.text({ maxLength: 9, writeOnly: true }) },
});

function describe(facts: Partial<Endpoint>): Description {
  const endpoint: Endpoint = { method: "GET", path: "/x", access: "open", handle: () => ({ status: 204 }), ...facts };
  return describeOwn(endpoint, [json, xml]);
}

const role = { type: "string", enum: ["user", "admin"] };

test("describes the body and the response of an endpoint as declared", () => {
  const responses = { 200: { description: "Changed.", schema: account } };
  const { request, responses: described } = describe({
    method: "PUT",
    documentation: { summary: "Put", request: account, responses },
  });

  const { schema } = request("application/json") as { schema: Record<string, unknown> };
  assert.deepEqual(schema["properties"], {
    role,
    proof: { type: "string", minLength: 1, maxLength: 9, writeOnly: true },
  });
  assert.deepEqual(schema["required"], ["role", "proof"]);
  const shown = { type: "object", xml: { name: "account" }, properties: { role }, required: ["role"] };
  assert.deepEqual(described["200"]?.["content"], {
    "application/json": { schema: shown },
    "application/xml": { schema: shown },
  });
});

test("requires no member in a PATCH, and describes a JSON Patch as in the standard", () => {
  const { request } = describe({ method: "PATCH", documentation: { summary: "Patch", request: account } });

  const { schema } = request("application/merge-patch+json") as { schema: Record<string, unknown> };
  assert.equal(schema["required"], undefined);
  assert.deepEqual(request("application/json-patch+json"), { schema: { $ref: "#/components/schemas/JSONPatch" } });
});

test("describes a response only in the formats that its schema can describe", () => {
  const responses = { 200: { description: "Shown.", schema: account } };
  const endpoint: Endpoint = { method: "GET", path: "/x", access: "open", handle: () => ({ status: 204 }) };
  const html: Format = { ...json, mediaType: "text/html" };
  const { responses: described } = describeOwn({ ...endpoint, documentation: { summary: "Read", responses } }, [
    json,
    html,
    { ...html, mediaType: "text/csv", shows: "lists" },
  ]);

  const content = described["200"]?.["content"] as Record<string, unknown>;
  assert.deepEqual(Object.keys(content), ["application/json"]);
});

test("copies a JSON Schema unchanged", () => {
  const { request } = describe({ method: "POST", documentation: { summary: "Post", request: { type: "null" } } });

  assert.deepEqual(request("application/json"), { schema: { type: "null" } });
});

test("describes a response with a fixed media type only in this media type", () => {
  const responses = { 200: { description: "Text.", schema: { type: "string" } } };
  const { responses: described } = describe({ produces: "text/html", documentation: { summary: "Page", responses } });

  assert.deepEqual(described["200"]?.["content"], { "text/html": { schema: { type: "string" } } });
});

test("describes the meaning of header fields next to the request id", () => {
  const responses = { 204: { description: "Gone.", headers: { "Set-Cookie": "Clears it." } } };
  const { responses: described } = describe({ method: "DELETE", documentation: { summary: "Leave", responses } });

  const { headers } = described["204"] as { headers: Record<string, unknown> };
  assert.deepEqual(Object.keys(headers), ["X-Request-Id", "Set-Cookie"]);
  assert.deepEqual(headers["Set-Cookie"], { description: "Clears it.", schema: { type: "string" } });
});

test("describes an endpoint without documentation by its method and path", () => {
  const { operationId, tag, summary, responses } = describe({
    path: "/.well-known/jwks.json",
    produces: "application/json",
  });

  assert.deepEqual(
    { operationId, tag, summary },
    { operationId: "getWellKnownJwksJson", tag: "service", summary: "GET /.well-known/jwks.json" },
  );
  assert.deepEqual(responses["200"]?.["content"], { "application/json": { schema: {} } });
  assert.deepEqual(Object.keys(describe({ method: "DELETE" }).responses), ["204"]);
});
