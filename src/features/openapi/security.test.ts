import assert from "node:assert/strict";
import { test } from "node:test";
import {
  administrator,
  anyOf,
  anyone,
  authenticated,
  readOnly,
  type Permission,
} from "../../access/permission/permission.ts";
import { absent, type Carrier, type Scheme } from "../../access/scheme/scheme.ts";
import { defineEndpoint, type Endpoint } from "../../http/declarations/endpoint.ts";
import { buildSecurity, securitySchemes } from "./security.ts";

function scheme(name: string, ...carriers: readonly Carrier[]): Scheme {
  return { name, carriers, authenticate: () => absent };
}

const schemes = [
  scheme("basic", { in: "authorization", scheme: "Basic" }),
  scheme("bearer", { in: "authorization", scheme: "bearer" }, { in: "cookie", name: "access_token" }),
  scheme("session", { in: "cookie", name: "session", hostPrefix: true }),
  scheme("token", { in: "authorization", scheme: "token" }),
  scheme("custom", { in: "header", name: "X-Custom-Token" }),
  scheme("remote", { in: "proxy", name: "X-Remote-User" }),
];

test("describes each carrier as an OpenAPI security scheme, except proxy credentials", () => {
  const described = securitySchemes(schemes, false);
  const kinds = Object.entries(described).map(([name, kind]) => [name, { ...kind, description: "" }]);

  assert.deepEqual(Object.fromEntries(kinds), {
    basic: { type: "http", scheme: "basic", description: "" },
    bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT", description: "" },
    "bearer-cookie": { type: "apiKey", in: "cookie", name: "access_token", description: "" },
    session: { type: "apiKey", in: "cookie", name: "session", description: "" },
    token: { type: "apiKey", in: "header", name: "Authorization", description: "" },
    custom: { type: "apiKey", in: "header", name: "X-Custom-Token", description: "" },
  });
  assert.match(String(described["token"]?.["description"]), /`Authorization: Token …`/);
});

test("names a cookie with its prefix over TLS", () => {
  const { session, "bearer-cookie": access } = securitySchemes(schemes, true);

  assert.equal(session?.["name"], "__Host-session");
  assert.equal(access?.["name"], "access_token");
});

test("shows whether an operation reads credentials and requires them", () => {
  const needed = [{ basic: [] }, { token: [] }];
  const throwing: Permission = {
    name: "throwing",
    decide: ({ identity }) => (identity!.role === "admin" ? "allow" : "deny"),
  };
  const rows: readonly (readonly [Endpoint["access"], Endpoint["action"] & string, unknown])[] = [
    ["open", "call", []],
    [authenticated, "call", needed],
    [throwing, "call", needed],
    [anyone, "call", [...needed, {}]],
    [anyOf(administrator, readOnly), "read", [...needed, {}]],
    [anyOf(administrator, readOnly), "update", needed],
  ];
  for (const [access, action, expected] of rows) {
    const endpoint = defineEndpoint({
      method: "GET",
      path: "/x/{id}",
      action,
      access,
      handle: () => ({ status: 204 }),
    });

    assert.deepEqual(buildSecurity(endpoint, ["basic", "token"]), expected);
  }
});

test("calls a permission with sample values for the path parameters", () => {
  const seen: unknown[] = [];
  const access: Permission = {
    name: "asking",
    decide({ params }) {
      seen.push(params);
      return "deny";
    },
  };

  buildSecurity(
    defineEndpoint({ method: "GET", path: "/x/{id}/{name:text}", access, handle: () => ({ status: 204 }) }),
    [],
  );

  assert.deepEqual(seen, [{ id: 1, name: "text" }]);
});
