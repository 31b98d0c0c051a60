import assert from "node:assert/strict";
import { generateKeyPairSync, sign, verify, type KeyObject } from "node:crypto";
import { test } from "node:test";
import { accountsCollection, type AccountsFeature, type SessionLogin, type TokenLogin } from "../../src/door/auth.ts";
import type { Beginning } from "../../src/door/auth.ts";
import { invalid } from "../../src/door/http.ts";
import {
  accepted,
  accounts,
  authenticated,
  basicLogin,
  defineEndpoint,
  defineFeature,
  defineResource,
  problem,
  rejected,
  sessionLogin,
  text,
  tokenLogin,
  type Feature,
  type Scheme,
} from "../../src/door/index.ts";
import { requireDraft } from "../../src/door/resources.ts";
import type { Collection } from "../../src/door/stores.ts";
import { email, open, password, serve, type Own } from "../harness/own-logins.ts";
import { basicHeader } from "../harness/serve.ts";

// A login as an application could write it: a table, two endpoints, and a session at the end.

const passkeysTable: Collection = {
  name: "passkeys",
  key: "text",
  columns: [
    { name: "user_id", type: "integer", references: { collection: "accounts", onDelete: "cascade" } },
    { name: "public_key", type: "text" },
  ],
  indexes: [["user_id"]],
};

const newPasskey = defineResource({ name: "passkey", fields: { key_id: text(), public_key: text() } });
const assertion = defineResource({ name: "assertion", fields: { key_id: text(), time: text(), signature: text() } });

/** A login with a key on the user's device, which signs the current time. */
function passkeyLogin(people: AccountsFeature, session: Feature<SessionLogin>): Feature {
  return defineFeature({
    name: "passkeys",
    needs: [people, session],
    setUp(host) {
      const { accounts: found, logins, endings, confirming } = host.use(people);
      const { begin } = host.use(session);
      endings.registerTable("account", passkeysTable);
      return {
        offer: null,
        collections: [passkeysTable],
        endpoints: [
          defineEndpoint({
            method: "POST",
            path: "/passkeys",
            access: authenticated,
            logsIn: true,
            consumes: ["application/json"],
            async handle(context) {
              await confirming.requireFreshLogin(context, undefined);
              const { key_id: key, public_key } = requireDraft(newPasskey, context, { id: null, current: null }).values;
              const values = { user_id: context.requireIdentity().id, public_key };
              await host.store.write({ changes: [{ kind: "insert", collection: passkeysTable, key, values }] });
              return { status: 204 };
            },
          }),
          defineEndpoint({
            method: "POST",
            path: "/passkeys/login",
            access: "open",
            logsIn: true,
            consumes: ["application/json"],
            async handle(context) {
              const { key_id, time, signature } = requireDraft(assertion, context, { id: null, current: null }).values;
              if (Math.abs(Number(time) - host.now()) > 60_000)
                throw invalid([{ pointer: "/time", code: "invalid", detail: "It is not now." }]);
              const row = await host.store.find(passkeysTable, key_id);
              const account = row === null ? null : await found.find(row.record["user_id"] as number);
              const isGood =
                row !== null &&
                verify(
                  null,
                  Buffer.from(time),
                  buildPublicKey(row.record["public_key"] as string),
                  Buffer.from(signature, "base64url"),
                );
              if (!isGood || account?.active !== true) {
                await host.throttle.check(context.call);
                await host.throttle.fail(context.call);
                throw problem("invalid_credentials");
              }
              return logins.beginLogin(context, {
                account,
                proofs: [{ method: "hwk", at: context.now }],
                begin,
                options: {},
              });
            },
          }),
        ],
      };
    },
  });
}

function buildPublicKey(x: string): { key: { kty: string; crv: string; x: string }; format: "jwk" } {
  return { key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" };
}

test("starts a session with a custom passkey, and deletes the passkeys with the other credentials of the account", async (t) => {
  const people = accounts(open);
  const session = sessionLogin(people);
  const api = await serve(t, people, [basicLogin(people), session, passkeyLogin(people, session)]);
  const device = generateKeyPairSync("ed25519");
  const { x: public_key } = device.publicKey.export({ format: "jwk" });
  const assertionBy = (key: KeyObject): object => {
    const time = String(api.clock.now);
    return { key_id: "phone", time, signature: sign(null, Buffer.from(time), key).toString("base64url") };
  };
  assert.equal(
    (await api.ask("POST", "/passkeys", { key_id: "phone", public_key }, basicHeader(email, password))).status,
    204,
  );

  const wrong = await api.ask("POST", "/passkeys/login", assertionBy(generateKeyPairSync("ed25519").privateKey));
  const right = await api.ask("POST", "/passkeys/login", assertionBy(device.privateKey));

  assert.equal(wrong.status, 401);
  assert.equal(right.status, 201, right.text);
  const cookie = right.headers.getSetCookie()[0]!.split(";")[0]!;
  assert.equal((await api.get("/api/session/", { cookie })).json.user.id, 1);
  const list = (await api.get("/users/1/sessions", { cookie })).json;
  assert.deepEqual(
    list.map((each: { kind: string; current: boolean }) => [each.kind, each.current]),
    [["session", true]],
  );
  const change = { password: "analytical-engine", current_password: password, end_keys: true };
  assert.equal((await api.ask("PATCH", "/users/1", change, basicHeader(email, password))).status, 200);
  assert.equal((await api.ask("POST", "/passkeys/login", assertionBy(device.privateKey))).status, 401);
});

/** A login with the text on a badge. It starts a session or issues tokens, depending on the feature `begins`. */
function badgeLogin(people: AccountsFeature, begins: Feature<SessionLogin> | Feature<TokenLogin>): Feature {
  return defineFeature({
    name: "badge-login",
    needs: [people, begins],
    setUp(host) {
      const { accounts: found, logins } = host.use(people);
      const { begin } = host.use<SessionLogin | TokenLogin>(begins);
      const endpoints = (["POST", "GET"] as const).map((method) =>
        defineEndpoint({
          method,
          path: "/badge/{how:text}",
          access: "open",
          logsIn: true,
          async handle(context) {
            const account = await found.findByUsername(context.call.header("x-badge") ?? "");
            if (account?.active !== true) throw problem("invalid_credentials");
            const proofs = [{ method: "hwk", at: context.call.now }] as const;
            const options = { cookie: context.params.how === "cookie" };
            return logins.beginLogin(context, { account, proofs, begin: begin as Beginning<typeof options>, options });
          },
        }),
      );
      return { offer: null, endpoints };
    },
  });
}

const badge = { "x-badge": email };
const foreign = { ...badge, "sec-fetch-site": "cross-site", origin: "https://other.example" };

/** Returns the time of ada's last login. */
async function lastLogin(api: Own): Promise<unknown> {
  return (await api.service.store.find(accountsCollection, 1))!.record["last_login_at"];
}

test("returns a pair of tokens from a custom login, in the body or as cookies", async (t) => {
  const people = accounts(open);
  const tokens = tokenLogin(people, { accessCookie: "mine" });
  const api = await serve(t, people, [basicLogin(people), tokens, badgeLogin(people, tokens)]);

  assert.equal((await api.ask("POST", "/badge/cookie", undefined, foreign)).status, 403);
  assert.equal(await lastLogin(api), null, "a refused login does not change the time of the last login");

  const answer = await api.ask("POST", "/badge/body", undefined, badge);
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(Object.keys(answer.json), ["access", "refresh", "token_type", "expires_in"]);
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.equal((await api.get("/users/1", { authorization: `Bearer ${answer.json.access}` })).status, 200);
  assert.equal(await lastLogin(api), new Date(api.clock.now).toISOString());

  const set = await api.ask("POST", "/badge/cookie", undefined, badge);
  assert.deepEqual(Object.keys(set.json), ["token_type", "expires_in"]);
  const cookies = set.headers.getSetCookie().map((each) => each.split(";")[0]!);
  assert.deepEqual(
    cookies.map((each) => each.split("=")[0]),
    ["mine", "refresh_token"],
  );
  assert.equal((await api.get("/users/1", { cookie: cookies[0]! })).status, 200);
});

for (const [what, make] of [
  ["a session", sessionLogin],
  ["cookies of tokens", tokenLogin],
] as const)
  test(`lets no page of another site start ${what} with a custom login, even if the endpoint does not check the origin`, async (t) => {
    const people = accounts(open);
    const begins: Feature<SessionLogin> | Feature<TokenLogin> = make(people);
    const api = await serve(t, people, [basicLogin(people), begins, badgeLogin(people, begins)]);

    const refused = await api.ask("POST", "/badge/cookie", undefined, foreign);
    assert.equal(refused.status, 403, refused.text);
    assert.equal(refused.json.code, "cross_site");
    assert.deepEqual(refused.headers.getSetCookie(), []);
    assert.equal(await lastLogin(api), null, "a refused login does not change the time of the last login");

    const own = await api.ask("POST", "/badge/cookie", undefined, { ...badge, "sec-fetch-site": "same-origin" });
    assert.ok(own.headers.getSetCookie().length > 0, own.text);
    assert.equal(await lastLogin(api), new Date(api.clock.now).toISOString());

    // The user follows a link, for example in a mail. The page with the link cannot read the response.
    const followed = await api.get("/badge/cookie", { ...foreign, "sec-fetch-mode": "navigate" });
    assert.ok(followed.headers.getSetCookie().length > 0, followed.text);
  });

/** A custom scheme as a feature. `cards` has the id of an account for the text of each card. */
function cardLogin(people: AccountsFeature, cards: Readonly<Record<string, number>>): Feature {
  return defineFeature({
    name: "cards",
    needs: [people],
    setUp(host) {
      const { accounts: found } = host.use(people);
      const scheme: Scheme = {
        name: "card",
        carriers: [{ in: "header", name: "X-Card" }],
        async authenticate(card) {
          const account = cards[card] === undefined ? null : await found.find(cards[card]);
          if (account === null) return rejected("unknown");
          if (!account.active) return rejected("inactive");
          const { id, username, role } = account;
          return accepted({ id, username, role, scheme: "card", scopes: null, expiresAt: null });
        },
      };
      return { offer: null, schemes: [scheme] };
    },
  });
}

test("uses a custom scheme of a feature next to the built-in logins", async (t) => {
  const people = accounts(open);
  const api = await serve(t, people, [cardLogin(people, { "17": 1 }), basicLogin(people)]);

  assert.equal((await api.get("/users/1", { "x-card": "17" })).status, 200);
  assert.equal((await api.get("/users/1", { "x-card": "18" })).status, 401);
  assert.equal((await api.get("/users/1", basicHeader(email, password))).status, 200);
});
