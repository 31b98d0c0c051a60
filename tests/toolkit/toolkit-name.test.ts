import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { accountsCollection, customHeaderLogin, namedKeys } from "../../src/door/auth.ts";
import { consolePages, documentation, health, metrics, outbox, rateLimits } from "../../src/door/features.ts";
import { catalogue } from "../../src/door/http.ts";
import {
  accounts,
  apiTokens,
  basicLogin,
  createService,
  defineResource,
  mount,
  authenticated,
  reference,
  Secret,
  sessionLogin,
  text,
  tokenLogin,
} from "../../src/door/index.ts";
import { anyone } from "../../src/door/index.ts";
import { emptyStore } from "../harness/test-store.ts";

// Nightly on PostgreSQL: the name of the service reaches no store.

const notes = defineResource({
  name: "note",
  fields: { user_id: reference("users", { optional: true }), body: text({ maxLength: 100 }) },
});

async function start(t: TestContext, name?: string) {
  const people = accounts({ registration: "open" });
  const service = await createService({
    store: await emptyStore(),
    secret: new Secret("a secret of 32 characters or more, from a file"),
    ...(name === undefined ? {} : { name }),
    features: [
      people,
      basicLogin(people),
      sessionLogin(people),
      tokenLogin(people),
      apiTokens(people),
      namedKeys(people),
      customHeaderLogin(people, {
        token: new Secret("a custom token of 32 characters or more"),
        username: "ann@example.com",
      }),
      health(),
      metrics({ permission: anyone }),
      documentation({ title: "Notes", version: "1" }),
      consolePages({ title: "Notes" }),
      outbox({ subscribers: [{ name: "mail", to: [notes], deliver: () => undefined }] }),
      rateLimits({ limits: [{ name: "many", by: "caller", limit: 10_000, windowSeconds: 60 }], fields: true }),
    ],
    mounts: [mount(notes, { permission: authenticated })],
  });
  t.after(() => service.close());
  const ask = async (method: string, path: string, headers: Record<string, string> = {}, body?: unknown) => {
    const response = await service.fetch(
      new Request(`http://localhost${path}`, {
        method,
        headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
      { peer: "127.0.0.1" },
    );
    const transcript = `${[...response.headers].map((each) => each.join(": ")).join("\n")}\n\n${await response.text()}`;
    return { status: response.status, headers: response.headers, transcript };
  };
  await ask("POST", "/users", {}, { name: "Ann", email: "ann@example.com", password: "the password of ann" });
  return { service, ask, ann: { authorization: `Basic ${btoa("ann@example.com:the password of ann")}` } };
}

test("never shows the name of the toolkit in a response or a token", async (t) => {
  const { service, ask, ann } = await start(t);
  const transcripts: string[] = [];
  const see = async (...request: Parameters<typeof ask>) => {
    const answer = await ask(...request);
    transcripts.push(`${request[0]} ${request[1]}: ${answer.transcript}`);
    return answer;
  };

  const paths = service.routes.map(({ path }) => path.replaceAll(/\{[^}]*\}/g, "1"));
  for (const path of paths) {
    for (const accept of ["application/json", "text/html"]) await see("GET", path, { ...ann, accept });
    for (const authorization of ["Bearer x.y.z", "Token key_x"]) await see("GET", path, { authorization });
    for (const method of ["GET", "DELETE", "OPTIONS"]) await see(method, path);
    for (const method of ["POST", "PUT", "PATCH"]) await see(method, path, {}, {});
  }
  for (const code of Object.keys(catalogue)) await see("GET", `/problems/${code}`);
  await see("POST", "/api/session/", { origin: "https://evil.example" }, { username: "a", password: "b" });
  const login = { username: "ann@example.com", password: "the password of ann" };
  for (const path of ["/api/token/", "/api/session/", "/api-token-auth/"]) await see("POST", path, {}, login);
  const { transcript: pair } = await ask("POST", "/api/token/", {}, login);
  transcripts.push(Buffer.from(/"access":"[^.]+\.([^.]+)/.exec(pair)![1]!, "base64url").toString());

  // A request id is random, so it may contain `lk_`.
  const texts = transcripts.map((each) => each.replace(/^x-request-id: .*$/m, ""));
  const found = texts.filter((each) => /latchkey|\blk_/i.test(each)).map((each) => each.slice(0, 200));
  assert.deepEqual(found, []);
  assert.ok(
    transcripts.some((each) => each.includes("api_requests_total")) &&
      transcripts.some((each) => each.includes("key_")),
  );
});

test("uses the name of the service in challenges, metrics and tokens", async (t) => {
  const { service, ask, ann } = await start(t, "book-shop");

  const { headers } = await ask("GET", "/notes");
  assert.match(headers.get("www-authenticate")!, /Basic realm="book-shop", charset="UTF-8"/);
  assert.match((await ask("GET", "/metrics")).transcript, /^book_shop_requests_total\{/m);
  const login = { username: "ann@example.com", password: "the password of ann" };
  const { transcript } = await ask("POST", "/api/token/", {}, login);
  const claims = JSON.parse(Buffer.from(/"access":"[^.]+\.([^.]+)/.exec(transcript)![1]!, "base64url").toString());
  assert.equal(claims.iss, "book-shop");
  // The service explains its decisions only to administrators.
  const explain = async () =>
    (await ask("GET", "/notes", { ...ann, "x-book-shop-explain": "1" })).headers.get("x-book-shop-explain");
  assert.equal(await explain(), null);
  const values = { role: "admin" };
  await service.store.write({ changes: [{ kind: "update", collection: accountsCollection, key: 1, values }] });
  assert.equal(JSON.parse((await explain())!).outcome, "identified");
});

test("does not start with a name that is not allowed in a header", async (t) => {
  await assert.rejects(start(t, 'Book "Shop"'), /createService: name is .*it has to be lower case with hyphens/);
});
