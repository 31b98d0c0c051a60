import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { Secret } from "../../../core/crypto/secret.ts";
import type { Account } from "../records/accounts.ts";
import { accessTokens, type AccessTokensOptions } from "./access.ts";
import { derivedSigningKeys, parseSigningKeys, type SigningKeys } from "./signing-keys.ts";

const issuer = "https://api.example";
const now = Date.parse("2026-03-01T12:00:00Z");
const seconds = now / 1000;
const keys = derivedSigningKeys(new Secret("a secret of the server, long enough"));
const nothingRevoked = { isRevoked: () => false };

const ada: Account = {
  id: 7,
  username: "ada",
  role: "admin",
  active: true,
  passwordHash: null,
  passwordUntil: null,
  generation: 3,
  createdAt: "2026-01-01T00:00:00.000Z",
  lastLoginAt: null,
  remainingFamily: null,
  roleChanges: 0,
};

const make = (more: Partial<AccessTokensOptions> = {}) =>
  accessTokens({ keys, issuer, lifetimeSeconds: 300, revocations: nothingRevoked, ...more });

const encode = (value: unknown): string =>
  Buffer.from(
    typeof value === "string" ? value : JSON.stringify(value),
    typeof value === "string" ? "latin1" : "utf8",
  ).toString("base64url");
const decode = (segment = ""): Record<string, unknown> =>
  JSON.parse(Buffer.from(segment, "base64url").toString()) as Record<string, unknown>;

const goodHeader = { alg: "EdDSA", typ: "at+jwt", kid: keys.signing.kid };
const goodClaims = {
  iss: issuer,
  aud: issuer,
  sub: "7",
  iat: seconds,
  exp: seconds + 300,
  jti: "1",
  user_id: "7",
  username: "ada",
  role: "admin",
  gen: 3,
  rch: 0,
  fam: "family",
};

/** Returns a token as an attacker with the private key could write it. */
function signed(header: unknown, claims: unknown, key: KeyObject = keys.signing.privateKey): string {
  const text = `${encode(header)}.${encode(claims)}`;
  return `${text}.${sign(null, Buffer.from(text), key).toString("base64url")}`;
}

test("accepts a token for its account without any database", async () => {
  const access = make();

  const verdict = await access.verify(
    await access.issue(ada, "family", now, [{ method: "pwd", at: now - 60_000 }]),
    now,
  );

  const login = { family: "family", authTime: now - 60_000 };
  assert.deepEqual(verdict, {
    kind: "accepted",
    identity: {
      id: 7,
      username: "ada",
      role: "admin",
      scheme: "bearer",
      scopes: null,
      expiresAt: now + 300_000,
      level: 1,
      proofs: [{ method: "pwd", at: now - 60_000 }],
      ...login,
    },
  });
});

test("rejects a token of an unknown account each time, and reads a known account only at the first use of its token", async () => {
  const lookups: number[] = [];
  const accounts = { find: (id: number) => (lookups.push(id), id === ada.id ? ada : null) };
  const access = make({ accounts });
  const [good, nobodys] = [
    await access.issue(ada, "family", now),
    signed(goodHeader, { ...goodClaims, sub: "8", user_id: "8" }),
  ];

  for (let times = 0; times < 3; times++) {
    assert.equal((await access.verify(good, now)).kind, "accepted");
    const verdict = await access.verify(nobodys, now);
    assert.equal(verdict.kind === "rejected" && verdict.reason, "revoked");
  }
  assert.deepEqual(lookups, [7, 8, 8, 8]);
});

test("rejects a new token that does not match its account, even without a known revocation", async () => {
  const rows: readonly (readonly [Partial<Account>, string])[] = [
    [{}, "accepted"],
    [{ active: false }, "rejected"],
    [{ generation: 4 }, "rejected"],
    [{ generation: 4, remainingFamily: "family" }, "accepted"],
    [{ generation: 4, remainingFamily: "another" }, "rejected"],
    [{ role: "user" }, "rejected"],
    [{ roleChanges: 1 }, "rejected"],
  ];

  for (const [change, kind] of rows) {
    const access = make({ accounts: { find: () => ({ ...ada, ...change }) } });
    const verdict = await access.verify(await access.issue(ada, "family", now), now);
    assert.equal(verdict.kind, kind, JSON.stringify(change));
  }
});

test("puts the documented claims into a token", async () => {
  const [header, claims] = (await make().issue(ada, "family", now)).split(".");

  assert.deepEqual(decode(header), goodHeader);
  assert.deepEqual({ ...decode(claims), jti: "1" }, goodClaims);
});

test("returns the same verdict without waiting for a token that was verified before", async () => {
  const access = make();
  const token = await access.issue(ada, "family", now);
  const first = await access.verify(token, now);

  const second = access.verify(token, now);

  assert.equal(second, first);
});

test("allows no leeway for the expiry, also of a remembered token", async () => {
  const access = make();
  const token = await access.issue(ada, "family", now);

  assert.equal((await access.verify(token, now + 299_999)).kind, "accepted");
  for (const verify of [access.verify, make().verify]) {
    const verdict = await verify(token, now + 300_000);
    assert.deepEqual(verdict, { kind: "rejected", reason: "expired", detail: "The token has expired." });
  }
});

test("applies a shorter lifetime to tokens that were already issued", async () => {
  const token = await make({ lifetimeSeconds: 3600 }).issue(ada, "family", now);

  assert.equal((await make().verify(token, now + 300_000)).kind, "rejected");
});

test("applies a revocation to a remembered token immediately", async () => {
  let revoked = false;
  const access = make({
    revocations: {
      isRevoked: ({ sub, gen, role, fam }) => revoked && `${sub} ${gen} ${role} ${fam}` === "7 3 admin family",
    },
  });
  const token = await access.issue(ada, "family", now);
  assert.equal((await access.verify(token, now)).kind, "accepted");

  revoked = true;

  assert.equal(((await access.verify(token, now)) as { reason?: string }).reason, "revoked");
});

test("drops the oldest verified token when its memory is full, and verifies it again", async () => {
  const access = make();
  const first = await access.issue(ada, "family", now);
  await access.verify(first, now);
  const key = keys.signing.privateKey;

  for (let n = 0; n < 10_000; n += 500) {
    await Promise.all(
      Array.from({ length: 500 }, async (_, k) =>
        access.verify(signed(goodHeader, { ...goodClaims, jti: `${n + k}` }, key), now),
      ),
    );
  }

  assert.ok(access.verify(first, now) instanceof Promise);
});

test("verifies with every key, signs with the first private one, and reports a token of a removed key as forged", async () => {
  const jwk = (type: "ed25519" | "ec") =>
    (type === "ec"
      ? generateKeyPairSync("ec", { namedCurve: "P-256" })
      : generateKeyPairSync("ed25519")
    ).privateKey.export({ format: "jwk" });
  const [older, newer] = [jwk("ed25519"), jwk("ec")];
  const set = (...jwks: unknown[]): SigningKeys => parseSigningKeys(JSON.stringify({ keys: jwks }), "keys.json");
  const before = await make({ keys: set(older) }).issue(ada, "family", now);
  const after = await make({ keys: set(newer, older) }).issue(ada, "family", now);

  assert.equal(decode(after.split(".")[0])["alg"], "ES256");
  for (const token of [before, after]) {
    assert.equal((await make({ keys: set(newer, older) }).verify(token, now)).kind, "accepted");
  }
  assert.equal(((await make({ keys: set(newer) }).verify(before, now)) as { reason?: string }).reason, "forged");
});

const { privateKey: foreignKey, publicKey: foreignPublic } = generateKeyPairSync("ed25519");
const hmacWith = (key: string | Buffer, alg = "HS256"): string => {
  const text = `${encode({ ...goodHeader, alg })}.${encode(goodClaims)}`;
  return `${text}.${createHmac("sha256", key).update(text).digest("base64url")}`;
};
const good = signed(goodHeader, goodClaims);
const [goodHead, goodBody, goodSignature = ""] = good.split(".");
const lastFlipped = goodSignature.slice(0, -1) + String.fromCharCode(goodSignature.charCodeAt(85) + 1);
const publicKey = keys.signing.publicKey;
const foreignJWK = foreignPublic.export({ format: "jwk" });

const forgeries: Readonly<Record<string, string>> = {
  "alg none, no signature": `${encode({ ...goodHeader, alg: "none" })}.${goodBody}.`,
  "alg none with a signature": signed({ ...goodHeader, alg: "none" }, goodClaims),
  "alg nOnE": signed({ ...goodHeader, alg: "nOnE" }, goodClaims),
  "HS256 with the public key in PEM": hmacWith(publicKey.export({ format: "pem", type: "spki" })),
  "HS256 with the public key in DER": hmacWith(publicKey.export({ format: "der", type: "spki" })),
  "HS256 with the raw public key": hmacWith(Buffer.from(keys.signing.jwk.x, "base64url")),
  "HS256 with an empty key": hmacWith(""),
  "EdDSA by HMAC": hmacWith(Buffer.from(keys.signing.jwk.x, "base64url"), "EdDSA"),
  "the algorithm of another kind of key": signed({ ...goodHeader, alg: "ES256" }, goodClaims),
  "another key": signed(goodHeader, goodClaims, foreignKey),
  "another key, brought along as jwk": signed({ ...goodHeader, jwk: foreignJWK }, goodClaims, foreignKey),
  "another key, brought along as jku": signed(
    { ...goodHeader, jku: "http://127.0.0.1:9/jwks" },
    goodClaims,
    foreignKey,
  ),
  "another key, brought along as x5u": signed({ ...goodHeader, x5u: "http://127.0.0.1:9/x" }, goodClaims, foreignKey),
  "an unknown kid": signed({ ...goodHeader, kid: "nobody" }, goodClaims),
  "a kid that is a path": signed({ ...goodHeader, kid: "../../dev/null" }, goodClaims),
  "a kid of Object.prototype": signed({ ...goodHeader, kid: "__proto__" }, goodClaims),
  "a kid that is a number": signed({ ...goodHeader, kid: 7 }, goodClaims),
  "no kid": signed({ ...goodHeader, kid: undefined }, goodClaims),
  crit: signed({ ...goodHeader, crit: ["exp"], exp: 1 }, goodClaims),
  "crit with b64": signed({ ...goodHeader, crit: ["b64"], b64: true }, goodClaims),
  "claims that were changed after the signature was made": `${goodHead}.${encode({ ...goodClaims, sub: "8" })}.${goodSignature}`,
  "a header that was changed after the signature was made": `${encode({ ...goodHeader, x: 1 })}.${goodBody}.${goodSignature}`,
  "a signature whose unused bits are set": `${goodHead}.${goodBody}.${lastFlipped}`,
  "half a signature": `${goodHead}.${goodBody}.${goodSignature.slice(0, 43)}`,
};

const nonsense: Readonly<Record<string, string>> = {
  nothing: "",
  "a word": "token",
  "two parts": `${goodHead}.${goodBody}`,
  "an empty signature": `${goodHead}.${goodBody}.`,
  "four parts": `${good}.x`,
  "five parts, like an encrypted token": `${good}.x.y`,
  "white space inside": good.replace(".", ". "),
  "a line break at the end": `${good}\n`,
  padding: `${good}=`,
  "standard Base64 instead of base64url": `${goodHead}.${goodBody}.+/${goodSignature.slice(2)}`,
  "more than 8 KiB": signed(goodHeader, { ...goodClaims, more: "x".repeat(8192) }),
  "a megabyte": `${goodHead}.${"A".repeat(1_000_000)}.${goodSignature}`,
  "a header that is no JSON": `${encode("{")}.${goodBody}.${goodSignature}`,
  "a header that is an array": `${encode([])}.${goodBody}.${goodSignature}`,
  "a header of null": `${encode("null")}.${goodBody}.${goodSignature}`,
  "claims that are no JSON": signed(goodHeader, "{"),
  "claims that are an array": signed(goodHeader, []),
  "claims of null": signed(goodHeader, "null"),
  "claims in Latin-1": signed(goodHeader, JSON.stringify({ ...goodClaims, username: "\u00e4" })),
  "the type of a refresh token": signed({ ...goodHeader, typ: "rt+jwt" }, goodClaims),
  "the type JWT": signed({ ...goodHeader, typ: "JWT" }, goodClaims),
  "a type that is a number": signed({ ...goodHeader, typ: 7 }, goodClaims),
  "no type": signed({ ...goodHeader, typ: undefined }, goodClaims),
};

for (const [what, token] of Object.entries(forgeries)) {
  test(`rejects a forged token: ${what}`, async () => {
    assert.match(((await make().verify(token, now)) as { reason: string }).reason, /^(forged|malformed)$/);
  });
}

for (const [what, token] of Object.entries(nonsense)) {
  test(`rejects a token as malformed: ${what}`, async () => {
    assert.equal(((await make().verify(token, now)) as { reason: string }).reason, "malformed");
  });
}

const wrongClaims: Readonly<Record<string, readonly unknown[]>> = {
  iss: [undefined, "https://other.example", [issuer], ""],
  aud: [undefined, "https://other.example", [issuer, "x"], 7],
  sub: [undefined, 7, "", "0", "07", "-7", "7.0", "9007199254740992", "7\n", "x".repeat(100)],
  jti: [undefined, 7],
  iat: [undefined, "now", null, {}],
  exp: [undefined, "never", null, `${seconds + 300}`],
  nbf: ["now", null],
  username: [undefined, 7],
  role: [undefined, "root", ["admin"]],
  gen: [undefined, "3", 3.5, null],
  fam: [undefined, 7],
};

for (const [claim, values] of Object.entries(wrongClaims)) {
  test(`rejects a token with a missing or wrong claim: ${claim}`, async () => {
    for (const value of values) {
      const verdict = await make().verify(signed(goodHeader, { ...goodClaims, [claim]: value }), now);
      assert.deepEqual([value, verdict.kind === "rejected" && verdict.reason], [value, "malformed"]);
    }
  });
}

test("allows exactly 60 seconds of leeway for iat and nbf", async () => {
  for (const claim of ["iat", "nbf"]) {
    const verify = (ahead: number) =>
      make().verify(signed(goodHeader, { ...goodClaims, [claim]: seconds + ahead }), now);
    assert.equal((await verify(60)).kind, "accepted");
    assert.equal((await verify(61)).kind, "rejected");
  }
});

test("rejects a verified token while the clock is set back before its time", async () => {
  const access = make();
  const token = await access.issue(ada, "family", now);

  assert.equal((await access.verify(token, now)).kind, "accepted");
  assert.equal((await access.verify(token, now - 60_000)).kind, "accepted");
  assert.equal((await access.verify(token, now - 61_000)).kind, "rejected");
});

test("verifies tokens with times far in the past or in the future without a fault", async () => {
  for (const far of [-1e300, -1, 0, 1e15, 1e300, Number.MAX_SAFE_INTEGER]) {
    assert.equal((await make().verify(signed(goodHeader, { ...goodClaims, iat: far }), now)).kind, "rejected");
    assert.equal(
      (await make().verify(signed(goodHeader, { ...goodClaims, nbf: far }), now)).kind,
      far <= seconds ? "accepted" : "rejected",
    );
  }
  // A distant exp does not make a token valid for longer than the lifetime of access tokens.
  const far = signed(goodHeader, { ...goodClaims, exp: 1e300 });
  assert.equal((await make().verify(far, now + 299_000)).kind, "accepted");
  assert.equal((await make().verify(far, now + 300_000)).kind, "rejected");
});

test("ignores the order of members and the case of typ", async () => {
  const header = { kid: keys.signing.kid, typ: "AT+JWT", alg: "EdDSA" };

  assert.equal((await make().verify(signed(header, goodClaims), now)).kind, "accepted");
});

test("rejects every changed token without a fault", async () => {
  const position = fc.nat(good.length - 1);
  const character = fc.constantFrom(..."ABCxyz019-_.=+/ \n\u00e4\u0000");
  await fc.assert(
    fc.asyncProperty(position, character, async (at, other) => {
      fc.pre(good[at] !== other);
      const verdict = await make().verify(good.slice(0, at) + other + good.slice(at + 1), now);
      assert.equal(verdict.kind, "rejected");
    }),
    { numRuns: 300 },
  );
});

test("rejects tokens with any header, and any text, without a fault", async () => {
  const header = fc.dictionary(
    fc.constantFrom("alg", "typ", "kid", "crit", "b64", "jwk", "zip", "x5c"),
    fc.jsonValue(),
  );
  await fc.assert(
    fc.asyncProperty(header, fc.jsonValue(), async (more, claims) => {
      assert.equal((await make().verify(signed({ ...goodHeader, ...more }, claims), now)).kind, "rejected");
    }),
    { numRuns: 300 },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: "binary" }),
      async (text) => (await make().verify(text, now)).kind === "rejected",
    ),
  );
});
