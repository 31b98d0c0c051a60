import { createPublicKey, hash, timingSafeEqual, verify } from "node:crypto";
import { readCBOR, type CBORValue } from "./cbor.ts";

// Registration (§7.1) and assertion (§7.2) of Web Authentication Level 3, for the attestation format `none`.

/** The accepted signature algorithms, by their COSE numbers: EdDSA, ES256, RS256. */
export const algorithms = [-8, -7, -257] as const;

/** A public key as JSON (RFC 7517). */
export interface PublicKeyJWK {
  readonly kty: "EC" | "OKP" | "RSA";
  readonly crv?: string;
  readonly x?: string;
  readonly y?: string;
  readonly n?: string;
  readonly e?: string;
}

/** The values that a relying party expects in an answer. */
export interface PasskeyExpectations {
  /** In base64url without padding. */
  readonly challenge: string;
  /** The host that passkeys are bound to. */
  readonly rpId: string;
  isOrigin(origin: string): boolean;
}

/** A credential that an authenticator has made. */
export interface NewCredential {
  /** In base64url without padding. */
  readonly id: string;
  readonly publicKey: PublicKeyJWK;
  readonly algorithm: number;
  readonly counter: number;
  /** True if the authenticator has checked the person, with a PIN, a finger or a face. */
  readonly verifiesUser: boolean;
  /** True if the credential may be copied to other devices of the user. This value never changes. */
  readonly backupEligible: boolean;
  /** The transports by which the browser reaches the authenticator, for the next login. */
  readonly transports: readonly string[];
}

/** The members of a stored credential that are needed to check an assertion. */
export interface KnownCredential extends Pick<NewCredential, "id" | "publicKey" | "algorithm" | "counter"> {
  /** The user handle for which the credential was made, in base64url without padding. */
  readonly userHandle: string;
  /** Undefined if the credential is older than this member. */
  readonly backupEligible: boolean | undefined;
}

/** The data of a right assertion. */
export interface Asserted {
  readonly counter: number;
  readonly verifiesUser: boolean;
  /** True if the signature counter went back: the passkey may be a copy. Both counters are 0 if the authenticator does not count. */
  readonly isClone: boolean;
}

/** Checks a `RegistrationResponseJSON`. Returns null if anything is wrong. The caller does not learn the reason. */
export function readRegistration(input: unknown, expected: PasskeyExpectations): NewCredential | null {
  const { id, response } = readAnswer(input) ?? {};
  if (id === undefined || !isClientData(response?.["clientDataJSON"], "webauthn.create", expected)) return null;
  const attested = readAttestation(decode(response?.["attestationObject"]));
  const data = attested === null ? null : readAuthenticatorData(attested, expected.rpId);
  if (data === null || data.credential === null || data.credential.id.toString("base64url") !== id) return null;
  const key = readKey(data.credential.key);
  if (key === null) return null;
  const transports: unknown = response?.["transports"];
  return {
    id,
    ...key,
    counter: data.counter,
    verifiesUser: data.verifiesUser,
    backupEligible: data.backupEligible,
    transports: Array.isArray(transports) ? transports.filter((each) => typeof each === "string").slice(0, 8) : [],
  };
}

/** Checks an `AuthenticationResponseJSON`. Returns null if anything is wrong. */
export function readAssertion(
  input: unknown,
  knownCredential: KnownCredential,
  expected: PasskeyExpectations,
): Asserted | null {
  const { id, response } = readAnswer(input) ?? {};
  if (id !== knownCredential.id || !isClientData(response?.["clientDataJSON"], "webauthn.get", expected)) return null;
  const handle: unknown = response?.["userHandle"];
  if (typeof handle === "string" && handle !== "" && handle !== knownCredential.userHandle) return null;
  const signed = decode(response?.["authenticatorData"]);
  const data = signed === null ? null : readAuthenticatorData(signed, expected.rpId);
  const signature = decode(response?.["signature"]);
  const client = decode(response?.["clientDataJSON"]);
  if (signed === null || data === null || signature === null || client === null) return null;
  const message = Buffer.concat([signed, hash("sha256", client, "buffer")]);
  if (!isSigned(knownCredential, message, signature)) return null;
  if (data.backupEligible !== (knownCredential.backupEligible ?? data.backupEligible)) return null;
  const isClone = (data.counter !== 0 || knownCredential.counter !== 0) && data.counter <= knownCredential.counter;
  return { counter: data.counter, verifiesUser: data.verifiesUser, isClone };
}

/** Returns the id of the credential that an answer belongs to. Returns null if it names none. */
export function readCredentialId(input: unknown): string | null {
  return readAnswer(input)?.id ?? null;
}

/** Returns the user handle of an assertion, in base64url. Returns null if it has none. */
export function readUserHandle(input: unknown): string | null {
  const handle: unknown = readAnswer(input)?.response["userHandle"];
  return typeof handle === "string" && handle !== "" ? handle : null;
}

const MAX_BYTES = 16_384;
const base64url = /^[\w-]*$/;

interface Answer {
  readonly id: string;
  readonly response: Readonly<Record<string, unknown>>;
}

function readAnswer(input: unknown): Answer | null {
  if (!isRecord(input)) return null;
  const { id, rawId, type, response } = input;
  if (typeof id !== "string" || id === "" || id.length > 1400 || !base64url.test(id)) return null;
  if (type !== "public-key" || (rawId !== undefined && rawId !== id) || !isRecord(response)) return null;
  return { id, response };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function decode(value: unknown): Buffer | null {
  if (typeof value !== "string" || value.length > MAX_BYTES || !base64url.test(value)) return null;
  return Buffer.from(value, "base64url");
}

/** Checks the data that the browser adds: the type, the challenge, and the origin of the page (§5.8.1). */
function isClientData(value: unknown, type: string, { challenge, isOrigin }: PasskeyExpectations): boolean {
  const bytes = decode(value);
  if (bytes === null) return false;
  let client: unknown;
  try {
    client = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return false;
  }
  if (!isRecord(client) || client["type"] !== type) return false;
  const { challenge: answered, origin, crossOrigin = false, topOrigin } = client;
  if (crossOrigin !== false) return false;
  return topOrigin === undefined && isSame(answered, challenge) && typeof origin === "string" && isOrigin(origin);
}

function isSame(one: unknown, other: string): boolean {
  if (typeof one !== "string") return false;
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Returns the authenticator data of an attestation object with the format `none` and an empty statement (§8.7). */
function readAttestation(bytes: Buffer | null): Buffer | null {
  const read = bytes === null ? null : readCBOR(bytes);
  if (read === null || read.length !== bytes!.length || !(read.value instanceof Map)) return null;
  const object = read.value as ReadonlyMap<number | string, CBORValue>;
  const statement = object.get("attStmt");
  const isNone = object.get("fmt") === "none" && statement instanceof Map && statement.size === 0;
  const data = object.get("authData");
  return isNone && object.size === 3 && Buffer.isBuffer(data) ? data : null;
}

interface AuthenticatorData {
  readonly counter: number;
  readonly verifiesUser: boolean;
  readonly backupEligible: boolean;
  readonly credential: { readonly id: Buffer; readonly key: Buffer } | null;
}

const HEAD_BYTES = 37;
const flag = { present: 1, verified: 4, backupEligible: 8, backedUp: 16, attested: 64, extensions: 128 } as const;

/** Reads authenticator data (§6.1). Returns null if the data is for another host, or if the person was not present. */
function readAuthenticatorData(bytes: Buffer, rpId: string): AuthenticatorData | null {
  if (bytes.length < HEAD_BYTES || !timingSafeEqual(bytes.subarray(0, 32), hash("sha256", rpId, "buffer"))) return null;
  const flags = bytes.readUInt8(32);
  const has = (name: keyof typeof flag): boolean => (flags & flag[name]) !== 0;
  if (!has("present") || (has("backedUp") && !has("backupEligible"))) return null;
  let rest = bytes.subarray(HEAD_BYTES);
  let credential: AuthenticatorData["credential"] = null;
  if (has("attested")) {
    if (rest.length < 18) return null;
    const length = rest.readUInt16BE(16);
    const id = rest.subarray(18, 18 + length);
    const key = readCBOR(rest.subarray(18 + length));
    if (id.length < length || length === 0 || length > 1023 || key === null) return null;
    credential = { id, key: rest.subarray(18 + length, 18 + length + key.length) };
    rest = rest.subarray(18 + length + key.length);
  }
  if (has("extensions")) {
    const extensions = readCBOR(rest);
    if (extensions === null || !(extensions.value instanceof Map)) return null;
    rest = rest.subarray(extensions.length);
  }
  if (rest.length > 0) return null;
  const counter = bytes.readUInt32BE(33);
  return { counter, verifiesUser: has("verified"), backupEligible: has("backupEligible"), credential };
}

/** Reads a COSE public key (RFC 9053) with one of the accepted algorithms. */
function readKey(bytes: Buffer): Pick<NewCredential, "publicKey" | "algorithm"> | null {
  const key = readCBOR(bytes)?.value;
  if (!(key instanceof Map)) return null;
  const cose = key as ReadonlyMap<number | string, CBORValue>;
  const algorithm = cose.get(3);
  const publicKey = typeof algorithm === "number" ? toJWK(algorithm, cose) : null;
  if (publicKey === null) return null;
  try {
    createPublicKey({ key: { ...publicKey }, format: "jwk" });
  } catch {
    return null;
  }
  return { publicKey, algorithm: algorithm as number };
}

function toJWK(algorithm: number, cose: ReadonlyMap<number | string, CBORValue>): PublicKeyJWK | null {
  const [kty, crv] = [cose.get(1), cose.get(-1)];
  const bytes = (label: number, length?: number): string | null => {
    const value = cose.get(label);
    return Buffer.isBuffer(value) && (length === undefined || value.length === length)
      ? value.toString("base64url")
      : null;
  };
  const [x, y] = [bytes(-2, 32), bytes(-3, 32)];
  if (algorithm === -7 && kty === 2 && crv === 1 && x !== null && y !== null) return { kty: "EC", crv: "P-256", x, y };
  if (algorithm === -8 && kty === 1 && crv === 6 && x !== null) return { kty: "OKP", crv: "Ed25519", x };
  const [n, e] = [bytes(-1), bytes(-2)];
  if (algorithm !== -257 || kty !== 3 || n === null || e === null) return null;
  const modulus = Buffer.from(n, "base64url").length;
  return modulus >= 256 && modulus <= 512 ? { kty: "RSA", n, e } : null;
}

function isSigned({ publicKey, algorithm }: KnownCredential, message: Buffer, signature: Buffer): boolean {
  const key = createPublicKey({ key: { ...publicKey }, format: "jwk" });
  try {
    return verify(algorithm === -8 ? null : "sha256", message, key, signature);
  } catch {
    return false;
  }
}
