import { hash, timingSafeEqual } from "node:crypto";
import { isObject } from "../../../core/checking/members.ts";
import { parseJSON } from "../../../core/exact-numbers.ts";
import type { PasskeyRefusal } from "../../../core/observation.ts";
import { readCBOR, type CBORValue } from "./cbor.ts";
import { isSigned, readKey, type PasskeyKey } from "./cose.ts";

// Registration (§7.1) and assertion (§7.2) of Web Authentication Level 3, for the attestation format `none`, and for
// the self attestation that clients pass on (§5.1.3).

/** The values that a relying party expects in an answer. */
export interface PasskeyExpectations {
  /** In base64url without padding. */
  readonly challenge: string;
  /** The host that passkeys are bound to. */
  readonly rpId: string;
  isOrigin(origin: string): boolean;
  /** Receives the reason of a refusal, for the operator. The caller does not learn it. */
  refused?(reason: PasskeyRefusal): void;
}

/** A credential that an authenticator has made. */
export interface NewCredential extends PasskeyKey {
  /** In base64url without padding. */
  readonly id: string;
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
  /**
   * True if the signature counter went back: the passkey may be a copy. Both counters are 0 if the authenticator does
   * not count.
   */
  readonly isClone: boolean;
}

/** Checks a `RegistrationResponseJSON`. Returns null if anything is wrong. */
export function readRegistration(input: unknown, expected: PasskeyExpectations): NewCredential | null {
  return orRefused(expected, () => {
    const { id, response } = requireAnswer(input);
    const client = requireClientData(response["clientDataJSON"], "webauthn.create", expected);
    const attested = requireAttestation(decode(response["attestationObject"]));
    const data = requireAuthenticatorData(attested.data, expected.rpId);
    if (data.credential === null || data.credential.id.toString("base64url") !== id) throw new Refused("malformed");
    const key = readKey(data.credential.key);
    if (key === null) throw new Refused("key");
    requireOwnSignature(attested, key, client);
    const { transports } = response;
    return {
      id,
      ...key,
      counter: data.counter,
      verifiesUser: data.verifiesUser,
      backupEligible: data.backupEligible,
      transports: Array.isArray(transports) ? transports.filter((each) => typeof each === "string").slice(0, 8) : [],
    };
  });
}

/** Checks an `AuthenticationResponseJSON`. Returns null if anything is wrong. */
export function readAssertion(
  input: unknown,
  knownCredential: KnownCredential,
  expected: PasskeyExpectations,
): Asserted | null {
  return orRefused(expected, () => {
    const { id, response } = requireAnswer(input);
    if (id !== knownCredential.id) throw new Refused("unknown");
    const client = requireClientData(response["clientDataJSON"], "webauthn.get", expected);
    const { userHandle: handle } = response;
    if (typeof handle === "string" && handle !== "" && handle !== knownCredential.userHandle)
      throw new Refused("user_handle");
    const signed = decode(response["authenticatorData"]);
    const signature = decode(response["signature"]);
    if (signed === null || signature === null) throw new Refused("malformed");
    const data = requireAuthenticatorData(signed, expected.rpId);
    if (!isSigned(knownCredential, Buffer.concat([signed, hash("sha256", client, "buffer")]), signature))
      throw new Refused("signature");
    if (data.backupEligible !== (knownCredential.backupEligible ?? data.backupEligible))
      throw new Refused("backup_eligibility");
    const isClone = (data.counter !== 0 || knownCredential.counter !== 0) && data.counter <= knownCredential.counter;
    return { counter: data.counter, verifiesUser: data.verifiesUser, isClone };
  });
}

/** An answer that is refused. It never leaves this file. */
class Refused extends Error {
  readonly reason: PasskeyRefusal;

  constructor(reason: PasskeyRefusal) {
    super(reason);
    this.reason = reason;
  }
}

function orRefused<T>({ refused }: PasskeyExpectations, read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    refused?.(error.reason);
    return null;
  }
}

function requireAnswer(input: unknown): Answer {
  const answer = readAnswer(input);
  if (answer === null) throw new Refused("malformed");
  return answer;
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
  if (!isObject(input)) return null;
  const { id, rawId, type, response } = input;
  if (typeof id !== "string" || id === "" || id.length > 1400 || !base64url.test(id)) return null;
  if (type !== "public-key" || (rawId !== undefined && rawId !== id) || !isObject(response)) return null;
  return { id, response };
}

function decode(value: unknown): Buffer | null {
  if (typeof value !== "string" || value.length > MAX_BYTES || !base64url.test(value)) return null;
  return Buffer.from(value, "base64url");
}

/**
 * Checks the data that the browser adds: the type, the challenge, and the origin of the page (§5.8.1). Returns its
 * bytes.
 */
function requireClientData(value: unknown, type: string, { challenge, isOrigin }: PasskeyExpectations): Buffer {
  const bytes = decode(value);
  const client = bytes === null ? null : parseClientData(bytes);
  if (bytes === null || !isObject(client)) throw new Refused("malformed");
  if (client["type"] !== type) throw new Refused("type");
  const { challenge: answered, origin, crossOrigin = false, topOrigin } = client;
  if (crossOrigin !== false || topOrigin !== undefined) throw new Refused("cross_origin");
  if (!isSame(answered, challenge)) throw new Refused("challenge");
  if (typeof origin !== "string" || !isOrigin(origin)) throw new Refused("origin");
  return bytes;
}

function parseClientData(bytes: Buffer): unknown {
  try {
    return parseJSON(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
}

function isSame(one: unknown, other: string): boolean {
  if (typeof one !== "string") return false;
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/**
 * The authenticator data of a new passkey. Its statement is empty (`none`, §8.7) or the passkey's own signature
 * (`packed`, §8.2).
 */
interface Attested {
  readonly data: Buffer;
  readonly self: { readonly algorithm: CBORValue | undefined; readonly signature: Buffer } | null;
}

function requireAttestation(bytes: Buffer | null): Attested {
  const read = bytes === null ? null : readCBOR(bytes);
  if (read === null || read.length !== bytes!.length || !(read.value instanceof Map)) throw new Refused("malformed");
  const object = read.value as ReadonlyMap<number | string, CBORValue>;
  const found = object.get("attStmt");
  const data = object.get("authData");
  if (object.size !== 3 || !(found instanceof Map) || !Buffer.isBuffer(data)) throw new Refused("malformed");
  const statement = found as ReadonlyMap<number | string, CBORValue>;
  if (object.get("fmt") === "none" && statement.size === 0) return { data, self: null };
  const signature = statement.get("sig");
  // Any other member, like the certificates in `x5c`, is an attestation of a manufacturer, which was not requested.
  if (object.get("fmt") !== "packed" || statement.size !== 2 || !Buffer.isBuffer(signature))
    throw new Refused("attestation");
  return { data, self: { algorithm: statement.get("alg"), signature } };
}

/**
 * Checks a self attestation: the algorithm of the passkey, and its signature of the authenticator data and the client
 * data (§8.2).
 */
function requireOwnSignature({ data, self }: Attested, key: PasskeyKey, client: Buffer): void {
  if (self === null) return;
  const message = Buffer.concat([data, hash("sha256", client, "buffer")]);
  if (self.algorithm !== key.algorithm || !isSigned(key, message, self.signature)) throw new Refused("attestation");
}

interface AuthenticatorData {
  readonly counter: number;
  readonly verifiesUser: boolean;
  readonly backupEligible: boolean;
  readonly credential: { readonly id: Buffer; readonly key: Buffer } | null;
}

const HEAD_BYTES = 37;
const flag = { present: 1, verified: 4, backupEligible: 8, backedUp: 16, attested: 64, extensions: 128 } as const;

/** Reads authenticator data (§6.1). Refuses data for another host, and data without a present person. */
function requireAuthenticatorData(bytes: Buffer, rpId: string): AuthenticatorData {
  if (bytes.length < HEAD_BYTES) throw new Refused("malformed");
  if (!timingSafeEqual(bytes.subarray(0, 32), hash("sha256", rpId, "buffer"))) throw new Refused("rp_id");
  const flags = bytes.readUInt8(32);
  const has = (name: keyof typeof flag): boolean => (flags & flag[name]) !== 0;
  if (!has("present")) throw new Refused("not_present");
  if (has("backedUp") && !has("backupEligible")) throw new Refused("backup_eligibility");
  let rest = bytes.subarray(HEAD_BYTES);
  let credential: AuthenticatorData["credential"] = null;
  if (has("attested")) {
    if (rest.length < 18) throw new Refused("malformed");
    const length = rest.readUInt16BE(16);
    const id = rest.subarray(18, 18 + length);
    const key = readCBOR(rest.subarray(18 + length));
    if (id.length < length || length === 0 || length > 1023 || key === null) throw new Refused("malformed");
    credential = { id, key: rest.subarray(18 + length, 18 + length + key.length) };
    rest = rest.subarray(18 + length + key.length);
  }
  if (has("extensions")) {
    const extensions = readCBOR(rest);
    if (extensions === null || !(extensions.value instanceof Map)) throw new Refused("malformed");
    rest = rest.subarray(extensions.length);
  }
  if (rest.length > 0) throw new Refused("malformed");
  const counter = bytes.readUInt32BE(33);
  return { counter, verifiesUser: has("verified"), backupEligible: has("backupEligible"), credential };
}
