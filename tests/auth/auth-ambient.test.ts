import assert from "node:assert/strict";
import { test } from "node:test";
import { accepted, type Scheme } from "../../src/door/index.ts";
import { arrive } from "../harness/arrive.ts";
import { adminPassword, serve, type API } from "../harness/serve.ts";

// Nightly on PostgreSQL: credentials are read from a request before the store is asked.

const settings = {
  LATCHKEY_SCHEMES: "basic,session,token,bearer,remote-user,custom-header",
  LATCHKEY_TRUSTED_PROXIES: "127.0.0.1",
  LATCHKEY_REMOTE_USER_SECRET: "shared-with-the-proxy",
  LATCHKEY_CUSTOM_TOKEN: "a-token-of-more-than-32-characters",
  LATCHKEY_CUSTOM_TOKEN_USERNAME: "admin",
  LATCHKEY_ALLOWED_ORIGINS: "https://app.example",
};
const crossSite = [
  ["Sec-Fetch-Site", "cross-site"],
  ["Origin", "https://evil.example"],
] as const;
type Headers = readonly (readonly [name: string, value: string])[];

const identity = { id: 1, username: "admin", role: "admin", scopes: null, expiresAt: null } as const;
/** Makes a scheme that accepts every caller. */
const believing = (name: string, options: Pick<Scheme, "carriers" | "ambient">): Scheme => ({
  name,
  ...options,
  authenticate: () => accepted({ ...identity, scheme: name }),
});
const own = [
  believing("digest", { carriers: [{ in: "authorization", scheme: "DIGEST" }], ambient: false }),
  believing("negotiate", { carriers: [{ in: "authorization", scheme: "Negotiate" }] }),
  believing("badge", { carriers: [{ in: "header", name: "X-Badge" }] }),
  believing("certificate", { carriers: [{ in: "header", name: "X-Certificate" }], ambient: true }),
  believing("ticket", { carriers: [{ in: "cookie", name: "ticket" }], ambient: false }),
];

async function credentials(api: API): Promise<Readonly<Record<string, Headers>>> {
  const login = { method: "POST", body: { username: "admin", password: adminPassword } };
  const cookies = (await arrive(api, "/api/session/", login)).header("set-cookie");
  const pair = await arrive(api, "/api/token/", login);
  const basic = ["Authorization", api.admin["authorization"]!] as const;
  const token = await arrive(api, "/users/1/token", { method: "POST", headers: [basic] });
  return {
    basic: [basic],
    "basic in capitals": [["authorization", basic[1].replace("Basic", "BASIC")]],
    "remote user": [
      ["X-Remote-User", "admin"],
      ["X-Remote-User-Secret", settings.LATCHKEY_REMOTE_USER_SECRET],
    ],
    session: [["Cookie", cookies[0]!.split(";")[0]!]],
    digest: [["Authorization", "Digest x"]],
    negotiate: [["Authorization", "negotiate x"]],
    certificate: [["X-Certificate", "x"]],
    ticket: [["Cookie", "ticket=x"]],
    "token and basic's cookie": [
      ["Authorization", `Token ${token.json.token}`],
      ["Cookie", cookies[0]!.split(";")[0]!],
    ],
    "badge and remote user": [
      ["X-Badge", "x"],
      ["X-Remote-User", "admin"],
      ["X-Remote-User-Secret", settings.LATCHKEY_REMOTE_USER_SECRET],
    ],
    token: [["Authorization", `Token ${token.json.token}`]],
    bearer: [["Authorization", `Bearer ${pair.json.access}`]],
    "custom header": [["X-Custom-Token", settings.LATCHKEY_CUSTOM_TOKEN]],
    badge: [["X-Badge", "x"]],
  };
}

const explicit = new Set(["token", "bearer", "custom header", "badge"]);

test("refuses changes by a page of another site with credentials that browsers send automatically", async (t) => {
  const api = await serve(t, { settings, config: { schemes: own } });

  for (const [name, headers] of Object.entries(await credentials(api))) {
    const ask = (from: Headers, method = "POST", path = "/orders") =>
      arrive(api, path, { method, headers: [...headers, ...from], body: {} });
    const refused = explicit.has(name) ? 201 : 403;
    const hostile: readonly Headers[] = [
      crossSite,
      [["Origin", "null"]],
      [["Origin", ""]],
      [["Sec-Fetch-Site", "same-site"]],
      [["Sec-Fetch-Site", "SAME-ORIGIN"]],
      [
        ["Sec-Fetch-Site", "same-origin"],
        ["Sec-Fetch-Site", "cross-site"],
      ],
      [
        ["sec-fetch-site", "none"],
        ["Sec-Fetch-Site", "none"],
      ],
      [
        ["Origin", "https://app.example"],
        ["Origin", "https://evil.example"],
      ],
      [["Origin", "https://app.example, https://app.example"]],
    ];
    for (const from of hostile) assert.equal((await ask(from)).status, refused, `${name}: ${JSON.stringify(from)}`);
    for (const from of [
      [],
      [["Sec-Fetch-Site", "none"]],
      [["Sec-Fetch-Site", "same-origin"]],
      [["Origin", "http://api.example"]],
      [
        ["Sec-Fetch-Site", "cross-site"],
        ["Origin", "https://app.example"],
      ],
    ] as readonly Headers[])
      assert.equal((await ask(from)).status, 201, `${name}: ${JSON.stringify(from)}`);
    for (const [method, path, status] of [
      ["GET", "/orders", 200],
      ["HEAD", "/orders", 200],
      ["OPTIONS", "/orders", 204],
      ["post", "/orders", 405],
      ["CONNECT", "/orders", 405],
      ["PATCH", "/users/1", explicit.has(name) ? 200 : 403],
      ["PUT", "/users/1", explicit.has(name) ? 400 : 403],
      ["DELETE", "/users/1/sessions/none", explicit.has(name) ? 404 : 403],
    ] as const)
      assert.equal((await ask(crossSite, method, path)).status, status, `${name}: ${method} ${path}`);
  }
});

test("checks the origin after the credentials and before the permission, and names both origins and the setting in the refusal", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const ask = (authorization: string, from: Headers, path = "/users") =>
    arrive(api, path, { method: "POST", body: {}, headers: [["Authorization", authorization], ...from] });

  const { json } = await ask(ann.headers["authorization"]!, crossSite);

  assert.equal(json.code, "cross_site");
  assert.equal(
    json.detail,
    "A page of another site sent this request: it came with the Origin https://evil.example, and the origin of this service is http://api.example. Allow other origins in LATCHKEY_ALLOWED_ORIGINS.",
  );
  const without = await ask(ann.headers["authorization"]!, [["Sec-Fetch-Site", "cross-site"]]);
  assert.match(without.json.detail, /it came with no Origin, and the origin of this service is/);
  const hostile = await ask(ann.headers["authorization"]!, [["Origin", `\u0000${"é".repeat(300)}`]]);
  assert.match(hostile.json.detail, /the Origin \?{200}…, and/);
  assert.equal((await ask(`Basic ${btoa("admin:wrong")}`, crossSite)).json.code, "invalid_credentials");
  assert.equal((await ask(ann.headers["authorization"]!, crossSite, "/nowhere")).status, 404);
});

test("checks no password that a page of another site sends, so that its requests count as no guesses", async (t) => {
  const api = await serve(t);
  const wrong = { username: "admin", password: "wrong" };

  for (let times = 0; times < 12; times++) {
    for (const [path, body] of [
      ["/api/session/", wrong],
      ["/api/token/", { ...wrong, cookie: true }],
    ] as const)
      assert.equal((await arrive(api, path, { method: "POST", body, headers: crossSite })).json.code, "cross_site");
  }
  // The refused logins were not counted as guesses, so the service still checks a password.
  const right = { username: "admin", password: adminPassword };
  assert.equal((await arrive(api, "/api/session/", { method: "POST", body: right })).status, 201);
});

test("refuses a browser's body without a Content-Type, and reads a program's body without one as JSON", async (t) => {
  const api = await serve(t, { settings });
  const body = Buffer.from(JSON.stringify({ username: "admin", password: adminPassword }));
  const send = (path: string, headers: Headers, content: Buffer = body) =>
    api.service.respond({
      method: "POST",
      target: path,
      rawHeaders: [["Host", "api.example"], ...headers].flat(),
      peer: "127.0.0.1",
      encrypted: false,
      readBody: async () => content,
    });

  for (const from of [[["Sec-Fetch-Site", "same-origin"]], [["Origin", "http://api.example"]]] as readonly Headers[]) {
    for (const type of [[], [["Content-Type", ""]]] as readonly Headers[]) {
      assert.equal((await send("/api/session/", [...from, ...type])).status, 415);
      assert.equal((await send("/api/token/", [...from, ...type])).status, 415);
    }
    assert.equal((await send("/api/session/", [...from, ["Content-Type", "application/json"]])).status, 201);
    // A request without a body needs no Content-Type.
    assert.equal((await send("/api/token/refresh/", from, Buffer.of())).status, 400);
  }
  assert.equal((await send("/api/session/", [])).status, 201);
});

test("makes browsers use TLS for this host alone, and forbids other sites to load responses, unless settings change this", async (t) => {
  const ask = async (more: Readonly<Record<string, string>>, encrypted = true) => {
    const api = await serve(t, { settings: more });
    const answers = [
      await arrive(api, "/livez", { encrypted }),
      await arrive(api, "/users", { encrypted }),
      await arrive(api, "/users", { encrypted, method: "OPTIONS" }),
      await arrive(api, "/nothing", { encrypted }),
    ];
    return ["strict-transport-security", "cross-origin-resource-policy"].map((name) => {
      const [first, ...others] = answers.map((answer) => answer.header(name).join());
      assert.ok(others.every((each) => each === first));
      return first;
    });
  };

  assert.deepEqual(await ask({}), ["max-age=31536000", "same-origin"]);
  assert.deepEqual(await ask({}, false), ["", "same-origin"]);
  assert.deepEqual(await ask({ LATCHKEY_ALLOWED_ORIGINS: "https://app.example", LATCHKEY_HSTS: "subdomains" }), [
    "max-age=31536000; includeSubDomains",
    "",
  ]);
});

test("never repeats a caller's request id in a public response", async (t) => {
  const api = await serve(t);
  const headers = { "x-request-id": "of-somebody" };

  for (const path of ["/livez", "/readyz", "/openapi.json", "/docs", "/problems/taken", "/.well-known/jwks.json"]) {
    for (const method of ["GET", "HEAD"]) {
      const id = (await api.ask(method, path, { headers })).headers.get("x-request-id")!;
      assert.ok(id !== "" && id !== "of-somebody", path);
      assert.equal(api.observed.findLast(({ kind }) => kind === "request")?.["requestId" as never], id);
    }
  }
  const problem = await api.get("/users", headers);
  assert.deepEqual([problem.headers.get("x-request-id"), problem.json.request_id], ["of-somebody", "of-somebody"]);
});
