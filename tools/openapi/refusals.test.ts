import { after, before, test } from "node:test";
import { startService, type ServiceProcess } from "../../tests/harness/service-process.ts";
import { readDescription, type Description, type Operation } from "./description.ts";

// For any mistake in a request, the response must be one that the operation's description names.

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
  { title: "nothing sent" },
  { title: "no JSON", headers: json, body: "{" },
  { title: "no object", headers: json, body: "[]" },
  { title: "null", headers: json, body: "null" },
  { title: "a member that is not known", headers: json, body: '{"no_such_member":1}' },
  {
    title: "members of the wrong type",
    headers: json,
    body: '{"name":7,"username":7,"password":7,"token":7,"refresh":7,"status":7,"product":7}',
  },
  { title: "a wrong login", headers: json, body: '{"username":"nobody","password":"nothing"}' },
  { title: "a wrong token", headers: json, body: '{"token":"x","refresh":"x"}' },
  { title: "a token that is not known", headers: json, body: '{"token":"eyJhbGciOiJub25lIn0.e30."}' },
  { title: "no XML", headers: { "content-type": "application/xml" }, body: "<a" },
  { title: "a type that nobody reads", headers: { "content-type": "text/csv" }, body: "a,b" },
  { title: "a body that is too large", headers: json, body: `"${"x".repeat(1_100_000)}"` },
  { title: "a patch that is none", headers: jsonPatch, body: '[{"op":"no"}]' },
  { title: "a patch that does not apply", headers: jsonPatch, body: '[{"op":"remove","path":"/nothing"}]' },
  { title: "a patch of the wrong type", headers: mergePatch, body: '{"name":7}' },
  { title: "no format for the answer", headers: { accept: "image/png" } },
  { title: "a parameter that is not known", query: "?no_such_parameter=1" },
  { title: "a cursor that was made by hand", query: "?cursor=by-hand" },
  { title: "a limit that is too high", query: "?limit=100000" },
  { title: "an ETag that is none", headers: { "if-match": "none", "if-none-match": "none" } },
  { title: "an ETag that is not there any more", headers: { ...json, "if-match": '"old"' }, body: "{}" },
  { title: "an idempotency key that is too short", headers: { ...json, "idempotency-key": "1" }, body: "{}" },
  { title: "nothing there", id: "999999", headers: json, body: "{}" },
  { title: "an id that is none", id: "0" },
  { title: "Basic that is none", headers: { authorization: "Basic !" } },
  { title: "a Bearer token that is none", headers: { authorization: "Bearer x" } },
  { title: "a Token that is none", headers: { authorization: "Token x" } },
  { title: "a session that is not there", headers: { authorization: "", cookie: `session=${"x".repeat(43)}` } },
  { title: "two schemes at once", headers: { authorization: "Basic a, Bearer b" } },
  { title: "an ETag that nobody gave", headers: { ...json, "if-none-match": "*" }, body: "{}" },
  { title: "an address that is too long", query: `?${"x".repeat(8192)}` },
  { title: "headers that are too large", headers: { "x-padding": "x".repeat(17_000) } },
  { title: "another site", headers: { "sec-fetch-site": "cross-site", origin: "https://elsewhere.example" } },
];

let service: ServiceProcess;
let description: Description;

before(async () => {
  service = await startService();
  description = await readDescription(service.address);
});

after(() => service[Symbol.asyncDispose]());

for (const mistake of mistakes) {
  test(`${mistake.title}: every operation answers as described`, async () => {
    for (const operation of description.operations) await ask(operation, mistake);
  });
}

async function ask(operation: Operation, { headers = {}, body, query = "", id = "1" }: Mistake): Promise<void> {
  const { method, template } = operation;
  // A request that would end the administrator's login is skipped.
  if (method === "DELETE" && template === "/users/{id}/sessions") return;
  const target = template.replaceAll(/\{\w*id\}/g, id).replace("{code}", "no_such_code") + query;
  const authorization = `Basic ${Buffer.from(`admin:${service.password}`).toString("base64")}`;
  const sent = body === undefined || method === "GET" ? {} : { body };
  const headed = { method, headers: { authorization, ...headers }, ...sent };
  const response = await fetch(service.address + target, { ...headed, redirect: "manual" });

  await description.check(operation, response);
}
