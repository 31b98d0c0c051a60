import assert from "node:assert/strict";
import { test } from "node:test";
import type { IssuerTwist } from "../harness/openid-issuer.ts";
import { startWorld, type World } from "../harness/provider-logins.ts";

// The claims that a provider sends in the ID token, at the userinfo endpoint, or at both.

const sub = "bea";
const address = "bea@company.example";

async function logInBea(world: World, idToken: object, userinfo: NonNullable<IssuerTwist["userinfo"]> | null) {
  world.issuer.user = { sub, ...idToken };
  world.issuer.twist = userinfo === null ? { metadata: { userinfo_endpoint: undefined } } : { userinfo };
  const browser = world.browser();
  const answer = await browser.logIn();
  return { answer, session: (await browser.get("/api/session/")).json };
}

for (const { title, idToken, userinfo, name = "Bea" } of [
  {
    title: "the verification and the name",
    idToken: { email: address },
    userinfo: { sub, email: address, email_verified: true, name: "Bea" },
  },
  {
    title: "the verification and the name, without the address",
    idToken: { email: address },
    userinfo: { sub, email_verified: true, name: "Bea" },
  },
  {
    title: "the name",
    idToken: { email: address, email_verified: true },
    userinfo: { sub, name: "Bea" },
  },
  {
    title: "all claims",
    idToken: {},
    userinfo: { sub, email: address, email_verified: true, name: "Bea" },
  },
  {
    title: "no claim that the ID token has",
    idToken: { email: address, email_verified: true, name: "Bea" },
    userinfo: { sub, email: "other@company.example", email_verified: false, name: "Other" },
  },
  {
    title: "an answer about another user, and the ID token is enough",
    idToken: { email: address, email_verified: true },
    userinfo: { sub: "eve", name: "Eve" },
    name: address,
  },
  {
    title: "nothing, because there is none",
    idToken: { email: address, email_verified: "true" },
    userinfo: null,
    name: address,
  },
])
  test(`makes a user of an identity whose userinfo has ${title}`, async (t) => {
    const world = await startWorld(t);
    const { answer, session } = await logInBea(world, idToken, userinfo);

    assert.equal(answer.status, 303, answer.text);
    assert.deepEqual([session.user.name, session.user.email], [name, address]);
  });

const unverified = "The provider has not confirmed your e-mail address";

for (const { title, idToken, userinfo, detail, reason } of [
  {
    title: "verifies another address",
    idToken: { email: address },
    userinfo: { sub, email: "other@company.example", email_verified: true },
    detail: unverified,
    reason: /does not say that its address is verified/,
  },
  {
    title: "verifies an address that the ID token denies",
    idToken: { email: address, email_verified: false },
    userinfo: { sub, email: address, email_verified: true },
    detail: unverified,
    reason: /does not say that its address is verified/,
  },
  {
    title: "has no address either",
    idToken: {},
    userinfo: { sub, email_verified: true },
    detail: "The provider has sent no e-mail address",
    reason: /sends no address/,
  },
  {
    title: "has an address that no mail server takes",
    idToken: {},
    userinfo: { sub, email: "josé@idp.example", email_verified: true },
    detail: "Your e-mail address at the provider cannot be used here",
    reason: /cannot be used here/,
  },
])
  test(`makes no user if the userinfo ${title}, and gives the reason`, async (t) => {
    const world = await startWorld(t);
    const { answer } = await logInBea(world, idToken, userinfo);

    assert.deepEqual([answer.status, answer.json.code], [403, "identity_not_bound"]);
    assert.ok(answer.json.detail.startsWith(detail), answer.json.detail);
    assert.match(world.reasons().at(-1)!, reason);
  });

test("takes the level of a login from the signed ID token alone", async (t) => {
  const world = await startWorld(t, { provider: { level: { acr: ["mfa"] } } });
  const { session } = await logInBea(world, {}, { sub, email: address, email_verified: true, acr: "mfa" });

  assert.equal(session.level, 1);
});

test("takes the time of a login from the signed ID token alone", async (t) => {
  const world = await startWorld(t);
  world.issuer.user = { sub };
  world.issuer.twist = {
    claims: ({ auth_time: _time, ...claims }) => claims,
    userinfo: { sub, email: address, email_verified: true, auth_time: Math.floor(world.own.clock.now / 1000) },
  };
  const browser = world.browser();
  await browser.logIn();

  assert.equal((await browser.get("/api/session/")).json.auth_time, null);
});

test("stores the time of the login as the time when the address of a new user was proved", async (t) => {
  const world = await startWorld(t);
  const { session } = await logInBea(world, { email: address, email_verified: true }, { sub });
  const account = await world.people.accounts.find(session.user.id);

  assert.equal(account?.emailVerifiedAt, new Date(world.own.clock.now).toISOString());
});

test("knows no flow from a clock that was ahead", async (t) => {
  const world = await startWorld(t);
  const browser = world.browser();
  world.own.clock.now += 3_600_000;
  const { pathname, search } = await browser.start();
  world.own.clock.now -= 3_600_000;

  const refused = await browser.get(pathname + search);

  assert.deepEqual([refused.status, refused.json.code], [401, "login_failed"]);
  assert.equal(world.reasons().at(-1), "this browser has not started it");
});

for (const { title, claims, reason } of [
  { title: "iat", claims: { iat: 45 }, reason: /iat .* 45 seconds ahead/ },
  { title: "azp", claims: { azp: "other" }, reason: /azp .*"other".*"shop"/ },
  { title: "aud", claims: { aud: "other" }, reason: /aud.*"other".*"shop"/ },
  { title: "sub", claims: { sub: "a".repeat(256) }, reason: /sub/ },
  { title: "iss", claims: { iss: "https://evil.example" }, reason: /iss.*"https:\/\/evil\.example".*"http:\/\/127/ },
] as const)
  test(`logs a reason that names the wrong claim: ${title}`, async (t) => {
    const world = await startWorld(t);
    world.issuer.twist = {
      claims: (right) => ({ ...right, ...claims, ...("iat" in claims ? { iat: right.iat! + claims.iat } : {}) }),
    };

    assert.equal((await world.browser().logIn()).status, 401);
    assert.match(world.reasons().at(-1)!, reason);
  });

for (const [title, ending] of [
  ["another issuer", "/realms/main"],
  ["the same issuer with a slash", "/"],
] as const)
  test(`logs both issuers if the metadata has ${title}`, async (t) => {
    const world = await startWorld(t);
    const { issuer } = world.issuer;
    world.issuer.twist = { metadata: { issuer: issuer + ending } };

    assert.equal((await world.browser().get("/api/login/company/start")).status, 503);
    const [notice = ""] = world.observed.flatMap((each) => (each.kind === "notice" ? [each.message] : []));
    assert.ok(notice?.includes(JSON.stringify(issuer + ending)), notice);
    assert.match(notice, new RegExp(`${issuer.replaceAll(".", "\\.")}/?"`));
  });
