import assert from "node:assert/strict";
import { test } from "node:test";
import { administrator, anyOf, anyone, authenticated, confirmed } from "../../access/permission/permission.ts";
import { absent, type Carrier, type Scheme } from "../../access/scheme/scheme.ts";
import { catalogue, type ProblemCode } from "../../core/problem/catalogue.ts";
import type { Endpoint } from "../../http/declarations/endpoint.ts";
import { mount } from "../../http/declarations/mount.ts";
import { json } from "../../http/formats/json.ts";
import { xml } from "../../http/formats/xml.ts";
import { caller } from "../../resource/declaration/field.ts";
import { integer, text } from "../../resource/kinds/fields.ts";
import { defineResource } from "../../resource/resource.ts";
import { openapiDocument } from "./on-demand.ts";
import { problemSchemas } from "./problem-schemas.ts";
import { ProblemResponses, problemsOnTheWay } from "./problems.ts";

const always = [
  "internal",
  "unavailable",
  "unknown_preference",
  "method_not_allowed",
  "request_timeout",
  "uri_too_long",
  "headers_too_large",
  "not_implemented",
];
const conditional = ["malformed", "precondition_failed"];
const onWrite = "insufficient_storage";

function expected(
  facts: Partial<Endpoint>,
  schemes: readonly Scheme[] = [],
  refusals: readonly ProblemCode[] = [],
): ReadonlySet<ProblemCode> {
  const endpoint: Endpoint = {
    method: "DELETE",
    path: "/x",
    access: "open",
    handle: () => ({ status: 204 }),
    ...facts,
  };
  return new Set(problemsOnTheWay(endpoint, schemes, refusals));
}

function scheme(carrier: Carrier, rest: Partial<Scheme> = {}): Scheme {
  return { name: "some", carriers: [carrier], challenge: () => "Some", authenticate: () => absent, ...rest };
}

const basic = scheme({ in: "authorization", scheme: "Basic" }, { rejectedAs: "invalid_credentials" });
const cookie = scheme({ in: "cookie", name: "session" });
const { challenge: _, ...silent } = scheme({ in: "header", name: "X-Custom-Token" });

test("derives the problems of an endpoint from its facts", () => {
  const rows: readonly (readonly [Partial<Endpoint>, readonly string[]])[] = [
    [{}, ["not_acceptable", ...conditional, "invalid_query", onWrite]],
    [{ produces: "text/html", query: "ignored" }, [...conditional, onWrite]],
    [{ path: "/x/{id}" }, ["not_found", "not_acceptable", ...conditional, "invalid_query", onWrite]],
    [{ method: "GET" }, ["not_acceptable", ...conditional, "invalid_query"]],
    [
      { method: "POST", consumes: ["application/json"] },
      [
        "not_acceptable",
        "malformed",
        "invalid",
        "content_too_large",
        "unsupported_media_type",
        "precondition_failed",
        "invalid_query",
        onWrite,
      ],
    ],
  ];
  for (const [facts, codes] of rows) assert.deepEqual([...expected(facts)], [...codes, ...always]);
});

test("derives the problems of credentials from the facts of the schemes", () => {
  const codes = expected({ access: authenticated }, [basic, cookie]);

  for (const code of [
    "not_authenticated",
    "invalid_credentials",
    "invalid_token",
    "insecure_transport",
    "cross_site",
  ] as const) {
    assert.ok(codes.has(code), code);
  }
  for (const code of [
    "permission_denied",
    "conflicting_credentials",
    "duplicate_credentials",
    "too_many_attempts",
  ] as const) {
    assert.ok(codes.has(code), code);
  }
  assert.ok(!codes.has("authentication_failed"));
  assert.ok(!expected({ access: authenticated, method: "GET" }, [basic, cookie]).has("cross_site"));
  assert.ok(!expected({ access: authenticated }, [cookie]).has("insecure_transport"));
  assert.ok(!expected({ access: authenticated }, [cookie]).has("conflicting_credentials"));
});

test("names 403 `authentication_failed` for an unknown caller if no scheme has a challenge", () => {
  const codes = expected({ access: authenticated }, [silent]);

  assert.ok(codes.has("authentication_failed"));
  assert.ok(!codes.has("not_authenticated") && !codes.has("invalid_token"));
});

test("names no problem for missing credentials if every caller is allowed, but names one for wrong credentials", () => {
  const codes = expected({ access: anyone }, [basic]);

  assert.ok(codes.has("invalid_credentials"));
  assert.ok(!codes.has("not_authenticated") && !codes.has("permission_denied"));
});

test("names the problems of requests with a valid credential, but only at endpoints that check credentials", () => {
  assert.ok(expected({ access: anyone }, [basic], ["factor_required"]).has("factor_required"));
  assert.ok(!expected({}, [basic], ["factor_required"]).has("factor_required"));
});

test("names the problems with which a permission ends a request", () => {
  const access = anyOf(administrator, confirmed({ within: 60 }));

  assert.ok(expected({ access }, [basic]).has("confirmation_required"));
  assert.ok(!expected({ access: authenticated }, [basic]).has("confirmation_required"));
});

test("names the problems that schemes, outer records, defaults and changes of hooks can cause", async () => {
  const outer = defineResource({ name: "shelf", plural: "shelves", fields: { label: text() } });
  const inner = defineResource({ name: "book", within: outer, fields: { title: text() } });
  const own = defineResource({ name: "loan", fields: { user_id: integer({ default: caller }) } });
  const hooked = mount(own, { permission: anyone, beforeWrite: () => ({}) });
  const permission = { read: administrator, update: administrator };
  const document = (await openapiDocument({
    title: "Books",
    version: "1",
    schemes: [{ ...basic, problems: ["identity_not_bound"] }, cookie],
    asksForFactors: true,
    mounts: [mount(outer, { permission }), mount(inner, { permission: anyone }), hooked],
  })) as unknown as { paths: Record<string, Record<string, { responses: Record<string, { $ref: string }> }>> };
  const formatCodes = (method: string, path: string): string =>
    Object.values(document.paths[path]![method]!.responses)
      .map(({ $ref }) => $ref ?? "")
      .join(" ");

  const within = "/shelves/{shelf_id}/books";
  assert.match(formatCodes("get", within), /NotAuthenticated.*FactorRequired.* .*IdentityNotBoundPermissionDenied/);
  assert.match(formatCodes("post", within), /PermissionDenied/);
  assert.match(formatCodes("post", "/loans"), /NotAuthenticated/);
  assert.doesNotMatch(formatCodes("get", "/loans"), /NotAuthenticated|PermissionDenied/);
  for (const [method, path] of [
    ["post", "/loans"],
    ["patch", "/loans/{id}"],
  ] as const)
    assert.match(formatCodes(method, path), /ConflictTakenReferenced/, method);
  assert.match(formatCodes("delete", "/loans/{id}"), /MalformedInvalid.*ConflictTakenReferenced/);
  assert.doesNotMatch(formatCodes("post", within), /Taken/);
});

test("ignores credentials at an open endpoint", () => {
  assert.deepEqual(expected({}, [basic, cookie]), expected({}, []));
});

function answersFor(...codes: readonly string[]) {
  const problems = new ProblemResponses({ catalogue, formats: [json, xml], basePath: "" });
  const responses = problems.of(new Set(codes));
  return { responses, components: problems.components() };
}

test("describes the header fields of a response", () => {
  for (const [code, names] of [
    ["not_authenticated", ["WWW-Authenticate"]],
    ["method_not_allowed", ["Allow"]],
    ["unsupported_media_type", ["Accept", "Accept-Post", "Accept-Patch", "Accept-Query", "Accept-Encoding"]],
    ["too_many_attempts", ["Retry-After"]],
    ["unavailable", ["Retry-After"]],
    ["not_found", []],
  ] as const) {
    const [answer] = Object.values(answersFor(code).components) as { headers: object }[];
    assert.deepEqual(Object.keys(answer!.headers), ["X-Request-Id", ...names]);
  }
});

test("combines the problems of one status into one response, with exactly their schemas", () => {
  const { responses, components } = answersFor("taken", "not_found", "conflict");

  assert.deepEqual(responses, {
    404: { $ref: "#/components/responses/NotFound" },
    409: { $ref: "#/components/responses/ConflictTaken" },
  });
  const { description, content } = components["ConflictTaken"] as { description: string; content: object };
  const schema = {
    anyOf: [{ $ref: "#/components/schemas/ConflictProblem" }, { $ref: "#/components/schemas/TakenProblem" }],
  };
  assert.equal(description, "Conflict (`conflict`), Already taken (`taken`)");
  assert.deepEqual(Object.keys(content), ["application/problem+json", "application/problem+xml"]);
  assert.partialDeepStrictEqual(content, {
    "application/problem+json": { schema },
    "application/problem+xml": { schema },
  });
  assert.partialDeepStrictEqual(components["NotFound"], {
    content: { "application/problem+json": { schema: { $ref: "#/components/schemas/NotFoundProblem" } } },
  });
});

test("describes for every operation the problems that only a feature names", async () => {
  const busy = { code: "busy", status: 429, title: "Busy", detail: "Busy.", why: "Busy.", cure: "Wait." };
  const sold = { ...busy, code: "sold", status: 409 };
  const note = defineResource({ name: "note", fields: { body: text() } });

  const { paths } = (await openapiDocument({
    title: "Notes",
    version: "1",
    problems: [busy, sold],
    mounts: [mount(note, { permission: anyone, problems: { create: [sold] } })],
  })) as unknown as { paths: Record<string, Record<string, { responses: Record<string, { $ref: string }> }>> };

  const { get, post } = paths["/notes"]!;
  assert.match(get!.responses["429"]!.$ref, /Busy$/);
  assert.match(post!.responses["429"]!.$ref, /Busy$/);
  assert.match(post!.responses["409"]!.$ref, /Sold$/);
  assert.equal(get!.responses["409"], undefined);
});

test("describes the problems of a mount's hook for each action", async () => {
  const note = defineResource({ name: "note", fields: { body: text() } });
  const problems = { delete: ["last_admin"] } as const;

  const { paths } = (await openapiDocument({
    title: "Notes",
    version: "1",
    mounts: [mount(note, { permission: anyone, problems })],
  })) as unknown as { paths: Record<string, Record<string, { responses: Record<string, { $ref: string }> }>> };

  const refusals = paths["/notes/{id}"]!;
  assert.match(refusals["delete"]!.responses["409"]!.$ref, /LastAdmin/);
  assert.doesNotMatch(refusals["put"]!.responses["409"]!.$ref, /LastAdmin/);
});

test("gives every code an example with all members of a problem, and a separate schema", () => {
  const schemas = problemSchemas(catalogue);
  const { properties, required } = schemas["Problem"] as {
    required: string[];
    properties: { code: { enum: string[] } };
  };

  for (const [code, { status }] of Object.entries(catalogue)) {
    const { components } = answersFor(code);
    const [answer] = Object.values(components) as {
      content: Record<string, { schema: { $ref: string }; examples: Record<string, { value: object }> }>;
    }[];
    const { schema, examples } = answer!.content["application/problem+json"]!;
    const { value } = examples[code]!;
    assert.deepEqual(
      required.filter((member) => !(member in value)),
      [],
      code,
    );
    const own = { properties: { status: { enum: [status] }, code: { enum: [code] } }, required: ["status", "code"] };
    assert.partialDeepStrictEqual(schemas[schema.$ref.split("/").at(-1)!], { allOf: [{}, own] });
  }
  assert.deepEqual(properties.code.enum, Object.keys(catalogue));
});
