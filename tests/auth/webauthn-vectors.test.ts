import assert from "node:assert/strict";
import { createECDH, createHash, createPrivateKey, createPublicKey, verify, type KeyObject } from "node:crypto";
import { test } from "node:test";
import {
  readAssertion,
  readRegistration,
  type PasskeyExpectations,
} from "../../src/features/auth/passkeys/webauthn.ts";
import { writeCBOR } from "../harness/authenticator.ts";
import { vectors, type Vector } from "../harness/webauthn-vectors.ts";

// Checks the verifier with the test vectors of the WebAuthn standard. First, node:crypto checks each vector with a
// public key that is derived from the vector's private key, so that this check depends on no code for CBOR and COSE.

const text = (hex: string): string => Buffer.from(hex, "hex").toString("base64url");
const expected = (challenge: string): PasskeyExpectations => ({
  challenge: text(challenge),
  rpId: "example.org",
  isOrigin: (origin) => origin === "https://example.org",
});
const userHandle = text("00");

/**
 * Returns the public key of a vector. Computes it from the private key, or for RS256 from the two primes of the
 * standard.
 */
function derivePublicKey({ algorithm, privateKey }: Vector): KeyObject {
  if (algorithm === "RS256") {
    const modulus = (2n ** 1279n - 1n) * (2n ** 2203n - 1n);
    return createPublicKey({ key: { kty: "RSA", n: text(`0${modulus.toString(16)}`), e: "AQAB" }, format: "jwk" });
  }
  if (algorithm === "EdDSA") {
    const key = Buffer.from(`302e020100300506032b657004220420${privateKey}`, "hex");
    return createPublicKey(createPrivateKey({ key, format: "der", type: "pkcs8" }));
  }
  const curve = createECDH("prime256v1");
  curve.setPrivateKey(privateKey!, "hex");
  const point = curve.getPublicKey();
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((each) => each.toString("base64url"));
  return createPublicKey({ key: { kty: "EC", crv: "P-256", x: x!, y: y! }, format: "jwk" });
}

/** Returns the answer of the browser for a new passkey. */
function buildRegistration({ credentialId, registration }: Vector, attestationObject = registration.attestationObject) {
  const id = text(credentialId);
  const { clientDataJSON } = registration;
  const response = { clientDataJSON: text(clientDataJSON), attestationObject: text(attestationObject) };
  return { id, rawId: id, type: "public-key", response };
}

/** Returns the answer of the browser to a login. */
function buildAssertion({ credentialId, authentication }: Vector, handle: string | null = userHandle) {
  const id = text(credentialId);
  const { challenge: _, ...response } = authentication;
  const inText = Object.fromEntries(Object.entries(response).map(([name, hex]) => [name, text(hex)]));
  return {
    id,
    rawId: id,
    type: "public-key",
    response: { ...inText, ...(handle === null ? {} : { userHandle: handle }) },
  };
}

/** Replaces the attestation with `none`, as a browser does if the relying party asks for `none` (§5.1.3). */
function withoutAttestation({ registration: { attestationObject } }: Vector): string {
  const bytes = Buffer.from(attestationObject, "hex");
  // `authData` is the last member: its name, and then a byte string whose length has one or two bytes.
  const at = bytes.lastIndexOf("hauthData") + "hauthData".length;
  const authData = bytes.subarray(at + (bytes[at] === 0x58 ? 2 : 3));
  const object = new Map<string, unknown>([
    ["fmt", "none"],
    ["attStmt", new Map()],
    ["authData", authData],
  ]);
  return writeCBOR(object).toString("hex");
}

const isBelowAnother = (name: string): boolean => /another site/.test(name);
/** True if a manufacturer attests the passkey. A self attestation is accepted. */
const isAttested = ({ section }: Vector): boolean => section.includes("packed") && !section.includes("self");

for (const [name, vector] of Object.entries(vectors)) {
  const { registration, authentication } = vector;

  test(`verifies a vector of the standard with node:crypto: ${name}`, () => {
    const client = createHash("sha256").update(authentication.clientDataJSON, "hex").digest();
    const message = Buffer.concat([Buffer.from(authentication.authenticatorData, "hex"), client]);
    const signature = Buffer.from(authentication.signature, "hex");
    const hash = vector.algorithm === "EdDSA" ? null : "sha256";
    assert.equal(verify(hash, message, derivePublicKey(vector), signature), true);
  });

  test(`${isBelowAnother(name) ? "refuses" : "accepts"} the vector of the standard: ${name}`, () => {
    const answer = buildRegistration(vector, withoutAttestation(vector));
    const made = readRegistration(answer, expected(registration.challenge));
    if (isBelowAnother(name)) return assert.equal(made, null);

    assert.ok(made !== null);
    assert.equal(made.id, text(vector.credentialId));
    const key = createPublicKey({ key: { ...made.publicKey }, format: "jwk" });
    assert.equal(key.equals(derivePublicKey(vector)), true);

    const passkey = { ...made, userHandle };
    const asserted = readAssertion(buildAssertion(vector), passkey, expected(authentication.challenge));
    const flags = Buffer.from(authentication.authenticatorData, "hex").readUInt8(32);
    assert.deepEqual(asserted, { counter: 0, verifiesUser: (flags & 4) !== 0, isClone: false });
    assert.ok(readAssertion(buildAssertion(vector, null), passkey, expected(authentication.challenge)) !== null);
  });

  test(`accepts the registration only without an attestation of a manufacturer: ${name}`, () => {
    const made = readRegistration(buildRegistration(vector), expected(registration.challenge));
    assert.equal(made !== null, !isAttested(vector) && !isBelowAnother(name));
  });

  if (isBelowAnother(name)) continue;
  test(`refuses the vector if one bit of it is wrong: ${name}`, () => {
    const passkey = {
      ...readRegistration(buildRegistration(vector, withoutAttestation(vector)), expected(registration.challenge))!,
      userHandle,
    };
    for (const part of ["clientDataJSON", "authenticatorData", "signature"] as const) {
      const bytes = Buffer.from(authentication[part], "hex");
      for (let at = 0; at < bytes.length; at += Math.ceil(bytes.length / 40)) {
        const changed = Buffer.from(bytes);
        changed[at]! ^= 1;
        const twisted = { ...vector, authentication: { ...authentication, [part]: changed.toString("hex") } };
        const asserted = readAssertion(buildAssertion(twisted), passkey, expected(authentication.challenge));
        assert.equal(asserted, null, `${part} ${at}`);
      }
    }
    for (const other of [registration.challenge, authentication.challenge.replace(/..$/, "00")])
      assert.equal(readAssertion(buildAssertion(vector), passkey, expected(other)), null);
  });
}
