import assert from "node:assert/strict";
import { test } from "node:test";
import { anyone, authenticated } from "../../access/permission/permission.ts";
import { absent, type Carrier, type Scheme } from "../../access/scheme/scheme.ts";
import { catalogue, type ProblemCode } from "../../core/problem/catalogue.ts";
import type { Endpoint } from "../../http/endpoint/endpoint.ts";
import { json } from "../../http/formats/json.ts";
import { xml } from "../../http/formats/xml.ts";
import { mount } from "../../http/mount/mount.ts";
import { text } from "../../resource/kinds/fields.ts";
import { defineResource } from "../../resource/resource.ts";
import { openapiDocument } from "./on-demand.ts";
import { problemComponents, responsesOf, problemsOnTheWay } from "./problems.ts";
import { problemSchema } from "./standard.ts";

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

function expected(facts: Partial<Endpoint>, schemes: readonly Scheme[] = []): ReadonlySet<ProblemCode> {
  const endpoint: Endpoint = {
    method: "DELETE",
    path: "/x",
    access: "open",
    handle: () => ({ status: 204 }),
    ...facts,
  };
  return new Set(problemsOnTheWay(endpoint, schemes));
}

function scheme(carrier: Carrier, rest: Partial<Scheme> = {}): Scheme {
  return { name: "some", carriers: [carrier], challenge: () => "Some", authenticate: () => absent, ...rest };
}

const basic = scheme({ in: "authorization", scheme: "Basic" }, { rejectedAs: "invalid_credentials" });
const cookie = scheme({ in: "cookie", name: "session" });
const { challenge: _, ...silent } = scheme({ in: "header", name: "X-Custom-Token" });

test("the problems of an endpoint follow from its facts", () => {
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

test("the problems of credentials follow from the facts of the schemes", () => {
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

test("without a challenge to offer, whoever is not known gets 403", () => {
  const codes = expected({ access: authenticated }, [silent]);

  assert.ok(codes.has("authentication_failed"));
  assert.ok(!codes.has("not_authenticated") && !codes.has("invalid_token"));
});

test("where everyone may come in, nobody is asked for credentials, but wrong ones are told", () => {
  const codes = expected({ access: anyone }, [basic]);

  assert.ok(codes.has("invalid_credentials"));
  assert.ok(!codes.has("not_authenticated") && !codes.has("permission_denied"));
});

test("an open endpoint looks at no credentials", () => {
  assert.deepEqual(expected({}, [basic, cookie]), expected({}, []));
});

test("what an answer tells in a header is in its description", () => {
  const components = problemComponents(catalogue, [json]);

  for (const [status, names] of [
    [401, ["WWW-Authenticate"]],
    [405, ["Allow"]],
    [415, ["Accept", "Accept-Post", "Accept-Patch", "Accept-Query", "Accept-Encoding"]],
    [429, ["Retry-After"]],
    [503, ["Retry-After"]],
    [404, []],
  ] as const) {
    const { headers } = components[`Problem${status}`] as { headers: object };
    assert.deepEqual(Object.keys(headers), ["X-Request-Id", ...names]);
  }
});

test("problems of one status are one answer, which names them", () => {
  assert.deepEqual(responsesOf(catalogue)(new Set(["taken", "not_found", "conflict"])), {
    "404": { $ref: "#/components/responses/Problem404", description: "Not found (`not_found`)" },
    "409": { $ref: "#/components/responses/Problem409", description: "Conflict (`conflict`), Already taken (`taken`)" },
  });
});

test("a mount says what its hook refuses with, for each action", async () => {
  const note = defineResource({ name: "note", fields: { body: text() } });
  const problems = { delete: ["last_admin"] } as const;

  const { paths } = (await openapiDocument({
    title: "Notes",
    version: "1",
    mounts: [mount(note, { permission: anyone, problems })],
  })) as unknown as { paths: Record<string, Record<string, { responses: Record<string, { description: string }> }>> };

  const refusals = paths["/notes/{id}"]!;
  assert.match(refusals["delete"]!.responses["409"]!.description, /`last_admin`/);
  assert.doesNotMatch(refusals["put"]!.responses["409"]!.description, /`last_admin`/);
});

test("every code has an example that has every member of a problem", () => {
  const { properties, required } = problemSchema(catalogue) as {
    required: string[];
    properties: { code: { enum: string[] } };
  };
  const components = problemComponents(catalogue, [json, xml]);

  for (const [code, { status }] of Object.entries(catalogue)) {
    const { content } = components[`Problem${status}`] as {
      content: Record<string, { examples: Record<string, { value: object }> }>;
    };
    const { value } = content["application/problem+json"]!.examples[code]!;
    assert.deepEqual(
      required.filter((member) => !(member in value)),
      [],
      code,
    );
    assert.ok(content["application/problem+xml"], code);
  }
  assert.deepEqual(properties.code.enum, Object.keys(catalogue));
});
