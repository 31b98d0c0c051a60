import { createPublicKey, verify } from "node:crypto";
import { readCBOR, type CBORValue } from "./cbor.ts";

/** The accepted signature algorithms, by their COSE numbers: EdDSA, ES256, RS256. */
export const algorithms = [-8, -7, -257] as const;

/** A public key as JSON (RFC 7517). */
export type PublicKeyJWK = {
  readonly kty: "EC" | "OKP" | "RSA";
  readonly crv?: string;
  readonly x?: string;
  readonly y?: string;
  readonly n?: string;
  readonly e?: string;
};

/** A public key of a passkey, with the COSE number of its algorithm. */
export interface PasskeyKey {
  readonly publicKey: PublicKeyJWK;
  readonly algorithm: number;
}

/** Reads a COSE public key (RFC 9053) with one of the accepted algorithms. Returns null for any other one. */
export function readKey(bytes: Buffer): PasskeyKey | null {
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

/** True if the key has signed the message. */
export function isSigned({ publicKey, algorithm }: PasskeyKey, message: Buffer, signature: Buffer): boolean {
  const key = createPublicKey({ key: { ...publicKey }, format: "jwk" });
  try {
    return verify(algorithm === -8 ? null : "sha256", message, key, signature);
  } catch {
    return false;
  }
}
