import assert from "node:assert/strict";
import { constants, createHmac, createPublicKey, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";
import { test, type TestContext } from "node:test";
import type { Verdict } from "../../../access/scheme/scheme.ts";
import type { Observation } from "../../../core/observation.ts";
import { Problem } from "../../../core/problem/problem.ts";
import type { Account } from "../records/accounts.ts";
import type { IssuerAlgorithm, IssuerDeclaration } from "./declaration.ts";
import { externalIssuers } from "./scheme.ts";

const now = Date.parse("2026-03-01T12:00:00Z");
const seconds = now / 1000;
const issuer = "https://login.example/realms/main";
const declared: IssuerDeclaration = {
  issuer,
  audience: "https://api.example",
  jwksURL: "https://login.example/certs",
  algorithms: ["EdDSA", "ES256", "PS256", "RS256"],
};

/** A key of an issuer: the published part and the signing part. */
interface Key {
  readonly jwk: Record<string, unknown>;
  readonly privateKey: KeyObject;
}

function pairFor(alg: string): { privateKey: KeyObject; publicKey: KeyObject } {
  if (alg.startsWith("Ed")) return generateKeyPairSync("ed25519");
  if (alg.startsWith("ES")) return generateKeyPairSync("ec", { namedCurve: alg === "ES256" ? "P-256" : "P-384" });
  return generateKeyPairSync("rsa", { modulusLength: 2048 });
}

function makeKey(kid: string, alg: string, more: Record<string, unknown> = {}): Key {
  const { privateKey, publicKey } = pairFor(alg);
  return { jwk: { ...publicKey.export({ format: "jwk" }), kid, alg, use: "sig", ...more }, privateKey };
}

const one = makeKey("one", "EdDSA");
const rsa = makeKey("rsa", "RS256");

const encode = (value: unknown): string =>
  (value instanceof Uint8Array ? Buffer.from(value) : Buffer.from(JSON.stringify(value))).toString("base64url");

const claims = {
  iss: issuer,
  aud: declared.audience,
  sub: "ada",
  iat: seconds,
  exp: seconds + 300,
};

interface TokenSketch {
  readonly key?: Key;
  readonly header?: Record<string, unknown>;
  readonly claims?: Record<string, unknown>;
  /** Replaces the claims. */
  readonly payload?: Uint8Array;
}

/** Makes a token, as an owner of the key could. */
function signToken({ key = one, header = {}, claims: more = {}, payload }: TokenSketch = {}): string {
  const { alg, kid } = key.jwk;
  const text = `${encode({ alg, kid, ...header })}.${encode(payload ?? { ...claims, ...more })}`;
  return `${text}.${signText(text, String(alg), key.privateKey)}`;
}

function signText(text: string, alg: string, key: KeyObject): string {
  const data = Buffer.from(text);
  if (alg.startsWith("Ed")) return sign(null, data, key).toString("base64url");
  const padding = alg.startsWith("PS") ? constants.RSA_PKCS1_PSS_PADDING : constants.RSA_PKCS1_PADDING;
  const how = alg.startsWith("ES") ? { key, dsaEncoding: "ieee-p1363" as const } : { key, padding, saltLength: 32 };
  return sign(`sha${alg.slice(2)}`, data, how).toString("base64url");
}

function createAccount(id: number, username: string, active = true): Account {
  const createdAt = "2026-01-01T00:00:00.000Z";
  return {
    id,
    username,
    role: "user",
    active,
    passwordHash: null,
    passwordUntil: null,
    generation: 1,
    createdAt,
    lastLoginAt: null,
    remainingFamily: null,
    roleChanges: 0,
  };
}

/** Makes an issuer that publishes keys, and a service that trusts it. The network is a function. */
function world(more: Partial<IssuerDeclaration> = {}, others: readonly IssuerDeclaration[] = []) {
  const accounts = new Map(
    [createAccount(7, "ada"), createAccount(8, "bob", false)].map((each) => [each.username, each]),
  );
  const fetched: string[] = [];
  const observed: Observation[] = [];
  const published = { keys: [one.jwk, rsa.jwk] as unknown[], others: [] as unknown[], status: 200 };
  const issuers = externalIssuers({
    issuers: [{ ...declared, ...more }, ...others],
    ownIssuer: "https://api.example",
    bindings: { resolve: ({ username }) => accounts.get(username) ?? null },
    observe: (observation) => void observed.push(observation),
    async fetch(url) {
      fetched.push(url);
      const keys = url === declared.jwksURL ? published.keys : published.others;
      return new Response(JSON.stringify({ keys }), { status: published.status });
    },
  });
  return {
    issuers,
    accounts,
    fetched,
    published,
    notices: () => observed.map((each) => (each.kind === "notice" ? `${each.level}: ${each.message}` : each.kind)),
    /** Returns the reason why a token was refused, or the user's id if it was accepted. */
    ask: async (token: string, at = now) => outcome(await issuers.verify(token, at)),
  };
}

function outcome(verdict: Verdict | null): string | number | null {
  if (verdict === null || verdict.kind === "absent") return null;
  return verdict.kind === "accepted" ? verdict.identity.id : verdict.reason;
}

/** Requires that the answer is a problem. Returns its status and its `Retry-After`. */
async function unavailable(answer: Promise<unknown>): Promise<readonly unknown[]> {
  const error: unknown = await answer.then(
    (value) => assert.fail(`answered with ${String(value)}`),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof Problem, String(error));
  return [error.status, new Map(error.headers).get("Retry-After")];
}

test("accepts a token for the account that its claim names", async () => {
  const { issuers } = world();

  assert.deepEqual(await issuers.verify(signToken(), now), {
    kind: "accepted",
    identity: {
      id: 7,
      username: "ada",
      role: "user",
      scheme: "bearer",
      scopes: null,
      expiresAt: now + 300_000,
      needs: 1,
      level: 1,
      proofs: [{ method: "fed", at: 0 }],
      issuer,
    },
  });
});

for (const alg of ["EdDSA", "Ed25519", "ES256", "ES384", "PS256", "RS256"] as const) {
  test(`verifies a token that is signed with ${alg}`, async () => {
    const key = makeKey("key", alg);
    const { ask, published } = world({ algorithms: [alg] });
    published.keys = [key.jwk];

    assert.equal(await ask(signToken({ key })), 7);
    assert.equal(await ask(signToken({ key, claims: { sub: "eve" } }).replace(/.{4}$/, "AAAA")), "forged");
  });
}

test("accepts a known token without waiting, and reads its account every time", async () => {
  const { issuers, accounts, ask } = world();
  const token = signToken();
  await ask(token);

  assert.equal(outcome(issuers.verify(token, now) as Verdict), 7);
  accounts.set("ada", createAccount(7, "ada", false));
  assert.equal(await ask(token), "inactive");
  accounts.delete("ada");
  assert.equal(await ask(token), "inactive");
  accounts.set("ada", createAccount(9, "ada"));
  assert.equal(await ask(token), 9);
});

test("ignores tokens of other issuers, and fetches nothing for them", async () => {
  const { issuers, fetched } = world();
  const foreign = [
    "",
    "a.b.c",
    "e30.e30.AA",
    "x".repeat(100_000),
    signToken({ claims: { iss: "https://api.example" } }),
    signToken({ claims: { iss: `${issuer}/` } }),
    signToken({ claims: { iss: issuer.toUpperCase() } }),
    signToken({ claims: { iss: [issuer] } }),
    signToken({ claims: { iss: undefined } }),
    signToken({ claims: { iss: "__proto__" } }),
    signToken({ payload: Buffer.from("[]") }),
    // RFC 8725 3.7: claims that are not UTF-8 are refused.
    signToken({ payload: Buffer.from(JSON.stringify({ ...claims, name: "é" }), "latin1") }),
  ];

  for (const token of foreign) assert.equal(issuers.verify(token, now), null);
  assert.deepEqual(fetched, []);
});

// RFC 8725, in the order of its section 3.

/** Makes a token with a MAC whose key is public text. */
function createMACToken(secret: string | Buffer, header: Record<string, unknown> = {}): string {
  const text = `${encode({ alg: "HS256", kid: "rsa", ...header })}.${encode(claims)}`;
  return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
}

const rsaPublic = createPublicKey(rsa.privateKey);
const es384 = makeKey("es384", "ES384");
const hostile: { rule: string; what: string; token: string; reason: string }[] = [
  {
    rule: "3.1",
    what: "the public key as a MAC's secret (PEM)",
    token: createMACToken(rsaPublic.export({ format: "pem", type: "spki" })),
    reason: "forged",
  },
  {
    rule: "3.1",
    what: "the public key as a MAC's secret (DER)",
    token: createMACToken(rsaPublic.export({ format: "der", type: "spki" })),
    reason: "forged",
  },
  { rule: "3.1", what: "a MAC without a secret", token: createMACToken("", { alg: "HS512" }), reason: "forged" },
  { rule: "3.1", what: 'alg "none"', token: signToken({ header: { alg: "none" } }), reason: "forged" },
  { rule: "3.1", what: 'alg "NonE"', token: signToken({ header: { alg: "NonE" } }), reason: "forged" },
  { rule: "3.1", what: "no alg", token: signToken({ header: { alg: undefined } }), reason: "forged" },
  { rule: "3.1", what: "a list of algs", token: signToken({ header: { alg: ["EdDSA"] } }), reason: "forged" },
  {
    rule: "3.1",
    what: "another algorithm than the key's, of the same family",
    token: signToken({ key: { ...rsa, jwk: { ...rsa.jwk, alg: "PS256" } } }),
    reason: "forged",
  },
  {
    rule: "3.1",
    what: "an algorithm that is not declared, with a published key",
    token: signToken({ key: es384 }),
    reason: "forged",
  },
  {
    rule: "3.3",
    what: "a signature with another key",
    token: signToken({ key: makeKey("one", "EdDSA") }),
    reason: "forged",
  },
  {
    rule: "3.3",
    what: "claims that were changed after the signature was made",
    token: signToken().replace(/\.[^.]+\./, `.${encode({ ...claims, sub: "bob" })}.`),
    reason: "forged",
  },
  {
    rule: "3.3",
    what: "another spelling of the signature",
    token: signToken().replace(/.$/, (last) => (last === "A" ? "B" : last === "Q" ? "R" : last === "g" ? "h" : "x")),
    reason: "forged",
  },
  { rule: "3.8", what: "no subject", token: signToken({ claims: { sub: undefined } }), reason: "malformed" },
  { rule: "3.8", what: "a subject that is a number", token: signToken({ claims: { sub: 7 } }), reason: "malformed" },
  {
    rule: "3.8",
    what: "a subject with a NUL",
    token: signToken({ claims: { sub: "ada\u0000" } }),
    reason: "malformed",
  },
  { rule: "3.8", what: "an unknown subject", token: signToken({ claims: { sub: "eve" } }), reason: "inactive" },
  {
    rule: "3.8",
    what: "the subject of an inactive account",
    token: signToken({ claims: { sub: "bob" } }),
    reason: "inactive",
  },
  {
    rule: "3.9",
    what: "another audience",
    token: signToken({ claims: { aud: "https://other.example" } }),
    reason: "malformed",
  },
  { rule: "3.9", what: "other audiences", token: signToken({ claims: { aud: ["a", 7, null] } }), reason: "malformed" },
  { rule: "3.9", what: "no audience", token: signToken({ claims: { aud: undefined } }), reason: "malformed" },
  {
    rule: "3.9",
    what: "a part of the audience",
    token: signToken({ claims: { aud: "https://api" } }),
    reason: "malformed",
  },
  { rule: "3.10", what: "an empty kid", token: signToken({ header: { kid: "" } }), reason: "forged" },
  { rule: "3.10", what: "a kid that is null", token: signToken({ header: { kid: null } }), reason: "forged" },
  {
    rule: "3.10",
    what: "a kid that is no text",
    token: signToken({ header: { kid: { toString: "one" } } }),
    reason: "forged",
  },
  {
    rule: "3.10",
    what: "a kid with a path",
    token: signToken({ header: { kid: "../../dev/null" } }),
    reason: "forged",
  },
  { rule: "3.10", what: "a kid with SQL", token: signToken({ header: { kid: "one' OR '1'='1" } }), reason: "forged" },
  { rule: "3.10", what: "a kid of JavaScript", token: signToken({ header: { kid: "__proto__" } }), reason: "forged" },
  { rule: "3.10", what: "a kid with a space", token: signToken({ header: { kid: "one RS256" } }), reason: "forged" },
  { rule: "3.10", what: "its own key in the header", token: withOwnKey(), reason: "forged" },
  {
    rule: "3.10",
    what: "an unknown critical header",
    token: signToken({ header: { crit: ["exp"], exp: 1 } }),
    reason: "forged",
  },
  {
    rule: "3.10",
    what: "an unencoded payload",
    token: signToken({ header: { crit: ["b64"], b64: false } }),
    reason: "forged",
  },
  { rule: "3.11", what: "a logout token", token: signToken({ header: { typ: "logout+jwt" } }), reason: "malformed" },
  {
    rule: "3.11",
    what: "a proof of possession",
    token: signToken({ header: { typ: "dpop+jwt" } }),
    reason: "malformed",
  },
  { rule: "3.11", what: "a type that is no text", token: signToken({ header: { typ: 7 } }), reason: "malformed" },
  {
    rule: "3.12",
    what: "a token that is bound to a key",
    token: signToken({ claims: { cnf: { jkt: "x" } } }),
    reason: "malformed",
  },
  { rule: "7519 4.1.4", what: "no expiry", token: signToken({ claims: { exp: undefined } }), reason: "malformed" },
  {
    rule: "7519 4.1.4",
    what: "a text as exp",
    token: signToken({ claims: { exp: "9999999999" } }),
    reason: "malformed",
  },
  {
    rule: "7519 4.1.4",
    what: "an expiry later than any date",
    token: signToken({ claims: { exp: 1e300 } }),
    reason: "malformed",
  },
  { rule: "7519 4.1.5", what: "a text as nbf", token: signToken({ claims: { nbf: "1" } }), reason: "malformed" },
];

function withOwnKey(): string {
  const own = makeKey("own", "EdDSA");
  return signToken({ key: own, header: { jwk: own.jwk, x5c: ["MIIB"] } });
}

for (const { rule, what, token, reason } of hostile) {
  test(`refuses ${what} (RFC ${rule.includes(" ") ? rule : `8725 ${rule}`})`, async () => {
    const { ask, published } = world();
    published.keys.push(es384.jwk);

    assert.equal(await ask(token), reason);
    assert.equal(await ask(signToken()), 7);
  });
}

test("never follows an address in a token (RFC 8725 3.10)", async (t) => {
  let connections = 0;
  const listener = await listen(t, (_request, response) => response.end());
  listener.server.on("connection", () => connections++);
  const { ask, fetched, published } = world();
  const trap = `${listener.url}/keys`;
  const own = makeKey("own", "EdDSA");
  published.keys.push({ ...makeKey("led", "EdDSA").jwk, x5u: trap });
  const tokens = [
    signToken({ key: own, header: { jku: trap, x5u: trap } }),
    signToken({ key: own, header: { kid: trap } }),
    signToken({ key: own, header: { kid: "led", jku: trap }, claims: { jwks_uri: trap } }),
    signToken({ key: own, claims: { iss: trap } }),
  ];

  assert.deepEqual(await Promise.all(tokens.map((token) => ask(token))), ["forged", "forged", "forged", null]);
  // Some issuers send such addresses with every token. They are harmless because the service never follows them.
  assert.equal(await ask(signToken({ header: { jku: trap, x5u: trap, x5t: "x" } })), 7);
  assert.deepEqual([connections, new Set(fetched)], [0, new Set([declared.jwksURL])]);
});

test("accepts only the declared type, in any spelling of it (RFC 8725 3.11)", async () => {
  const { ask } = world({ typ: "application/AT+jwt" });

  for (const typ of ["at+jwt", "AT+JWT", "application/at+jwt"])
    assert.equal(await ask(signToken({ header: { typ } })), 7);
  for (const typ of ["JWT", undefined, "id+jwt", ""])
    assert.equal(await ask(signToken({ header: { typ } })), "malformed");
});

test("accepts a token in the form of Keycloak and Auth0", async () => {
  const { ask, accounts } = world({ usernameClaim: "preferred_username" });
  accounts.set("grace", createAccount(9, "grace"));
  const keycloak = { typ: "Bearer", azp: "web", aud: ["account", declared.audience], preferred_username: "grace" };

  assert.equal(await ask(signToken({ key: rsa, header: { typ: "JWT" }, claims: { ...keycloak, sub: "f:1:9" } })), 9);
  assert.equal(await ask(signToken({ header: { typ: "at+jwt" }, claims: keycloak })), 9);
});

test("uses an e-mail address as username only if the issuer has verified it", async () => {
  const { ask, accounts } = world({ usernameClaim: "email" });
  accounts.set("ada@example.com", createAccount(9, "ada@example.com"));
  const email = "ada@example.com";

  assert.equal(await ask(signToken({ claims: { email, email_verified: true } })), 9);
  for (const email_verified of [undefined, false, "true", 1])
    assert.equal(await ask(signToken({ claims: { email, email_verified } })), "malformed");
});

test("uses an unverified e-mail address as username if the declaration says that the issuer vouches for it", async () => {
  const { ask, accounts } = world({ usernameClaim: "email", trustEmail: true });
  accounts.set("ada@example.com", createAccount(9, "ada@example.com"));

  assert.equal(await ask(signToken({ claims: { email: "ada@example.com" } })), 9);
});

test("allows clocks to differ by at most 30 seconds", async () => {
  const { ask } = world();
  const token = signToken();
  const end = (seconds + 300) * 1000;
  const ahead = (claim: string, by: number) => signToken({ claims: { [claim]: seconds + by } });

  assert.equal(await ask(token, end + 29_999), 7);
  assert.equal(await ask(token, end + 30_000), "expired");
  assert.equal(await ask(signToken({ claims: { jti: "new" } }), end + 29_999), 7);
  assert.equal(await ask(signToken({ claims: { jti: "newer" } }), end + 30_000), "expired");
  for (const claim of ["nbf", "iat"]) {
    assert.equal(await ask(ahead(claim, 30)), 7);
    assert.equal(await ask(ahead(claim, 31)), "expired");
    const later = ahead(claim, 31);
    assert.equal(await ask(later, now + 1000), 7);
    assert.equal(await ask(later, now), "expired");
  }
});

test("ignores a login time in the future, unless clock differences explain it", async () => {
  const { issuers } = world();
  const readLoginTime = async (auth_time: unknown) => {
    const verdict = await issuers.verify(signToken({ claims: { auth_time } }), now);
    return verdict?.kind === "accepted" ? verdict.identity.authTime : verdict;
  };

  assert.equal(await readLoginTime(seconds - 700), (seconds - 700) * 1000);
  assert.equal(await readLoginTime(seconds + 30), now);
  assert.equal(await readLoginTime(seconds + 31), undefined);
  // A time in milliseconds, as some issuers send it.
  assert.equal(await readLoginTime(now - 86_400_000), undefined);
});

test("separates two issuers with the same kid", async () => {
  const other: IssuerDeclaration = { ...declared, issuer: "https://other.example", jwksURL: "https://other.example/k" };
  const theirs = makeKey("one", "EdDSA");
  const { ask, published } = world({}, [other]);
  published.others = [theirs.jwk];

  assert.equal(await ask(signToken()), 7);
  assert.equal(await ask(signToken({ key: theirs, claims: { iss: other.issuer } })), 7);
  assert.equal(await ask(signToken({ key: theirs })), "forged");
  assert.equal(await ask(signToken({ claims: { iss: other.issuer } })), "forged");
});

// The keys and how they are fetched.

test("finds a new key immediately, but fetches at most twice a minute", async () => {
  const { ask, fetched, published } = world();
  const next = makeKey("next", "EdDSA");
  await ask(signToken());
  published.keys = [one.jwk, next.jwk];

  assert.equal(await ask(signToken({ key: next }), now + 29_999), "forged");
  assert.equal(fetched.length, 1);
  assert.equal(await ask(signToken({ key: next }), now + 30_000), 7);
  assert.equal(fetched.length, 2);
  const unknown = Array.from({ length: 50 }, (_, at) => signToken({ header: { kid: `made up ${at}` } }));
  for (const token of unknown) assert.equal(await ask(token, now + 59_999), "forged");
  assert.equal(fetched.length, 2);
  await Promise.all(unknown.map((token) => ask(token, now + 60_000)));
  assert.equal(fetched.length, 3);
  assert.equal(await ask(signToken({ key: next }), now + 60_000), 7);
});

test("fetches the keys once for any number of concurrent first tokens", async () => {
  const { ask, fetched } = world();

  const outcomes = await Promise.all(
    Array.from({ length: 50 }, (_, at) => ask(signToken({ claims: { jti: String(at) } }))),
  );

  assert.deepEqual([new Set(outcomes), fetched.length], [new Set([7]), 1]);
});

test("refuses a withdrawn key after ten minutes, even for tokens that were verified before", async () => {
  const { ask, fetched, published } = world();
  const token = signToken({ claims: { exp: seconds + 3600 } });
  await ask(token);
  published.keys = [rsa.jwk];

  assert.equal(await ask(token, now + 599_999), 7);
  assert.equal(await ask(token, now + 600_000), "forged");
  assert.equal(await ask(signToken({ key: rsa, claims: { exp: seconds + 3600 } }), now + 600_000), 7);
  assert.equal(fetched.length, 2);
});

test("uses the keys for a day while the issuer is down, and then answers 503", async () => {
  const day = 86_400_000;
  const { ask, fetched, published, notices } = world();
  const token = signToken({ claims: { exp: seconds + 200_000 } });
  await ask(token);
  published.status = 500;

  assert.equal(await ask(token, now + 600_000), 7);
  assert.equal(await ask(token, now + 629_999), 7);
  assert.equal(fetched.length, 2);
  assert.equal(await ask(token, now + day - 1), 7);
  assert.deepEqual(await unavailable(ask(token, now + day)), [503, "30"]);
  published.status = 200;
  assert.deepEqual(await unavailable(ask(token, now + day + 9000)), [503, "21"]);
  assert.equal(await ask(token, now + day + 60_000), 7);
  const until = new Date(now + day).toISOString();
  const failed = `error: The keys of the issuer ${issuer} cannot be fetched: it answered with status 500. The previous keys are used until ${until}.`;
  assert.deepEqual(notices(), [failed, failed, `info: The keys of the issuer ${issuer} can be fetched again.`]);
});

test("answers 503 for an issuer that was never reachable, and accepts its tokens when it becomes reachable", async () => {
  const { ask, published, fetched } = world();
  published.status = 404;

  assert.deepEqual(await unavailable(ask(signToken())), [503, "30"]);
  assert.deepEqual(await unavailable(ask(signToken({ header: { kid: "made up" } }), now + 10_000)), [503, "20"]);
  assert.equal(fetched.length, 1);
  // A token that no key can make valid is refused without the keys.
  assert.equal(await ask(signToken({ header: { alg: "none" } })), "forged");
  published.status = 200;
  assert.equal(await ask(signToken(), now + 30_000), 7);
});

const otherCurve = generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "jwk" });
const short = generateKeyPairSync("rsa", { modulusLength: 1024 });
const misfits: { what: string; entry: unknown; key?: Key }[] = [
  { what: "no object", entry: "one" },
  { what: "nothing", entry: null },
  { what: "whose kid is empty", entry: { ...one.jwk, kid: "" } },
  { what: "whose kid is no text", entry: { ...one.jwk, kid: 7 } },
  { what: "for encryption", entry: { ...one.jwk, use: "enc" } },
  { what: "for signing only", entry: { ...one.jwk, key_ops: ["sign"] } },
  { what: "for another algorithm", entry: { ...one.jwk, alg: "ES256" } },
  { what: "of another curve", entry: { ...one.jwk, crv: "X25519" } },
  { what: "that is no point of its curve", entry: { ...otherCurve, y: otherCurve.x, kid: "one", alg: "ES256" } },
  { what: "whose x is no text", entry: { ...one.jwk, x: 7 } },
  { what: "that is symmetric", entry: { kty: "oct", k: "AAAA", kid: "one", alg: "HS256" } },
  { what: "with its private part", entry: { ...one.privateKey.export({ format: "jwk" }), kid: "one", alg: "EdDSA" } },
  {
    what: "of RSA with 1024 bits",
    entry: { ...short.publicKey.export({ format: "jwk" }), kid: "short", alg: "RS256" },
    key: { jwk: { kid: "short", alg: "RS256" }, privateKey: short.privateKey },
  },
];

for (const { what, entry, key = one } of misfits) {
  test(`ignores a published key ${what} and uses the others`, async () => {
    const { ask, published } = world();
    published.keys = [entry, rsa.jwk];

    assert.equal(await ask(signToken({ key })), "forged");
    assert.equal(await ask(signToken({ key: rsa })), 7);
  });
}

test("uses a key without alg for each listed algorithm that fits it, and uses neither of two keys with the same name", async () => {
  const { ask, published } = world({ algorithms: ["PS256", "RS256", "EdDSA"] });
  const namesake = makeKey("one", "EdDSA");
  published.keys = [{ ...rsa.jwk, alg: undefined }, one.jwk, namesake.jwk];

  assert.equal(await ask(signToken({ key: rsa })), 7);
  assert.equal(await ask(signToken({ key: { ...rsa, jwk: { kid: "rsa", alg: "PS256" } } })), 7);
  assert.equal(await ask(signToken({ key: { ...rsa, jwk: { kid: "rsa", alg: "RS384" } } })), "forged");
  for (const key of [one, namesake]) assert.equal(await ask(signToken({ key })), "forged");
});

test("uses the only fitting key if the key or the token has no name", async () => {
  const without = { ...one.jwk, kid: undefined };
  const nameless = signToken({ header: { kid: undefined } });
  const rows: readonly (readonly [token: string, keys: readonly unknown[], expected: string | number])[] = [
    [nameless, [one.jwk, rsa.jwk], 7],
    [nameless, [without], 7],
    [nameless, [one.jwk, { ...makeKey("enc", "EdDSA").jwk, use: "enc" }], 7],
    [nameless, [makeKey("other", "EdDSA").jwk], "forged"],
    [nameless, [rsa.jwk], "forged"],
    [nameless, [one.jwk, makeKey("two", "EdDSA").jwk], "malformed"],
    [nameless, [without, makeKey("two", "EdDSA").jwk], "malformed"],
    [signToken(), [without, rsa.jwk], 7],
    [signToken(), [without, makeKey("two", "EdDSA").jwk], 7],
    [signToken(), [without, { ...makeKey("two", "EdDSA").jwk, kid: undefined }], "malformed"],
    [signToken(), [makeKey("two", "EdDSA").jwk], "forged"],
  ];

  for (const [at, [token, keys, expected]] of rows.entries()) {
    const { ask, published } = world();
    published.keys = [...keys];
    assert.equal(await ask(token), expected, `row ${at}`);
  }
});

test("fetches the keys again if the only key does not verify a token without a kid", async () => {
  const { ask, fetched, published } = world();
  const next = makeKey("next", "EdDSA");
  const nameless = signToken({ key: next, header: { kid: undefined } });
  published.keys = [one.jwk];
  await ask(signToken());
  published.keys = [next.jwk];

  assert.equal(await ask(nameless, now + 29_999), "forged");
  assert.equal(fetched.length, 1);
  assert.equal(await ask(nameless, now + 30_000), 7);
  assert.equal(await ask(signToken({ header: { kid: undefined } }), now + 30_000), "forged");
  assert.equal(fetched.length, 2);
});

test("reports private keys that an issuer publishes, and a set without usable keys", async () => {
  const { ask, published, notices } = world({ algorithms: ["RS256"] });
  published.keys = [one.privateKey.export({ format: "jwk" }), { kty: "oct", k: "AAAA" }];
  await ask(signToken({ key: rsa }));

  assert.deepEqual(notices(), [
    `error: The keys of the issuer ${issuer} contain 2 private or symmetric ones, which are not used.`,
    `error: The keys of the issuer ${issuer} contain none for RS256: its tokens are refused.`,
  ]);
});

// The real network.

async function listen(t: TestContext, answer: RequestListener): Promise<{ server: Server; url: string }> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Makes a service that trusts the issuer at `url`, over the real network. */
function reaching(url: string) {
  const observed: Observation[] = [];
  const issuers = externalIssuers({
    issuers: [{ ...declared, jwksURL: url }],
    ownIssuer: "here",
    bindings: { resolve: () => createAccount(7, "ada") },
    observe: (observation) => void observed.push(observation),
  });
  const why = () => observed.map((each) => (each.kind === "notice" ? each.message : "")).join("\n");
  return { ask: async (token: string, at = now) => outcome(await issuers.verify(token, at)), why };
}

async function* endless(): AsyncGenerator<string> {
  for (;;) yield "x".repeat(65_536);
}

const answers: { what: string; why: RegExp; answer: RequestListener }[] = [
  { what: "an error", why: /status 500\./, answer: (_, response) => response.writeHead(500).end("{}") },
  { what: "nothing", why: /status 204\./, answer: (_, response) => response.writeHead(204).end() },
  { what: "a page", why: /not a JWK Set\./, answer: (_, response) => response.end("<html></html>") },
  { what: "an empty body", why: /not a JWK Set\./, answer: (_, response) => response.end() },
  { what: "a list", why: /not a JWK Set\./, answer: (_, response) => response.end("[]") },
  { what: "a set without keys", why: /not a JWK Set\./, answer: (_, response) => response.end('{"keys":{"0":{}}}') },
  { what: "a million brackets", why: /not a JWK Set\./, answer: (_, response) => response.end("[".repeat(200_000)) },
  {
    what: "too many keys",
    why: /more than 100 keys\./,
    answer: (_, response) => response.end(JSON.stringify({ keys: Array.from({ length: 101 }, () => one.jwk) })),
  },
  {
    what: "an answer without end",
    why: /longer than 256 KiB\./,
    answer: (_, response) => void pipeline(endless, response).catch(() => undefined),
  },
  { what: "an aborted connection", why: /connection failed/, answer: ({ socket }) => socket.destroy() },
];

for (const { what, why, answer } of answers) {
  test(`answers 503 and reports an issuer that answers with ${what}`, async (t) => {
    const { url } = await listen(t, answer);
    const { ask, why: readLog } = reaching(url);

    assert.deepEqual(await unavailable(ask(signToken())), [503, "30"]);
    assert.match(readLog(), why);
  });
}

test("does not follow a redirect", async (t) => {
  let requestCount = 0;
  const elsewhere = await listen(t, (_request, response) => {
    requestCount++;
    response.end(JSON.stringify({ keys: [one.jwk] }));
  });
  const { url } = await listen(t, (_request, response) => response.writeHead(302, { location: elsewhere.url }).end());
  const { ask, why } = reaching(url);

  assert.deepEqual(await unavailable(ask(signToken())), [503, "30"]);
  assert.match(why(), /status 302/);
  assert.equal(requestCount, 0);
});

test("waits for a slow issuer for five seconds in total", async (t) => {
  const body = JSON.stringify({ keys: [one.jwk] });
  const arrived = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const { url } = await listen(t, (_request, response) => {
    response.on("close", closed.resolve).write(body.slice(0, 10), () => arrived.resolve());
  });
  const { ask, why } = reaching(url);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const answer = unavailable(ask(signToken()));
  await arrived.promise;

  t.mock.timers.tick(4999);
  assert.equal(why(), "");
  t.mock.timers.tick(1);

  assert.deepEqual(await answer, [503, "30"]);
  assert.match(why(), /longer than 5 seconds/);
  await closed.promise;
});

test("fetches keys over the network, and uses the earlier ones during an interruption", async (t) => {
  let ok = true;
  const { url } = await listen(t, ({ headers }, response) => {
    assert.match(headers.accept ?? "", /application\/jwk-set\+json/);
    if (ok) response.end(JSON.stringify({ keys: [one.jwk] }));
    else response.destroy();
  });
  const { ask, why } = reaching(url);
  const token = signToken({ claims: { exp: seconds + 3600 } });

  assert.equal(await ask(token), 7);
  ok = false;
  assert.equal(await ask(token, now + 600_000), 7);
  assert.match(why(), /cannot be fetched: the connection failed: \S.* The previous keys are used until/);
});

// The declaration.

function collectProblems(issuers: unknown): readonly string[] {
  const bindings = { resolve: () => null };
  try {
    externalIssuers({ issuers: issuers as IssuerDeclaration[], ownIssuer: "here", bindings, observe: () => undefined });
    return [];
  } catch (error) {
    assert.ok(error instanceof Error && "problems" in error, String(error));
    return error.problems as string[];
  }
}

const mistakes: { what: string; issuers: unknown; problem: RegExp }[] = [
  { what: "no list", issuers: declared, problem: /^issuers is not a list\. Write \[/ },
  { what: "an entry that is no object", issuers: [null], problem: /^issuers\[0\] is not an object\. Write \{/ },
  {
    what: "an unknown member",
    issuers: [{ ...declared, jku: "x" }],
    problem: /^issuers\[0\] has "jku".*there are issuer/,
  },
  {
    what: "no issuer",
    issuers: [{ ...declared, issuer: undefined }],
    problem: /^issuers\[0\]\.issuer is missing\. Write/,
  },
  {
    what: "the issuer of the service itself",
    issuers: [{ ...declared, issuer: "here" }],
    problem: /^issuers\[0\]\.issuer is "here".*itself/,
  },
  {
    what: "an issuer twice",
    issuers: [declared, declared],
    problem: /^issuers\[1\]\.issuer is ".*Keep one of the two\./,
  },
  { what: "no audience", issuers: [{ ...declared, audience: undefined }], problem: /\.audience is missing\. Write/ },
  { what: "an empty audience", issuers: [{ ...declared, audience: "" }], problem: /\.audience is ""\. Write/ },
  {
    what: "a list of audiences",
    issuers: [{ ...declared, audience: ["a"] }],
    problem: /\.audience is \["a"\]\. Write/,
  },
  { what: "no address", issuers: [{ ...declared, jwksURL: undefined }], problem: /\.jwksURL is missing\. Write/ },
  {
    what: "a file address",
    issuers: [{ ...declared, jwksURL: "file:///etc/keys" }],
    problem: /\.jwksURL is "file.*https/,
  },
  {
    what: "an http address of another machine",
    issuers: [{ ...declared, jwksURL: "http://login.example/k" }],
    problem: /loopback only\.$/,
  },
  {
    what: "http to a host name that only begins with localhost",
    issuers: [{ ...declared, jwksURL: "http://localhost.example/" }],
    problem: /loopback/,
  },
  {
    what: "http to a host name that only begins with 127.0.0.1",
    issuers: [{ ...declared, jwksURL: "http://127.0.0.1.example/" }],
    problem: /loopback/,
  },
  {
    what: "a password in the address",
    issuers: [{ ...declared, jwksURL: "https://a:hunter2@b.example/" }],
    problem: /\.jwksURL is "https:\/\/…@b/,
  },
  {
    what: "no algorithms",
    issuers: [{ ...declared, algorithms: undefined }],
    problem: /\.algorithms is missing\. Name/,
  },
  {
    what: "an empty list of algorithms",
    issuers: [{ ...declared, algorithms: [] }],
    problem: /\.algorithms is \[\]\. Write/,
  },
  {
    what: "HS256",
    issuers: [{ ...declared, algorithms: ["RS256", "HS256"] }],
    problem: /\.algorithms names "HS256"\. Only/,
  },
  { what: "none", issuers: [{ ...declared, algorithms: ["none"] }], problem: /\.algorithms names "none"\./ },
  {
    what: "an algorithm with the name of a method of every object",
    issuers: [{ ...declared, algorithms: ["toString"] }],
    problem: /names "toString"\./,
  },
  {
    what: "an algorithm twice",
    issuers: [{ ...declared, algorithms: ["RS256", "RS256"] }],
    problem: /twice\. Name it once\./,
  },
  { what: "an empty claim", issuers: [{ ...declared, usernameClaim: "" }], problem: /\.usernameClaim is ""\. Write/ },
  {
    what: "a typ that is not a media type",
    issuers: [{ ...declared, typ: "at jwt" }],
    problem: /\.typ is "at jwt"\. Write/,
  },
];

for (const { what, issuers, problem } of mistakes) {
  test(`reports ${what} with its field and its fix`, () => {
    const problems = collectProblems(issuers);

    assert.equal(problems.length, 1, problems.join("\n"));
    assert.match(problems[0]!, problem);
    assert.ok(!problems[0]!.includes("hunter2"));
  });
}

test("reports every mistake together, and accepts a valid declaration", () => {
  const algorithms: IssuerAlgorithm[] = ["EdDSA", "Ed25519", "ES256", "ES384", "ES512", "PS512", "RS512"];

  assert.equal(collectProblems([{}, { ...declared, algorithms: [], jwksURL: "" }]).length, 6);
  assert.match(collectProblems([]).join(), /^issuers is an empty list/);
  for (const jwksURL of [
    "http://127.0.0.1:8080/k",
    "http://[::1]/k",
    "http://localhost/k?x=1",
    "https://a.example:8443",
  ])
    assert.deepEqual(
      collectProblems([{ ...declared, algorithms, jwksURL, usernameClaim: "email", typ: "at+jwt" }]),
      [],
    );
});
