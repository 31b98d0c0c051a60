import assert from "node:assert/strict";
import { test } from "node:test";
import { cleartextNotice } from "../../src/cli/serving/cleartext.ts";
import { readSettings } from "../../src/service/settings/settings.ts";
import { arrive, type Arriving } from "../harness/arrive.ts";
import { adminPassword, serve } from "../harness/serve.ts";

// Nightly on PostgreSQL: credentials are read from a request before the store is asked.

const admin = { username: "admin", password: adminPassword };
const elsewhere = "203.0.113.7";

/** Endpoints that read a password or return a credential. */
const logins = [
  "/api/token/",
  "/api/token/refresh/",
  "/api/session/",
  "/api-token-auth/",
  "/users/1/token",
  "/users/1/keys",
];

/** The ways by which requests arrive. `refused` is true if other hosts could read a request on its way. */
const ways: readonly { readonly from: string; readonly arriving: Arriving; readonly refused: boolean }[] = [
  { from: "this machine", arriving: {}, refused: false },
  { from: "another host", arriving: { peer: elsewhere }, refused: true },
  { from: "another host over TLS", arriving: { peer: elsewhere, encrypted: true }, refused: false },
  {
    from: "an untrusted proxy",
    arriving: { peer: elsewhere, headers: [["X-Forwarded-Proto", "https"]] },
    refused: true,
  },
  {
    from: "a trusted proxy that says https",
    arriving: {
      peer: "10.0.0.1",
      headers: [
        ["X-Forwarded-For", elsewhere],
        ["X-Forwarded-Proto", "https"],
      ],
    },
    refused: false,
  },
  {
    from: "a trusted proxy that says http",
    arriving: {
      peer: "10.0.0.1",
      headers: [
        ["X-Forwarded-For", elsewhere],
        ["X-Forwarded-Proto", "http"],
      ],
    },
    refused: true,
  },
  { from: "a trusted proxy that names no protocol", arriving: { peer: "10.0.0.1" }, refused: true },
];

for (const { from, arriving, refused } of ways) {
  test(`${refused ? "refuses" : "allows"} a login from ${from}`, async (t) => {
    const api = await serve(t, { settings: { LATCHKEY_TRUSTED_PROXIES: "10.0.0.0/8" } });

    for (const path of logins) {
      const answers = [
        await arrive(api, path, { ...arriving, method: "POST", body: admin }),
        await arrive(api, path, { ...arriving, method: "POST", body: { ...admin, password: "wrong" } }),
        await arrive(api, path, { ...arriving, method: "POST" }),
      ];
      // The response is the same for every password, so that it does not reveal whether the password is right.
      const codes = answers.map(({ status, json }) => `${status} ${json?.code}`);
      if (refused) assert.deepEqual(new Set(codes), new Set(["403 insecure_transport"]), path);
      else assert.ok(!codes.includes("403 insecure_transport"), path);
    }
  });
}

test("refuses any body with a password in cleartext from another host unless the operator allows it, and accepts other bodies", async (t) => {
  for (const [setting, refused] of [
    ["refuse", 403],
    ["allow", 0],
  ] as const) {
    const api = await serve(t, { settings: { LATCHKEY_CLEARTEXT_LOGINS: setting } });
    const { access } = (await api.post("/api/token/", admin)).json;
    const headers: [string, string][] = [["Authorization", `Bearer ${access}`]];
    const ask = async (method: string, path: string, body: unknown, type = "application/json"): Promise<number> =>
      (await arrive(api, path, { peer: elsewhere, method, body, headers: [...headers, ["Content-Type", type]] }))
        .status;
    const user = { name: "Ann", email: "ann@example.com" };

    assert.equal(await ask("POST", "/users", user), 201);
    assert.equal(await ask("PUT", "/users/2", { ...user, name: "Anna" }), 200);
    const withPasswords = [
      await ask("POST", "/users", { ...user, email: "ben@example.com", password: "quiet afternoons" }),
      await ask("PUT", "/users/2", { ...user, password: "quiet afternoons" }),
      await ask("PATCH", "/users/2", { current_password: "" }),
      await ask("PATCH", "/users/2", { password: null }),
      await ask("PATCH", "/users/2", [{ op: "add", path: "/password", value: "x" }], "application/json-patch+json"),
      await ask("PATCH", "/users/1/account", { current_password: adminPassword, username: "root" }),
    ];

    for (const status of withPasswords) assert.equal(status === 403 ? 403 : 0, refused);
  }
});

test("counts no guess and reads no body if it refuses a request in cleartext", async (t) => {
  const api = await serve(t);
  const readBody = (): Promise<Uint8Array> => assert.fail("the body was read");
  const rawHeaders = ["Host", "api.example", "Content-Type", "application/json"];

  for (let time = 0; time < 20; time += 1) {
    const answer = await api.service.respond({
      method: "POST",
      target: "/api/token/",
      rawHeaders,
      peer: elsewhere,
      encrypted: false,
      readBody,
    });
    assert.equal(answer.status, 403);
  }
  assert.equal((await arrive(api, "/api/token/", { method: "POST", body: admin })).status, 200);
});

test("treats a Fetch request with an https URL as TLS", async (t) => {
  const { service } = await serve(t);
  const log = async (base: string): Promise<number> => {
    const headers = { "content-type": "application/json" };
    const request = new Request(`${base}/api/token/`, { method: "POST", body: JSON.stringify(admin), headers });
    return (await service.fetch(request, { peer: null })).status;
  };

  assert.equal(await log("https://api.example"), 200);
  assert.equal(await log("http://api.example"), 403);
});

test("accepts logins over cleartext if the operator allows them, but no Basic credentials", async (t) => {
  const api = await serve(t, { settings: { LATCHKEY_CLEARTEXT_LOGINS: "allow" } });

  const loggedIn = await arrive(api, "/api/token/", { peer: elsewhere, method: "POST", body: admin });
  const basic = await arrive(api, "/protected/", {
    peer: elsewhere,
    headers: [["Authorization", api.admin["authorization"]!]],
  });

  assert.deepEqual([loggedIn.status, basic.status], [200, 403]);
});

test("warns at startup if other hosts can connect in cleartext, or if cleartext logins are allowed", () => {
  const readNotice = (environment: Record<string, string>): string | null =>
    cleartextNotice(readSettings({ LATCHKEY_DATABASE: "sqlite::memory:", ...environment }));

  for (const host of ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
    assert.equal(readNotice({ LATCHKEY_HOST: host }), null);
  for (const [host, address] of [
    ["0.0.0.0", "0.0.0.0:8000"],
    ["::", "[::]:8000"],
    ["2001:db8::1", "[2001:db8::1]:8000"],
    ["192.0.2.1", "192.0.2.1:8000"],
    ["api.example", "api.example:8000"],
  ] as const) {
    const notice = readNotice({ LATCHKEY_HOST: host })!;
    assert.ok(notice.startsWith(`${address} can be reached from other hosts `), notice);
    assert.match(notice, / are refused/);
  }
  assert.equal(readNotice({ LATCHKEY_HOST: "0.0.0.0", LATCHKEY_TRUSTED_PROXIES: "10.0.0.1" }), null);
  for (const host of ["127.0.0.1", "0.0.0.0"])
    assert.match(
      readNotice({ LATCHKEY_HOST: host, LATCHKEY_CLEARTEXT_LOGINS: "allow" })!,
      /^LATCHKEY_CLEARTEXT_LOGINS=allow: passwords .* in cleartext/,
    );
});
