import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT, type JWTHeaderParameters, type JWTPayload } from "jose";
import { accountsCollection } from "../../src/door/auth.ts";
import { identitiesCollection } from "../../src/features/auth/openid/identities.ts";
import { clientId, clientSecret, type Issuer, type IssuerTwist } from "../harness/openid-issuer.ts";
import { email, password, type Answered } from "../harness/own-logins.ts";
import {
  declare,
  setsSession,
  startWorld,
  type Browser,
  type World,
  type WorldOptions,
} from "../harness/provider-logins.ts";
import { emptyStore } from "../harness/test-store.ts";

// Nightly on PostgreSQL: each refusal depends on the answer of the provider.

/**
 * One attack. `run` returns the answer, which must log no user in. Default of `run`: an ordinary login in a new
 * browser.
 */
interface Attack {
  readonly title: string;
  /** The status and the code of the answer. Default: 401 `login_failed`. */
  readonly answer?: readonly [number, string];
  readonly options?: WorldOptions;
  /** The number of honest first logins before the attack. */
  readonly honest?: number;
  readonly twist?: (issuer: Issuer) => IssuerTwist;
  run?(world: World): Promise<Answered>;
}

const follow = (browser: Browser, { pathname, search }: URL): Promise<Answered> => browser.get(pathname + search);

/** Changes the URL of the callback before the browser requests it. */
async function altered(world: World, change: (query: URLSearchParams, url: URL) => void): Promise<Answered> {
  const browser = world.browser();
  const url = await browser.start();
  change(url.searchParams, url);
  return follow(browser, url);
}

const parameter = (name: string, value: string | null) => (world: World) =>
  altered(world, (query) => (value === null ? query.delete(name) : query.set(name, value)));

const repeated = (name: string) => (world: World) => altered(world, (query) => query.append(name, query.get(name)!));

/** Changes the claims of the ID token. */
const claims = (change: (claims: JWTPayload) => object) => (): IssuerTwist => ({
  claims: (original) => ({ ...original, ...change(original) }),
});

/** Signs the ID token in another way. */
const signed =
  (header: JWTHeaderParameters, secret: (issuer: Issuer) => Promise<Uint8Array>) =>
  (issuer: Issuer): IssuerTwist => ({
    sign: async (payload) => new SignJWT(payload).setProtectedHeader(header).sign(await secret(issuer)),
  });

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Alters the three parts of a good token. */
const parts =
  (change: (parts: string[]) => string) =>
  (issuer: Issuer): IssuerTwist => ({
    async sign(payload, key) {
      const token = await new SignJWT(payload).setProtectedHeader({ alg: "ES256", kid: issuer.keyId }).sign(key);
      return change(token.split("."));
    },
  });

/** Answers the token request with this response. */
const answered =
  (status: number, body: string, headers: Record<string, string> = {}) =>
  (): IssuerTwist => ({
    token: (response) => void response.writeHead(status, { "content-type": "application/json", ...headers }).end(body),
  });

const ada = { sub: "ada-at-the-issuer", email: "ada@company.example", email_verified: true };
const notBound = [403, "identity_not_bound"] as const;

/** Returns the issuer of the second provider. */
const toOtherIssuer = (issuer: string): string => issuer.replace("127.0.0.1", "localhost");

const twoProviders: WorldOptions = {
  others: ({ issuer }) => [declare(toOtherIssuer(issuer), { id: "second", title: "Second" })],
};

async function begunLink(world: World): Promise<{ readonly browser: Browser; readonly start: string }> {
  const browser = world.browser();
  await browser.ask("POST", "/api/session/", { username: email, password });
  const begun = await browser.ask("POST", "/users/1/identities", { provider: "company" });
  return { browser, start: begun.json.start };
}

const startOnly = (world: World): Promise<Answered> => world.browser().get("/api/login/company/start");

const attacks: readonly Attack[] = [
  { title: "a callback without a state", run: parameter("state", null) },
  { title: "a callback with another state", run: parameter("state", "A".repeat(22)) },
  { title: "a callback with an empty state", run: parameter("state", "") },
  { title: "a callback with the state twice", run: repeated("state") },
  { title: "a callback without a code", run: parameter("code", null) },
  { title: "a callback with an unknown code", run: parameter("code", "invented") },
  { title: "a callback with the code twice", run: repeated("code") },
  { title: "a callback with an error", run: parameter("error", "access_denied") },
  { title: "a callback without iss (RFC 9207)", run: parameter("iss", null) },
  { title: "a callback with the iss of another issuer (RFC 9207)", run: parameter("iss", "https://evil.example") },
  { title: "a callback with iss twice", run: repeated("iss") },
  {
    title: "an ID token in the callback instead of a code",
    run: (world) =>
      altered(world, (query) => {
        query.delete("code");
        query.set("id_token", new UnsecuredJWT({ sub: "ada" }).encode());
      }),
  },
  {
    title: "another browser's callback in a browser without a cookie (login CSRF)",
    run: async (world) => follow(world.browser(), await world.browser().start()),
  },
  {
    title: "another browser's callback in a browser that has started a login (login CSRF)",
    async run(world) {
      const victim = world.browser();
      await victim.start();
      return follow(victim, await world.browser().start());
    },
  },
  {
    title: "a code of another browser with the state of this browser (code injection)",
    async run(world) {
      const victim = await world.browser().start();
      return altered(world, (query) => query.set("code", victim.searchParams.get("code")!));
    },
  },
  {
    title: "a code of another browser at an issuer without PKCE (nonce)",
    twist: () => ({ isLax: true }),
    async run(world) {
      const victim = await world.browser().start();
      return altered(world, (query) => query.set("code", victim.searchParams.get("code")!));
    },
  },
  {
    title: "a callback a second time with the same cookie",
    honest: 1,
    twist: () => ({ isLax: true }),
    async run(world) {
      const browser = world.browser();
      const url = await browser.start();
      const cookie = browser.cookies.get("oidc")!;
      assert.equal((await follow(browser, url)).status, 303);
      await browser.ask("DELETE", "/api/session/");
      browser.cookies.set("oidc", cookie);
      return follow(browser, url);
    },
  },
  {
    title: "a callback after the lifetime of the flow",
    async run(world) {
      const browser = world.browser();
      const url = await browser.start();
      world.own.clock.now += 600_000;
      return follow(browser, url);
    },
  },
  {
    title: "a cookie with another signature",
    async run(world) {
      const browser = world.browser();
      const url = await browser.start();
      const [body = ""] = browser.cookies.get("oidc")!.split(".");
      browser.cookies.set("oidc", `${body}.${createHmac("sha256", "guess").update(body).digest("base64url")}`);
      return follow(browser, url);
    },
  },
  {
    title: "a cookie with another next page under the same signature",
    async run(world) {
      const browser = world.browser();
      const url = await browser.start();
      const [body = "", signature] = browser.cookies.get("oidc")!.split(".");
      const members = JSON.parse(Buffer.from(body, "base64url").toString()) as unknown[];
      const evil = Buffer.from(JSON.stringify(members.with(3, "//evil.example"))).toString("base64url");
      browser.cookies.set("oidc", `${evil}.${signature}`);
      return follow(browser, url);
    },
  },
  {
    title: "two cookies with the name oidc",
    answer: [400, "duplicate_credentials"],
    async run(world) {
      const browser = world.browser();
      const { pathname, search } = await browser.start();
      const cookie = `oidc=${browser.cookies.get("oidc")!}; oidc=another`;
      return world.own.get(pathname + search, { cookie });
    },
  },
  {
    title: "a flow of one provider at the callback of another (mix-up)",
    options: twoProviders,
    async run(world) {
      const browser = world.browser();
      const { search } = await browser.start();
      return browser.get(`/api/login/second/callback${search}`);
    },
  },
  {
    title: "a callback with the iss of another provider (mix-up)",
    options: twoProviders,
    run: (world) => altered(world, (query) => query.set("iss", toOtherIssuer(world.issuer.issuer))),
  },
  { title: "an ID token with another nonce", twist: claims(() => ({ nonce: "guess" })) },
  { title: "an ID token without a nonce", twist: claims(() => ({ nonce: undefined })) },
  { title: "an ID token of another issuer", twist: claims(() => ({ iss: "https://evil.example" })) },
  { title: "an ID token without an issuer", twist: claims(() => ({ iss: undefined })) },
  { title: "an ID token whose issuer has an added slash", twist: claims(({ iss }) => ({ iss: `${iss}/` })) },
  { title: "an ID token for another client", twist: claims(() => ({ aud: "another" })) },
  { title: "an ID token without an audience", twist: claims(() => ({ aud: undefined })) },
  { title: "an ID token for two clients without azp", twist: claims(() => ({ aud: [clientId, "another"] })) },
  { title: "an ID token for two clients with another azp", twist: claims(() => ({ aud: [clientId, "b"], azp: "b" })) },
  { title: "an ID token for one client with another azp", twist: claims(() => ({ azp: "another" })) },
  { title: "an expired ID token", twist: claims(({ iat }) => ({ iat: iat! - 900, exp: iat! - 60 })) },
  { title: "an ID token without an expiry", twist: claims(() => ({ exp: undefined })) },
  { title: "an ID token with an expiry in text", twist: claims(({ exp }) => ({ exp: String(exp) })) },
  { title: "an ID token from the future", twist: claims(({ iat }) => ({ iat: iat! + 120, exp: iat! + 400 })) },
  { title: "an ID token that is not valid yet", twist: claims(({ iat }) => ({ nbf: iat! + 120 })) },
  { title: "an ID token without iat", twist: claims(() => ({ iat: undefined })) },
  { title: "an ID token without sub", twist: claims(() => ({ sub: undefined })) },
  { title: "an ID token with an empty sub", twist: claims(() => ({ sub: "" })) },
  { title: "an ID token with a number as sub", twist: claims(() => ({ sub: 7 })) },
  { title: "an ID token with a control character in sub", twist: claims(() => ({ sub: "ada\u0000" })) },
  { title: "an ID token with a sub of 256 characters", twist: claims(() => ({ sub: "a".repeat(256) })) },
  {
    title: "an ID token with the algorithm none",
    twist: () => ({ sign: async (payload) => new UnsecuredJWT(payload).encode() }),
  },
  {
    title: "an ID token with HS256 and the client secret",
    twist: signed({ alg: "HS256" }, async () => bytes(clientSecret)),
  },
  {
    title: "an ID token with HS256 and the public key",
    twist: signed({ alg: "HS256", kid: "key-1" }, async ({ publicKey }) => bytes(await exportSPKI(publicKey))),
  },
  {
    title: "an ID token of another key with the same name",
    twist: ({ keyId }) => ({
      async sign(payload) {
        const { privateKey } = await generateKeyPair("ES256");
        return new SignJWT(payload).setProtectedHeader({ alg: "ES256", kid: keyId }).sign(privateKey);
      },
    }),
  },
  {
    title: "an ID token of a key with an unknown name",
    twist: () => ({
      sign: (payload, key) => new SignJWT(payload).setProtectedHeader({ alg: "ES256", kid: "other" }).sign(key),
    }),
  },
  {
    title: "an ID token that is signed with a key from its own header",
    twist: () => ({
      async sign(payload) {
        const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
        const jwk = await crypto.subtle.exportKey("jwk", publicKey);
        return new SignJWT(payload).setProtectedHeader({ alg: "ES256", jwk }).sign(privateKey);
      },
    }),
  },
  {
    title: "an ID token with an unknown critical header",
    twist: ({ keyId }) => ({
      async sign(payload, key) {
        const header = { alg: "ES256", kid: keyId, crit: ["exp"], exp: 1 };
        return new SignJWT(payload).setProtectedHeader(header).sign(key, { crit: { exp: true } });
      },
    }),
  },
  { title: "an ID token without its signature", twist: parts(([header, payload]) => `${header}.${payload}.`) },
  {
    title: "an ID token with another payload under the same signature",
    twist: parts(([header, payload, signature]) => {
      const original = JSON.parse(Buffer.from(payload!, "base64url").toString()) as object;
      const other = Buffer.from(JSON.stringify({ ...original, sub: "root" })).toString("base64url");
      return `${header}.${other}.${signature}`;
    }),
  },
  { title: "an ID token with five parts", twist: parts((all) => [...all, "", ""].join(".")) },
  { title: "an ID token that is not a JWT", twist: () => ({ sign: async () => "no token" }) },
  { title: "a token response without an ID token", twist: () => ({ sign: async () => null }) },
  { title: "a token response that is no JSON", twist: answered(200, "<html>") },
  { title: "a token response that fails", twist: answered(500, "{}") },
  {
    title: "a token response that redirects to another site",
    twist: answered(307, "", { location: "https://evil.example" }),
  },
  { title: "a token response of a megabyte", twist: answered(200, JSON.stringify({ id_token: "a".repeat(1 << 20) })) },
  { title: "a token response that breaks off", twist: () => ({ token: (response) => void response.destroy() }) },
  {
    title: "userinfo of another user",
    twist: () => ({ userinfo: { ...ada, sub: "another" } }),
    async run(world) {
      world.issuer.user = { sub: "bea" };
      return world.browser().logIn();
    },
  },
  { title: "an unknown identity if create is false", options: { provider: { create: false } }, answer: notBound },
  { title: "an unverified address", twist: claims(() => ({ email_verified: false })), answer: notBound },
  ...["false", "TRUE", "yes", 1, ["true"]].map((email_verified) => ({
    title: `an address with email_verified: ${JSON.stringify(email_verified)}`,
    twist: claims(() => ({ email_verified })),
    answer: notBound,
  })),
  { title: "an e-mail address without an @", twist: claims(() => ({ email: "ada" })), answer: notBound },
  { title: "an address of another user", twist: claims(() => ({ email })), answer: notBound },
  {
    title: "an address of another user in capitals",
    twist: claims(() => ({ email: email.toUpperCase() })),
    answer: notBound,
  },
  {
    title: "an address of another user at a trusted provider",
    options: { provider: { trustEmail: true } },
    twist: claims(() => ({ email })),
    answer: notBound,
  },
  {
    title: "an unknown identity with the username of another user",
    options: { provider: { create: false } },
    twist: claims(() => ({ preferred_username: email })),
    answer: notBound,
  },
  {
    title: "a changed sub with the address of a linked identity",
    honest: 1,
    answer: notBound,
    async run(world) {
      assert.equal((await world.browser().logIn()).status, 303);
      world.issuer.user = { ...ada, sub: "another" };
      return world.browser().logIn();
    },
  },
  {
    title: "an identity of an inactive account",
    honest: 1,
    async run(world) {
      const browser = world.browser();
      await browser.logIn();
      const { id } = (await browser.get("/api/session/")).json.user;
      const values = { active: false };
      await world.store.write({ changes: [{ kind: "update", collection: accountsCollection, key: id, values }] });
      return world.browser().logIn();
    },
  },
  {
    title: "the start of a link in another browser",
    answer: [400, "invalid_query"],
    run: async (world) => world.browser().get((await begunLink(world)).start),
  },
  {
    title: "the start of a link with the state of a login",
    answer: [400, "invalid_query"],
    async run(world) {
      const browser = world.browser();
      const url = await browser.start();
      return browser.get(`/api/login/company/start?link=${url.searchParams.get("state")!}`);
    },
  },
  {
    title: "the callback of a link in another browser",
    async run(world) {
      const { browser, start } = await begunLink(world);
      const started = await browser.get(start);
      return follow(world.browser(), await world.issuer.authorize(started.headers.get("location")!));
    },
  },
  {
    title: "the callback of a link after the password has changed",
    async run(world) {
      const { browser, start } = await begunLink(world);
      const started = await browser.get(start);
      const changed = { password: "another long password", current_password: password };
      assert.equal((await browser.ask("PATCH", "/users/1", changed)).status, 200);
      return follow(browser, await world.issuer.authorize(started.headers.get("location")!));
    },
  },
  {
    title: "metadata of another issuer",
    twist: () => ({ metadata: { issuer: "https://evil.example" } }),
    answer: [503, "unavailable"],
    run: startOnly,
  },
  {
    title: "metadata with a token address over cleartext",
    twist: () => ({ metadata: { token_endpoint: "http://evil.example/token" } }),
    answer: [503, "unavailable"],
    run: startOnly,
  },
  {
    title: "metadata with only symmetric algorithms",
    twist: () => ({ metadata: { id_token_signing_alg_values_supported: ["HS256", "none"] } }),
    answer: [503, "unavailable"],
    run: startOnly,
  },
];

for (const { title, answer = [401, "login_failed"], options, honest = 0, twist, run } of attacks)
  test(`refuses ${title}`, async (t) => {
    const store = await emptyStore();
    const world = await startWorld(t, { ...options, service: { store } });
    if (twist !== undefined) world.issuer.twist = twist(world.issuer);

    const refused = await (run ?? ((each) => each.browser().logIn()))(world);

    assert.deepEqual([refused.status, refused.json?.code], answer, refused.text);
    assert.equal(setsSession(refused), false);
    // One account of ada, who has signed up, and one account of each honest login.
    assert.equal(await store.count(accountsCollection, null), 1 + honest);
    assert.equal(await store.count(identitiesCollection, null), honest);
    assert.deepEqual(
      world.observed.filter(({ kind }) => kind === "fault"),
      [],
    );
  });

test("tries at least 40 attacks", () => {
  assert.ok(attacks.length >= 40);
});
