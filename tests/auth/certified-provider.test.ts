import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { exportJWK, generateKeyPair } from "jose";
import Provider from "oidc-provider";
import { identityProviders } from "../../src/door/auth.ts";
import { accounts, Secret, sessionLogin } from "../../src/door/index.ts";
import { logInAt } from "../harness/oidc-provider-pages.ts";
import { clientId, clientSecret } from "../harness/openid-issuer.ts";
import { open, serve } from "../harness/own-logins.ts";
import { setsSession } from "../harness/provider-logins.ts";

// Nightly on PostgreSQL: each login depends on the answers of the provider.

const origin = "https://shop.example";

/** Starts oidc-provider, a certified OpenID Provider, which has a user for every login name. */
async function startProvider(t: TestContext, algorithm: "RS256" | "ES256" | "EdDSA", method: string): Promise<string> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), alg: algorithm, use: "sig", kid: "one" };
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [`${origin}/api/login/company/callback`],
        token_endpoint_auth_method: method,
        id_token_signed_response_alg: algorithm,
      },
    ],
    clientAuthMethods: [method],
    jwks: { keys: [jwk] },
    cookies: { keys: ["a key for the cookies of the provider"] },
    claims: { email: ["email", "email_verified"], profile: ["name"] },
    findAccount: (_context: unknown, sub: string) => ({
      accountId: sub,
      claims: () => ({ sub, email: `${sub}@company.example`, email_verified: true, name: sub }),
    }),
  });
  server.on("request", provider.callback());
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return issuer;
}

for (const [algorithm, method] of [
  ["RS256", "client_secret_basic"],
  ["ES256", "client_secret_post"],
  ["EdDSA", "client_secret_basic"],
] as const)
  test(`logs in at oidc-provider with ${algorithm} and ${method}`, async (t) => {
    const issuer = await startProvider(t, algorithm, method);
    const people = accounts(open);
    const sessions = sessionLogin(people);
    const company = { id: "company", title: "Company", issuer, clientId, clientSecret: new Secret(clientSecret) };
    const providers = identityProviders(people, { sessions, providers: [{ ...company, create: true }] });
    const own = await serve(t, people, [sessions, providers], { ownOrigins: [origin], now: () => Date.now() });

    const ids: number[] = [];
    for (const name of ["ben", "ben", "cleo"]) {
      const started = await own.get("/api/login/company/start?next=/notes");
      assert.equal(started.status, 303, started.text);
      const cookie = started.headers.getSetCookie()[0]!.split(";")[0]!;
      const { pathname, search } = await logInAt(issuer, started.headers.get("location")!, name);
      const done = await own.get(pathname + search, { cookie });
      assert.equal(done.status, 303, done.text);
      assert.equal(done.headers.get("location"), "/notes");
      assert.ok(setsSession(done));
      const session = done.headers
        .getSetCookie()
        .find((each) => each.startsWith("session="))!
        .split(";")[0]!;
      const { user } = (await own.get("/api/session/", { cookie: session })).json;
      assert.equal(user.email, `${name}@company.example`);
      ids.push(user.id);
      const again = await own.get(pathname + search, { cookie });
      assert.deepEqual([again.status, again.json.code], [401, "login_failed"]);
    }

    assert.deepEqual(ids, [2, 2, 3]);
  });
