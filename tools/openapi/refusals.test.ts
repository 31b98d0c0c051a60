import { after, before, test } from "node:test";
import { startService, type ServiceProcess } from "../../tests/harness/service-process.ts";
import { readDescription, type Description, type Operation } from "./description.ts";

// Sends each mistake to every operation. The description of the operation must contain the response.

interface Mistake {
  readonly title: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly query?: string;
  readonly id?: string;
}

const json = { "content-type": "application/json" };
const mergePatch = { "content-type": "application/merge-patch+json" };
const jsonPatch = { "content-type": "application/json-patch+json" };

const mistakes: readonly Mistake[] = [
  { title: "no body" },
  { title: "invalid JSON", headers: json, body: "{" },
  { title: "an array instead of an object", headers: json, body: "[]" },
  { title: "null", headers: json, body: "null" },
  { title: "an unknown member", headers: json, body: '{"no_such_member":1}' },
  {
    title: "members of the wrong type",
    headers: json,
    body: '{"name":7,"username":7,"password":7,"token":7,"refresh":7,"status":7,"product":7}',
  },
  { title: "a wrong login", headers: json, body: '{"username":"nobody","password":"nothing"}' },
  { title: "a wrong token", headers: json, body: '{"token":"x","refresh":"x"}' },
  { title: "an unsigned token", headers: json, body: '{"token":"eyJhbGciOiJub25lIn0.e30."}' },
  { title: "invalid XML", headers: { "content-type": "application/xml" }, body: "<a" },
  { title: "an unsupported media type", headers: { "content-type": "text/csv" }, body: "a,b" },
  { title: "a body that is too large", headers: json, body: `"${"x".repeat(1_100_000)}"` },
  { title: "an unknown patch operation", headers: jsonPatch, body: '[{"op":"no"}]' },
  { title: "a patch that does not apply", headers: jsonPatch, body: '[{"op":"remove","path":"/nothing"}]' },
  { title: "a patch of the wrong type", headers: mergePatch, body: '{"name":7}' },
  { title: "no format that the client accepts", headers: { accept: "image/png" } },
  { title: "an unknown parameter", query: "?no_such_parameter=1" },
  { title: "a forged cursor", query: "?cursor=by-hand" },
  { title: "a limit that is too high", query: "?limit=100000" },
  { title: "an invalid ETag", headers: { "if-match": "none", "if-none-match": "none" } },
  { title: "an outdated ETag", headers: { ...json, "if-match": '"old"' }, body: "{}" },
  { title: "an idempotency key that is too short", headers: { ...json, "idempotency-key": "1" }, body: "{}" },
  { title: "a missing record", id: "999999", headers: json, body: "{}" },
  { title: "an invalid id", id: "0" },
  { title: "an invalid Basic credential", headers: { authorization: "Basic !" } },
  { title: "an invalid Bearer token", headers: { authorization: "Bearer x" } },
  { title: "an invalid API token", headers: { authorization: "Token x" } },
  { title: "an unknown session", headers: { authorization: "", cookie: `session=${"x".repeat(43)}` } },
  { title: "two schemes at once", headers: { authorization: "Basic a, Bearer b" } },
  { title: "If-None-Match: *", headers: { ...json, "if-none-match": "*" }, body: "{}" },
  { title: "an address that is too long", query: `?${"x".repeat(8192)}` },
  { title: "headers that are too large", headers: { "x-padding": "x".repeat(17_000) } },
  {
    title: "a request from another site",
    headers: { "sec-fetch-site": "cross-site", origin: "https://elsewhere.example" },
  },
];

let service: ServiceProcess;
let description: Description;

before(async () => {
  service = await startService();
  description = await readDescription(service.address);
});

after(() => service[Symbol.asyncDispose]());

for (const mistake of mistakes) {
  test(`answers as described in every operation: ${mistake.title}`, async () => {
    for (const operation of description.operations) await ask(operation, mistake);
  });
}

async function ask(operation: Operation, { headers = {}, body, query = "", id = "1" }: Mistake): Promise<void> {
  const { method, template } = operation;
  // Skips the request that would end the administrator's login.
  if (method === "DELETE" && template === "/users/{id}/sessions") return;
  const target = template.replaceAll(/\{\w*id\}/g, id).replace("{code}", "no_such_code") + query;
  const authorization = `Basic ${Buffer.from(`admin:${service.password}`).toString("base64")}`;
  const sent = body === undefined || method === "GET" ? {} : { body };
  const headed = { method, headers: { authorization, ...headers }, ...sent };
  const response = await fetch(service.address + target, { ...headed, redirect: "manual" });

  await description.check(operation, response);
}
