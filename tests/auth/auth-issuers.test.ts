import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { accountsCollection, externalBearer, externalIssuers, storeBindings } from "../../src/door/auth.ts";
import type { Arrival } from "../../src/door/http.ts";
import { accountsIn } from "../../src/testing/accounts.ts";
import { certifyScheme } from "../../src/testing/testing.ts";
import { adminPassword, serve, type API } from "../harness/serve.ts";

const iss = "https://login.example/";
const aud = "https://api.example";

/** A token issuer whose keys a server on loopback publishes. */
interface Issuer {
  readonly jwksURL: string;
  /** Returns the number of requests for the keys of the issuer. */
  readonly countRequests: () => number;
  /** Makes a token of this issuer. `now` is the time of issue, in milliseconds since the epoch. */
  token(now: number, claims?: object, header?: object): string;
  /** Replaces the keys of the issuer. */
  rotate(): void;
  down(): void;
  up(): Promise<void>;
}

async function startIssuer(t: TestContext): Promise<Issuer> {
  let key = generateKeyPairSync("ed25519");
  let kid = 1;
  let requestCount = 0;
  const server = createServer((request, response) => {
    requestCount++;
    assert.equal(request.headers.authorization, undefined);
    const jwk = { ...key.publicKey.export({ format: "jwk" }), kid: `key ${kid}`, alg: "EdDSA", use: "sig" };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ keys: [jwk] }));
  });
  const listen = async (port: number): Promise<void> =>
    void (await once(server.listen(port, "127.0.0.1"), "listening"));
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  t.after(close);
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return {
    jwksURL: `http://127.0.0.1:${port}/keys`,
    countRequests: () => requestCount,
    token(now, claims = {}, header = {}) {
      const iat = Math.floor(now / 1000);
      const head = { alg: "EdDSA", typ: "at+jwt", kid: `key ${kid}`, ...header };
      const text = `${encode(head)}.${encode({ iss, aud, iat, exp: iat + 300, ...claims })}`;
      return `${text}.${sign(null, Buffer.from(text), key.privateKey).toString("base64url")}`;
    },
    rotate() {
      key = generateKeyPairSync("ed25519");
      kid++;
    },
    down: close,
    up: () => listen(port),
  };
}

const declareIssuer = ({ jwksURL }: Issuer) =>
  ({ issuer: iss, audience: aud, jwksURL, algorithms: ["EdDSA"], usernameClaim: "name" }) as const;

async function serveTrusting(t: TestContext, issuer: Issuer): Promise<API> {
  return serve(t, { config: { issuers: [declareIssuer(issuer)] }, binding: "node" });
}

const bearing = (token: string) => ({ authorization: `Bearer ${token}` });

test("neither accepts nor verifies a token of another issuer that does not prove what a rule asks for", async (t) => {
  const issuer = await startIssuer(t);
  const config = { issuers: [declareIssuer(issuer)] };
  const verify = async (rule: "optional" | "admins"): Promise<readonly (number | string)[]> => {
    const api = await serve(t, { settings: { LATCHKEY_SECOND_FACTOR: rule }, config, binding: "node" });
    const token = issuer.token(api.clock.now, { name: "admin" });
    const answers = [await api.get("/protected/", bearing(token)), await api.post("/api/token/verify/", { token })];
    return answers.map(({ status, json }) => json?.code ?? status);
  };

  assert.deepEqual(await verify("optional"), [200, 200]);
  assert.deepEqual(await verify("admins"), ["factor_required", "factor_required"]);
});

test("accepts a token of another issuer, by header and by cookie, as a credential of the local account that the token names", async (t) => {
  const issuer = await startIssuer(t);
  const api = await serveTrusting(t, issuer);
  const ann = await api.user("Ann");
  const token = issuer.token(api.clock.now, { name: ann.email });

  const reply = await api.get("/protected/", bearing(token));
  const byCookie = await api.get("/api/session/", { cookie: `access_token=${token}` });
  const answers = [
    await api.get(`/users/${ann.id}`, bearing(token)),
    await api.get("/users/1", bearing(token)),
    await api.get("/metrics", bearing(token)),
    await api.post("/api/token/verify/", { token }),
  ];

  assert.equal(reply.status, 200);
  assert.deepEqual(reply.json.user, { id: ann.id, name: "Ann", email: ann.email });
  assert.deepEqual([reply.json.username, reply.json.scheme], [ann.email, "bearer"]);
  const end = new Date(api.clock.now + 300_000).toISOString();
  assert.deepEqual([byCookie.json.role, byCookie.json.expires_at], ["user", end]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 403, 403, 200],
  );
  assert.equal(issuer.countRequests(), 1);
  const logged = api.observed.find((each) => each.kind === "request" && each.path === "/protected/");
  assert.ok(logged?.kind === "request");
  assert.deepEqual([logged.scheme, logged.userId], ["bearer", ann.id]);
});

test("refuses the tokens of an issuer immediately after their user is deactivated or deleted", async (t) => {
  const issuer = await startIssuer(t);
  const api = await serveTrusting(t, issuer);
  const [ann, bob] = [await api.user("Ann"), await api.user("Bob")];
  const tokens = [ann, bob].map(({ email }) => bearing(issuer.token(api.clock.now, { name: email })));
  const statuses = async () =>
    Promise.all(tokens.map(async (headers) => (await api.get("/protected/", headers)).status));
  assert.deepEqual(await statuses(), [200, 200]);

  await api.patch(`/users/${ann.id}/account`, { active: false }, api.admin);
  await api.delete(`/users/${bob.id}`, api.admin);
  assert.deepEqual(await statuses(), [401, 401]);

  await api.patch(`/users/${ann.id}/account`, { active: true }, api.admin);
  assert.deepEqual(await statuses(), [200, 401]);
});

test("names the error of an issuer's token in the challenge, and counts only forged tokens as guesses", async (t) => {
  const issuer = await startIssuer(t);
  const api = await serveTrusting(t, issuer);
  const ann = await api.user("Ann");
  const { now } = api.clock;
  const name = ann.email;
  const refused = [
    [issuer.token(now - 331_000, { name }), "it has expired."],
    [issuer.token(now, { name, aud: "https://other.example" }), "it is not for this service (aud)."],
    [issuer.token(now, { name: "nobody" }), "its user has no active account here."],
  ] as const;

  for (const [token, why] of refused) {
    for (let times = 0; times < 12; times++) {
      const reply = await api.get("/protected/", bearing(token));
      assert.equal(reply.status, 401);
      const challenges = reply.headers.get("www-authenticate")!;
      assert.ok(
        challenges.includes(`error="invalid_token", error_description="A token of ${iss}: ${why}"`),
        challenges,
      );
    }
  }
  const forged = bearing(`${issuer.token(now, { name }).slice(0, -8)}AAAAAAAA`);
  const statuses: number[] = [];
  for (let times = 0; times < 11; times++) statuses.push((await api.get("/protected/", forged)).status);

  assert.deepEqual(statuses, [...Array.from({ length: 10 }, () => 401), 429]);
  assert.equal((await api.get("/protected/", bearing(issuer.token(now, { name })))).status, 200);
});

test("fetches the keys of an issuer again after they changed, and then refuses tokens that the former keys signed", async (t) => {
  const issuer = await startIssuer(t);
  const api = await serveTrusting(t, issuer);
  const name = (await api.user("Ann")).email;
  const exp = api.clock.now / 1000 + 3600;
  const early = bearing(issuer.token(api.clock.now, { name, exp }));
  assert.equal((await api.get("/protected/", early)).status, 200);
  issuer.rotate();

  api.clock.turn(30);
  const late = bearing(issuer.token(api.clock.now, { name, exp }));
  assert.equal((await api.get("/protected/", late)).status, 200);
  assert.equal((await api.get("/protected/", early)).status, 401);
  assert.equal(issuer.countRequests(), 2);
});

test("starts and serves other callers while an issuer is down, and accepts the issuer's tokens when it is up again", async (t) => {
  const issuer = await startIssuer(t);
  issuer.down();
  const api = await serveTrusting(t, issuer);
  const name = (await api.user("Ann")).email;
  const token = () => bearing(issuer.token(api.clock.now, { name }));
  const { access } = (await api.post("/api/token/", { username: "admin", password: adminPassword })).json;

  const down = await api.get("/protected/", token());
  assert.deepEqual([down.status, down.json.code, down.headers.get("retry-after")], [503, "unavailable", "30"]);
  assert.equal((await api.get("/readyz")).status, 200);
  assert.equal((await api.get("/protected/", bearing(access))).status, 200);
  assert.equal((await api.get("/protected/", api.admin)).status, 200);
  const notices = api.observed.flatMap((each) => (each.kind === "notice" ? [each.message] : []));
  assert.deepEqual(notices, [
    `The keys of the issuer ${iss} cannot be fetched: the connection failed: ECONNREFUSED. Its tokens get 503.`,
  ]);

  await issuer.up();
  assert.equal((await api.get("/protected/", token())).status, 503);
  api.clock.turn(30);
  assert.equal((await api.get("/protected/", token())).status, 200);
});

test("explains an issuer's token to an administrator without showing it", async (t) => {
  const issuer = await startIssuer(t);
  const api = await serveTrusting(t, issuer);
  const ann = await api.user("Ann");
  const wanted = { ...api.admin, "x-latchkey-explain": "1" };
  const token = issuer.token(api.clock.now, { name: ann.email });
  const other = issuer.token(api.clock.now, { name: ann.email, aud: "elsewhere" });
  const seen = async (credential: string) => {
    const reply = await api.get("/protected/", { ...wanted, cookie: `access_token=${credential}` });
    const explanation = reply.headers.get("x-latchkey-explain")!;
    for (const part of credential.split(".")) assert.ok(!explanation.includes(part));
    return JSON.parse(explanation).schemes.find(({ scheme }: { scheme: string }) => scheme === "bearer");
  };
  const end = new Date(api.clock.now + 300_000).toISOString();

  assert.deepEqual(await seen(token), {
    scheme: "bearer",
    in: "the cookie access_token",
    saw: "accepted",
    user: ann.id,
    why: `It is a credential of user ${ann.id} from ${iss}. Ends at ${end}.`,
  });
  assert.deepEqual(await seen(other), {
    scheme: "bearer",
    in: "the cookie access_token",
    saw: "rejected",
    reason: "malformed",
    why: `A token of ${iss}: it is not for this service (aud).`,
  });
  issuer.rotate();
  const arrival: Arrival = {
    method: "GET",
    target: "/protected/",
    rawHeaders: ["Authorization", `Bearer ${issuer.token(api.clock.now)}`],
    peer: "127.0.0.1",
    encrypted: false,
    readBody: async () => Buffer.of(),
  };
  assert.equal(
    (await api.service.explain(arrival)).schemes.find(({ scheme }) => scheme === "bearer")?.why,
    `A token of ${iss}: no key of that issuer verifies it.`,
  );
});

test("puts no part of an issuer's token into observations, even if the token is invalid", async (t) => {
  const issuer = await startIssuer(t);
  const api = await serveTrusting(t, issuer);
  const tokens = [{ name: "nobody" }, { aud: "x" }, { exp: 1 }, {}].map((claims) =>
    issuer.token(api.clock.now, claims),
  );
  for (const token of tokens) assert.equal((await api.get("/protected/", bearing(token))).status, 401);

  const observed = JSON.stringify(api.observed);
  for (const part of tokens.flatMap((token) => token.split("."))) assert.ok(!observed.includes(part));
});

test("accepts tokens of an issuer that is declared only in the file of LATCHKEY_ISSUERS", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const issuer = await startIssuer(t);
  const file = path.join(folder, "issuers.json");
  writeFileSync(file, JSON.stringify([declareIssuer(issuer)]));
  const api = await serve(t, { settings: { LATCHKEY_ISSUERS: file } });

  const reply = await api.get("/protected/", bearing(issuer.token(api.clock.now, { name: "admin" })));

  assert.deepEqual([reply.status, reply.json.username], [200, "admin"]);
});

const key = generateKeyPairSync("ed25519");
const jwk = { ...key.publicKey.export({ format: "jwk" }), kid: "one", alg: "EdDSA" };

certifyScheme("bearer with the token of another issuer", async ({ store, observe, now }) => {
  const accounts = await accountsIn(store, [{ username: "ada" }]);
  const issuers = externalIssuers({
    issuers: [{ issuer: iss, audience: aud, jwksURL: "https://login.example/keys", algorithms: ["EdDSA"] }],
    ownIssuer: "here",
    bindings: storeBindings({ store, accounts, observe }),
    observe,
    fetch: async () => new Response(JSON.stringify({ keys: [jwk] })),
  });
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const makeToken = (sub: string): string => {
    const claims = { iss, aud, sub, exp: now / 1000 + 270 };
    const text = `${encode({ alg: "EdDSA", kid: "one" })}.${encode(claims)}`;
    return `${text}.${sign(null, Buffer.from(text), key.privateKey).toString("base64url")}`;
  };
  const valid = makeToken("ada");
  const forged = (token: string): string =>
    [...token.split(".").slice(0, 2), makeToken("bob").split(".")[2]!].join(".");
  const wrong = forged(valid);
  return {
    scheme: externalBearer({ issuers }),
    valid,
    wrong,
    unknown: forged(makeToken("nobody")),
    malformed: [],
    // The 270 seconds of the token, and 30 seconds by which clocks may differ.
    lifetimeSeconds: 300,
    revoke: () =>
      store.write({ changes: [{ kind: "update", collection: accountsCollection, key: 1, values: { active: false } }] }),
    secrets: [valid, wrong, ...valid.split(".").slice(1)],
  };
});
