import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test, type TestContext } from "node:test";
import * as auth from "../../src/door/auth.ts";
import * as features from "../../src/door/features.ts";
import * as latchkey from "../../src/door/index.ts";
import {
  accepted,
  accounts,
  anyone,
  createService,
  defineFeature,
  defineResource,
  mount,
  Secret,
  text,
  type Feature,
  type Scheme,
  type Service,
} from "../../src/door/index.ts";
import { emptyStore } from "../harness/test-store.ts";

const secret = new Secret("a secret of 32 characters or more.");
const people = accounts();
const notes = defineResource({ name: "note", fields: { body: text() } });
const mounted = mount(notes, { permission: anyone });

const sessions = latchkey.sessionLogin(people);
const issuer = "https://a.example";
const company = { id: "company", title: "Company", issuer, clientId: "b", clientSecret: secret };
const metadata = {
  issuer,
  authorization_endpoint: `${issuer}/a`,
  token_endpoint: `${issuer}/t`,
  jwks_uri: `${issuer}/k`,
};

const events = features.outbox({ subscribers: [{ name: "mail", to: [notes], deliver: () => undefined }] });
const mails = features.mail(events, {
  send: async () => undefined,
  from: "no-reply@example.com",
  publicURL: "https://own.example",
});
const box = auth.mailbox(people, mails);

/** The built-in features with minimal options. */
const builtIn = [
  people,
  latchkey.basicLogin(people),
  sessions,
  latchkey.tokenLogin(people),
  latchkey.apiTokens(people),
  auth.namedKeys(people),
  auth.totp(people),
  auth.passkeys(people),
  auth.customHeaderLogin(people, { token: secret, username: "ann" }),
  auth.remoteUserLogin(people),
  auth.issuerLogin(people, {
    issuers: [{ issuer: "https://a.example", audience: "b", jwksURL: "https://a.example/keys", algorithms: ["ES256"] }],
  }),
  auth.identityProviders(people, { sessions, providers: [company], fetch: async () => Response.json(metadata) }),
  mails,
  box,
  auth.accountNotices(people, mails),
  auth.passwordReset(people, box),
  auth.verifiedEmail(people, box),
  auth.groupInvitations(people, box),
  auth.mailLogin(people, box),
  features.health(),
  features.metrics(),
  features.documentation({ title: "Notes", version: "1" }),
  features.consolePages({ title: "Notes" }),
  events,
  features.rateLimits({ limits: [{ name: "calls", by: "address", limit: 100_000, windowSeconds: 60 }] }),
] as const;

/** Accepts every caller as an administrator, with the name in the header. */
const visitor: Scheme = {
  name: "visitor",
  carriers: [{ in: "header", name: "X-Visitor" }],
  challenge: () => "Visitor",
  authenticate: (username) =>
    accepted({ id: 1, username, role: "admin", scheme: "visitor", scopes: null, expiresAt: null }),
};

test("tests all exported features in this file", () => {
  const text = ["index", "auth", "features"]
    .map((door) => readFileSync(new URL(`../../src/door/${door}.ts`, import.meta.url), "utf8"))
    .join("\n");
  const files = [...text.matchAll(/from "(\.\.\/[^"]+)"/g)].map(
    ([, file]) => new URL(file!, import.meta.resolve("../../src/door/index.ts")),
  );
  const makers = files
    .flatMap((file) => [
      ...readFileSync(file, "utf8").matchAll(/^export function (\w+)\([^)]*\): (?:Accounts)?Feature\b/gm),
    ])
    .map(([, name]) => name!);

  assert.ok(makers.length >= builtIn.length, makers.join());
  const source = readFileSync(import.meta.filename, "utf8");
  assert.deepEqual(
    makers.filter((name) => !new RegExp(`\\b${name}\\(`).test(source)),
    [],
  );
});

for (const feature of builtIn)
  test(`answers all operations of ${feature.name} without a fault if the service has only this feature and those that it needs`, async (t) => {
    const { service, faults } = await start(t, withNeeds(feature));

    await askEverything(service);

    assert.deepEqual(faults, []);
  });

for (const feature of builtIn)
  test(`refuses to start without ${feature.name} if other features need it, and works without these features too`, async (t) => {
    const others = builtIn.filter((each) => each !== feature);
    const needing = others.filter((each) => each.needs.includes(feature));
    if (needing.length > 0)
      await assert.rejects(start(t, others), (error: Error) => {
        for (const { name } of needing)
          assert.match(error.message, new RegExp(`feature ${name} needs ${feature.name}.*add it`, "i"));
        return true;
      });

    const { service, faults } = await start(
      t,
      others.filter((each) => !withNeeds(each).includes(feature)),
    );
    await askEverything(service);
    await followLinks(service, faults);

    assert.deepEqual(faults, []);
  });

test("has no broken link on the pages of a service with all built-in features", async (t) => {
  const { service, faults } = await start(t, builtIn);

  assert.ok((await followLinks(service, faults)) > 50);

  assert.deepEqual(faults, []);
});

function withNeeds(feature: Feature): readonly Feature[] {
  return [...new Set([...feature.needs.flatMap(withNeeds), feature])];
}

async function start(
  t: TestContext,
  list: readonly Feature[],
): Promise<{ readonly service: Service; readonly faults: string[] }> {
  const faults: string[] = [];
  // No feature has a file of signing keys, because no token outlives this service.
  const service = await createService({
    store: await emptyStore(),
    secret,
    trustedProxies: ["192.0.2.0/24"],
    ownOrigins: ["https://own.example"],
    features: [...list, defineFeature({ name: "visitors", setUp: () => ({ offer: null, schemes: [visitor] }) })],
    mounts: [mounted],
    observe: (seen) => void (seen.kind === "fault" && faults.push(String(seen.error))),
  });
  t.after(() => service.close());
  return { service, faults };
}

/** Calls each operation as an unknown caller and as an administrator, without a body and with two simple bodies. */
async function askEverything(service: Service): Promise<void> {
  for (const { methods } of service.routes)
    for (const { method, path } of methods.values())
      for (const headers of [{}, { "x-visitor": "ann" }])
        for (const body of method === "GET" ? [undefined] : [undefined, "{}", '{"body":"a","name":"a","username":"b"}'])
          assert.ok(
            (await ask(service, method, filled(path), headers, body)).status < 500,
            `${method} ${path} ${body}`,
          );
}

function filled(path: string): string {
  return path.replaceAll(/\{(\w+)(?::(\w+))?\}/g, (_, name: string, type?: string) =>
    type === "uuid" ? "0197a000-0000-7000-8000-000000000000" : type === "text" || name === "code" ? "not_found" : "1",
  );
}

/**
 * Visits the start pages and the pages that links lead to, at most 400. Adds broken links to the faults. Returns the
 * number of pages.
 */
async function followLinks(service: Service, faults: string[]): Promise<number> {
  /** The pages that were found, each with the page that links to it. */
  const found = new Map(["/", "/docs", "/notes", "/problems", "/console"].map((path) => [path, ""]));
  const begun = found.size;
  let at = 0;
  // Creates the administrator as a user too, if the service has users.
  await ask(
    service,
    "POST",
    "/users",
    { "x-visitor": "ann" },
    '{"name":"Ann","email":"ann@example.org","username":"ann","password":"a long enough secret"}',
  );
  for (const [path, on] of found) {
    const { status, html } = await ask(service, "GET", path, { "x-visitor": "ann", accept: "text/html" });
    // Reports no start path, because its feature may be missing. Reports no page of a session or a token, because the
    // caller has neither.
    if (at++ >= begun && status >= 400 && !/^\/api\/session|\/token/.test(path))
      faults.push(`${on} links to ${path}, which answers ${status}`);
    if (status >= 400) continue;
    for (const [, link] of html.matchAll(/\s(?:href|src)="(\/[^"#]*)/g))
      addTo(found, link!.replaceAll("&amp;", "&"), path);
  }
  return found.size;
}

function addTo(found: Map<string, string>, path: string, on: string): void {
  if (found.size < 400 && !found.has(path)) found.set(path, on);
}

async function ask(service: Service, method: string, path: string, headers: Record<string, string>, body?: string) {
  const request = new Request(`http://127.0.0.1${path}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body }),
  });
  const response = await service.fetch(request, { peer: "127.0.0.1" });
  const content = await response.text();
  return { status: response.status, html: /html/.test(response.headers.get("content-type") ?? "") ? content : "" };
}
