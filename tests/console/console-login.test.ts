import assert from "node:assert/strict";
import { test } from "node:test";
import { consolePages } from "../../src/door/features.ts";
import { formType, type Endpoint } from "../../src/door/http.ts";
import { authenticated, defineEndpoint, defineResource, mount, text } from "../../src/door/index.ts";
import { ownService } from "../harness/own-service.ts";

// Nightly on PostgreSQL: these pages show what the API answers, whose tests run on both databases.

const notes = mount(defineResource({ name: "note", fields: { body: text() } }), { permission: authenticated });
const password = {
  type: "object",
  properties: { username: { type: "string" }, password: { type: "string" } },
} as const;
const code = { type: "object", properties: { email: { type: "string" }, code: { type: "string" } } } as const;

const rows: readonly (readonly [what: string, login: Pick<Endpoint, "consumes" | "body">, hasForm: boolean])[] = [
  ["a form with a name and a password", { consumes: ["application/json", formType], body: password }, true],
  ["a form of unknown fields", { consumes: [formType] }, true],
  ["JSON alone", { consumes: ["application/json"], body: password }, false],
  ["a form with a code", { consumes: [formType], body: code }, false],
];

for (const [what, login, hasForm] of rows)
  test(`shows ${hasForm ? "a" : "no"} login form if the login endpoint accepts ${what}`, async (t) => {
    const endpoints = [
      defineEndpoint({
        ...login,
        method: "POST",
        path: "/api/session/",
        access: "open",
        handle: () => ({ status: 204 }),
      }),
    ];
    const features = [consolePages({ title: "Notes" })];
    const { get, ask } = await ownService(t, { mounts: [notes], endpoints, features });

    const page = await get("/notes", { headers: { accept: "text/html" } });
    const posted = await ask("POST", "/api/session/", {
      body: "username=a&password=b",
      headers: { "content-type": formType },
    });

    assert.equal(page.status, 401);
    assert.equal(page.text.includes('action="/api/session/"'), hasForm);
    if (hasForm) assert.equal(posted.status, 204);
  });
