import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeJwt } from "jose";
import { adminPassword, serve, type Answered, type API } from "../harness/serve.ts";
import { sharedDatabase } from "../harness/test-store.ts";

const admin = { username: "admin", password: adminPassword };

/** The tokens that a client of SimpleJWT holds between requests. */
interface Tokens {
  access: string;
  refresh: string;
}

/** The conditions after which these clients refresh their tokens. */
type Waits = "for token_not_valid" | "for any 401" | "until exp";

/**
 * Creates a client with one retry, like the interceptors for axios. `keepsFirst`: the client always sends its first
 * refresh token.
 */
function client(api: API, tokens: Tokens, waits: Waits, keepsFirst: boolean) {
  async function refresh(): Promise<boolean> {
    const answer = await api.post("/api/token/refresh/", { refresh: tokens.refresh });
    if (answer.status !== 200) return false;
    tokens.access = answer.json.access;
    if (!keepsFirst) tokens.refresh = answer.json.refresh ?? tokens.refresh;
    return true;
  }

  const send = (): Promise<Answered> => api.get("/protected/", { authorization: `Bearer ${tokens.access}` });

  return async function request(): Promise<Answered> {
    if (waits === "until exp") {
      if (decodeJwt(tokens.access).exp! * 1000 <= api.clock.now) await refresh();
      return send();
    }
    const answer = await send();
    const asks = answer.status === 401 && (waits === "for any 401" || answer.json.code === "token_not_valid");
    return asks && (await refresh()) ? send() : answer;
  };
}

const kinds = ["for token_not_valid", "for any 401", "until exp"] as const;

for (const rotation of ["on", "off"]) {
  for (const waits of kinds) {
    for (const keepsFirst of [false, true]) {
      const works = !keepsFirst || rotation === "off";
      const kind = `waits ${waits} and always sends its ${keepsFirst ? "first" : "newest"} refresh token`;
      test(`${works ? "keeps" : "ends"} the login of a client that ${kind}, rotation ${rotation}`, async (t) => {
        const api = await serve(t, { settings: { LATCHKEY_REFRESH_ROTATION: rotation } });
        const { access, refresh } = (await api.post("/api/token/", admin)).json;
        const request = client(api, { access, refresh }, waits, keepsFirst);

        const statuses: number[] = [];
        for (let time = 0; time < 5; time += 1) {
          statuses.push((await request()).status);
          api.clock.turn(301);
        }

        assert.deepEqual(statuses, works ? [200, 200, 200, 200, 200] : [200, 200, 401, 401, 401]);
      });
    }
  }

  test(`keeps browser tabs logged in if they refresh at the same time, rotation ${rotation}`, async (t) => {
    const api = await serve(t, { settings: { LATCHKEY_REFRESH_ROTATION: rotation } });
    const { access, refresh } = (await api.post("/api/token/", admin)).json;
    const tabs = kinds.map((waits) => client(api, { access, refresh }, waits, false));

    for (let time = 0; time < 3; time += 1) {
      api.clock.turn(301);
      const answers = await Promise.all(tabs.map((tab) => tab()));
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 200],
      );
    }
  });
}

for (const waits of kinds)
  test(`ends the login of a client that waits ${waits}, without a loop, after a start with a rule that requires factors`, async (t) => {
    const settings = {
      LATCHKEY_DATABASE: (await sharedDatabase(t)).url,
      LATCHKEY_SECRET: "a secret that both of the services know",
    };
    const before = await serve(t, { settings });
    const { access, refresh } = (await before.post("/api/token/", admin)).json;
    await before.service.close();
    const api = await serve(t, { settings: { ...settings, LATCHKEY_SECOND_FACTOR: "admins" } });
    const request = client(api, { access, refresh }, waits, false);

    const refused = await request();

    assert.deepEqual([refused.status, refused.json.code], [401, "token_not_valid"]);
    assert.ok(refused.json.detail);
    const requestCount = api.observed.filter(({ kind }) => kind === "request").length;
    assert.equal(requestCount, waits === "until exp" ? 1 : 2);
    // The client asks whether its token is valid, and tries to log in again.
    assert.equal((await api.post("/api/token/verify/", { token: access })).status, 401);
    const again = await api.post("/api/token/", admin);
    assert.deepEqual([again.status, again.json.code], [401, "factor_required"]);
  });

test("answers requests of SimpleJWT clients as docs/coming-from-django-rest-framework.md says", async (t) => {
  const api = await serve(t);
  const { access, refresh } = (await api.post("/api/token/", admin)).json;
  const describeAnswer = ({ status, json }: Answered): string => `${status} ${json?.code ?? ""}`.trim();
  const log = (body: unknown, headers = {}) => api.post("/api/token/", body, headers);
  const present = (authorization: string) => api.get("/protected/", { authorization });
  const unsigned = (claims: object): string =>
    `${[{ alg: "none", typ: "JWT" }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".")}.`;

  const rows: readonly (readonly [asked: string, answer: Answered, expected: string])[] = [
    ["token: ok", await log(admin), "200"],
    ["token: wrong password", await log({ ...admin, password: "x" }), "401 invalid_credentials"],
    ["token: unknown user", await log({ username: "nobody", password: "x" }), "401 invalid_credentials"],
    ["token: missing field", await log({ username: "admin" }), "400 invalid"],
    ["token: null", await log({ username: null, password: null }), "400 invalid"],
    ["token: number as username", await log({ username: 1, password: true }), "400 invalid"],
    ["token: extra fields", await log({ ...admin, x: 1 }), "400 invalid"],
    ["token: JSON array", await log([]), "400 invalid"],
    ["token: malformed JSON", await log("{"), "400 malformed"],
    ["token: GET", await api.get("/api/token/"), "405 method_not_allowed"],
    ["token: with an invalid Authorization header", await log(admin, { authorization: "Bearer junk" }), "200"],
    ["no trailing slash POST", await api.post("/api/token", admin), "200"],
    ["access ok", await present(`Bearer ${access}`), "200"],
    ["missing", await api.get("/protected/"), "401 not_authenticated"],
    ["malformed", await present("Bearer junk"), "401 token_not_valid"],
    ["keyword alone", await present("Bearer"), "401 token_not_valid"],
    ["three parts", await present("Bearer a b"), "401 token_not_valid"],
    ["lower-case keyword", await present(`bearer ${access}`), "200"],
    ["JWT keyword", await present(`JWT ${access}`), "401 not_authenticated"],
    ["refresh token used as access", await present(`Bearer ${refresh}`), "401 token_not_valid"],
    ["signature altered", await present(`Bearer ${access.slice(0, -7)}AAAAAAA`), "401 token_not_valid"],
    ["alg none", await present(`Bearer ${unsigned({ user_id: "1" })}`), "401 token_not_valid"],
    ["refresh: missing", await api.post("/api/token/refresh/", {}), "400 invalid"],
    ["refresh: junk", await api.post("/api/token/refresh/", { refresh: "junk" }), "401 token_not_valid"],
    ["refresh: access token given", await api.post("/api/token/refresh/", { refresh: access }), "401 token_not_valid"],
    ["verify: ok", await api.post("/api/token/verify/", { token: access }), "200"],
    ["verify: a refresh token", await api.post("/api/token/verify/", { token: refresh }), "200"],
    ["verify: junk", await api.post("/api/token/verify/", { token: "junk" }), "401 token_not_valid"],
    ["verify: missing", await api.post("/api/token/verify/", {}), "400 invalid"],
    ["refresh: ok", await api.post("/api/token/refresh/", { refresh }), "200"],
    ["verify: a used refresh token", await api.post("/api/token/verify/", { token: refresh }), "401 token_not_valid"],
    ["blacklist", await api.ask("DELETE", "/api/token/", { body: { refresh } }), "204"],
    ["blacklist: again", await api.ask("DELETE", "/api/token/", { body: { refresh } }), "204"],
    ["blacklist: then refresh", await api.post("/api/token/refresh/", { refresh }), "401 token_not_valid"],
    ["blacklist: its access token", await present(`Bearer ${access}`), "401 token_not_valid"],
    [
      "api token: wrong password",
      await api.post("/api-token-auth/", { ...admin, password: "x" }),
      "401 invalid_credentials",
    ],
    ["api token: unknown", await present(`Token ${"a".repeat(40)}`), "401 invalid_token"],
  ];

  for (const [exchange, answer, expected] of rows) {
    assert.equal(describeAnswer(answer), expected, exchange);
    if (answer.status >= 400) assert.equal(typeof answer.json.detail, "string", exchange);
    if (expected.endsWith("token_not_valid"))
      assert.match(
        answer.headers.get("www-authenticate") ?? "",
        /Bearer realm="latchkey", error="invalid_token"/,
        exchange,
      );
  }
  const claims = decodeJwt(access);
  assert.deepEqual([claims["user_id"], claims.sub], ["1", "1"]);
});
