import assert from "node:assert/strict";
import { generateKeyPairSync, sign, verify } from "node:crypto";
import { test } from "node:test";
import { calculateJwkThumbprint } from "jose";
import { Secret } from "../../../core/crypto/secret.ts";
import { derivedSigningKeys, parseSigningKeys, readSigningKeys, SigningKeysError } from "./signing-keys.ts";

const ed25519 = () => generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
const p256 = () => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" });
const formatKeySet = (...keys: unknown[]) => JSON.stringify({ keys });

function collectProblems(text: string): readonly string[] {
  try {
    parseSigningKeys(text, "keys.json");
  } catch (error) {
    if (error instanceof SigningKeysError) return error.problems;
    throw error;
  }
  return [];
}

test("derives the same key from the same secret, and another key from another secret", () => {
  const one = derivedSigningKeys(new Secret("a".repeat(32)));
  const same = derivedSigningKeys(new Secret("a".repeat(32)));
  const other = derivedSigningKeys(new Secret("b".repeat(32)));

  const signature = sign(null, Buffer.from("text"), one.signing.privateKey);

  assert.equal(one.signing.kid, same.signing.kid);
  assert.notEqual(one.signing.kid, other.signing.kid);
  assert.equal(verify(null, Buffer.from("text"), same.find(one.signing.kid)!.publicKey, signature), true);
});

test("signs with the first private key of a set and verifies with all", () => {
  const { d: _, ...retired } = ed25519();
  const keys = parseSigningKeys(formatKeySet(retired, p256(), ed25519()), "keys.json");

  assert.equal(keys.signing.alg, "ES256");
  assert.deepEqual(
    keys.jwks().keys.map(({ kid }) => keys.find(kid)?.alg),
    ["EdDSA", "ES256", "EdDSA"],
  );
  assert.equal(keys.find("nobody"), null);
});

test("uses the kid in the file, or else the RFC 7638 thumbprint, and publishes no private part of a key", async () => {
  const keys = parseSigningKeys(formatKeySet({ ...ed25519(), kid: "mine" }, p256()), "keys.json");

  const [named, unnamed] = keys.jwks().keys;
  assert.deepEqual([keys.signing.kid, named?.kid], ["mine", "mine"]);
  assert.equal(unnamed?.kid, await calculateJwkThumbprint({ ...unnamed! }));
  for (const jwk of keys.jwks().keys) {
    assert.equal(jwk.use, "sig");
    assert.equal("d" in jwk, false);
  }
});

test("finds a renamed key by its thumbprint, so that older tokens stay valid", async () => {
  const jwk = ed25519();
  const before = parseSigningKeys(formatKeySet(jwk), "keys.json").signing.kid;

  const keys = parseSigningKeys(formatKeySet({ ...jwk, kid: "mine" }, ed25519()), "keys.json");

  assert.equal(keys.find(before)?.kid, "mine");
});

test("requires a kid that is a text and different for each key", () => {
  const key = ed25519();
  for (const kid of ["", 7, null, "x".repeat(201)])
    assert.match(
      collectProblems(formatKeySet({ ...key, kid })).join(),
      /^Key 1 of keys\.json has a kid that is not a text of 1 to 200/,
    );
  assert.deepEqual(collectProblems(formatKeySet({ ...key, kid: "x".repeat(200) }, { ...key, kid: "mine" })), []);
  assert.deepEqual(collectProblems(formatKeySet({ ...key, kid: "mine" }, { ...p256(), kid: "mine" })), [
    "Key 2 of keys.json has the kid of key 1. Give each key a different kid, or none.",
  ]);
});

test("computes the thumbprint of RFC 8037 appendix A.3 for the key of appendix A", () => {
  const jwk = {
    kty: "OKP",
    crv: "Ed25519",
    d: "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
    x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
  };

  assert.equal(
    parseSigningKeys(formatKeySet(jwk), "keys.json").signing.kid,
    "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
  );
});

const wrong: readonly (readonly [what: string, text: string, says: RegExp])[] = [
  ["no JSON", "nonsense", /not a JWK Set/],
  ["no key set", '{"kty":"OKP"}', /not a JWK Set/],
  ["an empty set", formatKeySet(), /no private key/],
  ["public keys only", formatKeySet({ ...ed25519(), d: undefined }), /no private key/],
  ["a symmetric key", formatKeySet({ kty: "oct", k: "c2VjcmV0" }), /only OKP\/Ed25519/],
  ["an RSA key", formatKeySet({ kty: "RSA", n: "AQAB", e: "AQAB" }), /only OKP\/Ed25519/],
  ["a key on another curve than P-256", formatKeySet({ ...p256(), crv: "P-384" }), /only OKP\/Ed25519/],
  ["an X25519 key", formatKeySet({ ...ed25519(), crv: "X25519" }), /only OKP\/Ed25519/],
  ["an alg that does not fit the curve", formatKeySet({ ...ed25519(), alg: "ES256" }), /says alg/],
  ["a key for encryption", formatKeySet({ ...ed25519(), use: "enc" }), /says use/],
  ["a short key", formatKeySet({ ...ed25519(), d: "AAAA" }), /cannot be read/],
  ["a key that is a number", formatKeySet({ ...ed25519(), d: 7 }), /cannot be read/],
  ["a point that is not on the curve", formatKeySet({ ...p256(), y: p256().x }), /cannot be read/],
  [
    "a public key and a private key that do not belong together",
    formatKeySet({ ...ed25519(), d: ed25519().d }),
    /belong together/,
  ],
  ["a key that is not an object", formatKeySet(null), /not a JSON object/],
];

for (const [what, text, says] of wrong) {
  test(`refuses a key file with ${what}`, () => {
    assert.match(collectProblems(text).join("\n"), says);
  });
}

test("reports all mistakes together, without the content of the keys", () => {
  const { d = "" } = ed25519();

  const problems = collectProblems(formatKeySet({ kty: "oct", k: d }, { ...ed25519(), d, use: "enc" }, null));

  assert.equal(problems.length, 3);
  assert.equal(problems.join().includes(d), false);
});

test("names a file that cannot be read, and the reason", () => {
  assert.throws(() => readSigningKeys("no/such/file.json"), /no\/such\/file.json cannot be read \(ENOENT\)/);
});
