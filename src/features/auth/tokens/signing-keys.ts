import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { isObject, text as filePath } from "../../../core/checking/members.ts";
import { requireArguments } from "../../../core/checking/options.ts";
import { made } from "../../../core/copy.ts";
import { aSecret, digest, type Secret } from "../../../core/crypto/secret.ts";
import { parseJSON } from "../../../core/exact-numbers.ts";

/** The signature algorithms of access tokens (RFC 8037, RFC 7518 §3.4). */
export type SigningAlgorithm = "EdDSA" | "ES256";

/** The published part of a key (RFC 7517). */
export interface PublicJWK {
  readonly kty: string;
  readonly crv: string;
  readonly x: string;
  readonly y?: string;
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  readonly use: "sig";
}

/** A key that verifies access tokens. */
export interface VerifyingKey {
  /** The `kid` in the key file. Without one, the RFC 7638 thumbprint. So a key has the same name in every process. */
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  readonly publicKey: KeyObject;
  readonly jwk: PublicJWK;
}

/** A key that signs access tokens. */
export interface SigningKey extends VerifyingKey {
  readonly privateKey: KeyObject;
}

/** A key with its thumbprint. */
type KeyWithThumbprint<K extends VerifyingKey> = K & { readonly thumbprint: string };
type ReadKey = KeyWithThumbprint<VerifyingKey> | KeyWithThumbprint<SigningKey>;

/** The keys of a server: one signs, all verify. */
export interface SigningKeys {
  readonly signing: SigningKey;
  /** Returns the key with that name or thumbprint, or null if there is none. */
  find(kid: string): VerifyingKey | null;
  /**
   * A number that changes when the keys change. Tokens that were verified with earlier keys must then be verified
   * again.
   */
  readonly version: number;
  /** Returns the JWK Set of `/.well-known/jwks.json`: only the public parts. */
  jwks(): { readonly keys: readonly PublicJWK[] };
}

/** Thrown if the signing keys cannot be used. Each problem says how to fix it. */
export class SigningKeysError extends Error {
  static {
    made(this.prototype);
  }

  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.name = "SigningKeysError";
    this.problems = problems;
  }
}

/** The longest name of a key, because every token contains it. */
const MAX_KID_CHARACTERS = 200;

// The PKCS #8 prefix of an Ed25519 key, before its 32 bytes of seed (RFC 8410 §7).
const ed25519Prefix = Buffer.from("302e020100300506032b657004220420", "hex");

/**
 * Returns the keys of a server without a key file. One Ed25519 key is derived from the current secret, and one from
 * each older secret. They are the same in every process.
 */
export function derivedSigningKeys(secret: Secret): SigningKeys {
  requireArguments("derivedSigningKeys", arguments, { secret: aSecret });
  const keys = secret.deriveEach("signing-key:eddsa").map((seed) => {
    const privateKey = createPrivateKey({ key: Buffer.concat([ed25519Prefix, seed]), format: "der", type: "pkcs8" });
    return { ...verifyingKey(createPublicKey(privateKey), "EdDSA"), privateKey };
  });
  return createSigningKeys(keys);
}

/**
 * Reads the keys of a JWK Set file: the first private key signs, all verify. Throws `SigningKeysError` if the file
 * cannot be used.
 */
export function readSigningKeys(path: string): SigningKeys {
  requireArguments("readSigningKeys", arguments, { path: filePath });
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    throw new SigningKeysError([
      `The signing keys ${path} cannot be read (${reason}). Name a JWK Set file that this process may read.`,
    ]);
  }
  return parseSigningKeys(text, path);
}

/**
 * Parses the keys of a JWK Set (RFC 7517 §5). `source` names it in messages. Throws `SigningKeysError` with all
 * mistakes.
 */
export function parseSigningKeys(text: string, source: string): SigningKeys {
  const entries = parseKeySet(text);
  if (entries === null)
    throw new SigningKeysError([
      `${source} is not a JWK Set. Write {"keys": [ … ]} with the private key that signs first.`,
    ]);
  const problems: string[] = [];
  const keys: ReadKey[] = [];
  entries.forEach((entry, index) => {
    const key = readKey(entry);
    if (typeof key === "string") problems.push(`Key ${index + 1} of ${source} ${key}`);
    else {
      const same = keys.findIndex(({ kid, thumbprint }) => kid === key.kid && thumbprint !== key.thumbprint);
      if (same >= 0)
        problems.push(
          `Key ${index + 1} of ${source} has the kid of key ${same + 1}. Give each key a different kid, or none.`,
        );
      keys.push(key);
    }
  });
  if (problems.length === 0 && !keys.some((key) => "privateKey" in key)) {
    problems.push(
      `${source} contains no private key, so it cannot sign. Put the private key that signs (with its member "d") first.`,
    );
  }
  if (problems.length > 0) throw new SigningKeysError(problems);
  return createSigningKeys(keys);
}

function createSigningKeys(keys: readonly ReadKey[]): SigningKeys {
  const signing = keys.find((key): key is KeyWithThumbprint<SigningKey> => "privateKey" in key)!;
  const byKid = new Map<string, VerifyingKey>(keys.map((key) => [key.kid, key]));
  const byThumbprint = new Map<string, VerifyingKey>(keys.map((key) => [key.thumbprint, key]));
  const published = { keys: [...byKid.values()].map((key) => key.jwk) };
  // Also finds a key by its thumbprint, so that tokens from before the key had a `kid` stay valid.
  const find = (kid: string) => byKid.get(kid) ?? byThumbprint.get(kid) ?? null;
  return { signing, version: 0, find, jwks: () => published };
}

/** Returns the unchecked entries of a JWK Set, or null if it is not one. */
export function parseKeySet(text: string): readonly unknown[] | null {
  try {
    const set: unknown = parseJSON(text);
    return isObject(set) && Array.isArray(set["keys"]) ? set["keys"] : null;
  } catch {
    return null;
  }
}

/** Returns the key, or its mistake and how to fix it. */
function readKey(entry: unknown): ReadKey | string {
  if (!isObject(entry)) return "is not a JSON object. Remove it or replace it by a JWK.";
  const alg = findAlgorithm(entry);
  // Every service that verifies with a symmetric key could also sign with it. RSA has no advantage here.
  if (alg === null)
    return `is of kty ${shown(entry["kty"])}, crv ${shown(entry["crv"])}: only OKP/Ed25519 (EdDSA) and EC/P-256 (ES256) sign here. Make one of those.`;
  if (entry["alg"] !== undefined && entry["alg"] !== alg)
    return `says alg ${shown(entry["alg"])} and its curve is for ${alg}. Correct alg or leave it out.`;
  if (entry["use"] !== undefined && entry["use"] !== "sig")
    return `says use ${shown(entry["use"])}. A key that signs has "use": "sig" or none.`;
  const { kid } = entry;
  if (kid !== undefined && (typeof kid !== "string" || kid === "" || kid.length > MAX_KID_CHARACTERS))
    return `has a kid that is not a text of 1 to ${MAX_KID_CHARACTERS} characters. Correct it or leave it out.`;
  try {
    if (entry["d"] === undefined) return verifyingKey(createPublicKey({ key: entry, format: "jwk" }), alg, kid);
    const privateKey = createPrivateKey({ key: entry, format: "jwk" });
    return { ...verifyingKey(createPublicKey(privateKey), alg, kid), privateKey };
  } catch {
    return "cannot be read: x, y or d is not base64url of the right length, or they do not belong together. Create the key again.";
  }
}

function findAlgorithm(jwk: Readonly<Record<string, unknown>>): SigningAlgorithm | null {
  if (jwk["kty"] === "OKP" && jwk["crv"] === "Ed25519") return "EdDSA";
  if (jwk["kty"] === "EC" && jwk["crv"] === "P-256") return "ES256";
  return null;
}

function verifyingKey(publicKey: KeyObject, alg: SigningAlgorithm, named?: string): KeyWithThumbprint<VerifyingKey> {
  const { kty = "", crv = "", x = "", y = "" } = publicKey.export({ format: "jwk" });
  // Only the required members, sorted by name, without white space (RFC 7638 §3).
  const members = alg === "ES256" ? { crv, kty, x, y } : { crv, kty, x };
  const thumbprint = digest(JSON.stringify(members)).toString("base64url");
  const kid = named ?? thumbprint;
  return { kid, thumbprint, alg, publicKey, jwk: { ...members, kid, alg, use: "sig" } };
}

function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, 20)) : "(none)";
}
