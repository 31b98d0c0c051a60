import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from "node:crypto";

/** The changes that a test makes to a correct response of the authenticator. */
export interface Twist {
  readonly origin?: string;
  readonly rpId?: string;
  readonly type?: string;
  readonly challenge?: string;
  readonly crossOrigin?: boolean;
  readonly topOrigin?: string;
  /** Flags of the authenticator data, instead of present, verified and attested. */
  readonly flags?: number;
  readonly counter?: number;
  readonly fmt?: string;
  readonly attStmt?: ReadonlyMap<string, unknown>;
  /**
   * Adds a self attestation (`packed`) to a new passkey: its algorithm, and the key that signs it. Default of both:
   * those of the passkey.
   */
  readonly self?: { readonly alg?: unknown; readonly key?: KeyObject; readonly more?: ReadonlyMap<string, unknown> };
  readonly userHandle?: string | null;
  readonly signWith?: KeyObject;
  readonly id?: string;
  /** Bytes after the authenticator data. */
  readonly more?: Buffer;
  readonly algorithm?: number;
  /** Changes the client data before it is hashed. */
  readonly client?: (text: string) => string | Buffer;
  /** Changes the authenticator data before it is signed. */
  readonly data?: (bytes: Buffer) => Buffer;
  /** Replaces the COSE key of a new passkey. */
  readonly key?: ReadonlyMap<number, unknown>;
}

/** A software authenticator. It creates passkeys and responds with them, in the form that a browser sends. */
export interface Authenticator {
  register(options: CreationOptions, twist?: Twist): Record<string, unknown>;
  assert(options: RequestOptions, twist?: Twist): Record<string, unknown>;
  readonly privateKey: KeyObject;
}

interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
}

interface RequestOptions {
  readonly challenge: string;
  readonly rpId: string;
}

const kinds = { ES256: -7, EdDSA: -8, RS256: -257 } as const;

/** Creates an authenticator with one passkey of an algorithm. */
export function makeAuthenticator(origin: string, algorithm: keyof typeof kinds = "ES256"): Authenticator {
  const { privateKey, publicKey } = makeKeys(algorithm);
  const id = randomBytes(32).toString("base64url");
  let [counter, userHandle] = [0, ""];

  const clientData = (type: string, challenge: string, twist: Twist): Buffer => {
    const text = JSON.stringify({
      type: twist.type ?? type,
      challenge: twist.challenge ?? challenge,
      origin: twist.origin ?? origin,
      crossOrigin: twist.crossOrigin ?? false,
      ...(twist.topOrigin === undefined ? {} : { topOrigin: twist.topOrigin }),
    });
    return Buffer.from(twist.client?.(text) ?? text);
  };

  const head = (rpId: string, flags: number, twist: Twist): Buffer => {
    const bytes = Buffer.alloc(37);
    createHash("sha256")
      .update(twist.rpId ?? rpId)
      .digest()
      .copy(bytes);
    bytes.writeUInt8(twist.flags ?? flags, 32);
    bytes.writeUInt32BE(twist.counter ?? ++counter, 33);
    return bytes;
  };

  return {
    privateKey,
    register({ challenge, rp, user }, twist = {}) {
      userHandle = user.id;
      const credentialId = Buffer.from(id, "base64url");
      const length = Buffer.alloc(2);
      length.writeUInt16BE(credentialId.length);
      const key = writeCBOR(twist.key ?? toCOSEKey(publicKey, twist.algorithm ?? kinds[algorithm]));
      const more = twist.more ?? Buffer.alloc(0);
      const whole = Buffer.concat([head(rp.id, 0x45, twist), Buffer.alloc(16), length, credentialId, key, more]);
      const authData = twist.data?.(whole) ?? whole;
      const client = clientData("webauthn.create", challenge, twist);
      const message = Buffer.concat([authData, createHash("sha256").update(client).digest()]);
      const attestKey = twist.self?.key ?? privateKey;
      const hash = attestKey.asymmetricKeyType === "ed25519" ? null : "sha256";
      const self = new Map<string, unknown>([
        ["alg", twist.self?.alg ?? kinds[algorithm]],
        ["sig", sign(hash, message, attestKey)],
        ...(twist.self?.more ?? []),
      ]);
      const object = new Map<string, unknown>([
        ["fmt", twist.fmt ?? (twist.self === undefined ? "none" : "packed")],
        ["attStmt", twist.attStmt ?? (twist.self === undefined ? new Map() : self)],
        ["authData", authData],
      ]);
      return {
        id: twist.id ?? id,
        rawId: twist.id ?? id,
        type: "public-key",
        response: {
          clientDataJSON: client.toString("base64url"),
          attestationObject: writeCBOR(object).toString("base64url"),
          transports: ["internal"],
        },
        clientExtensionResults: {},
      };
    },
    assert({ challenge, rpId }, twist = {}) {
      const client = clientData("webauthn.get", challenge, twist);
      const whole = Buffer.concat([head(rpId, 0x05, twist), twist.more ?? Buffer.alloc(0)]);
      const data = twist.data?.(whole) ?? whole;
      const message = Buffer.concat([data, createHash("sha256").update(client).digest()]);
      const signature = sign(algorithm === "EdDSA" ? null : "sha256", message, twist.signWith ?? privateKey);
      const handle = twist.userHandle === undefined ? userHandle : twist.userHandle;
      return {
        id: twist.id ?? id,
        rawId: twist.id ?? id,
        type: "public-key",
        response: {
          clientDataJSON: client.toString("base64url"),
          authenticatorData: data.toString("base64url"),
          signature: signature.toString("base64url"),
          ...(handle === null ? {} : { userHandle: handle }),
        },
        clientExtensionResults: {},
      };
    },
  };
}

function makeKeys(algorithm: keyof typeof kinds) {
  if (algorithm === "EdDSA") return generateKeyPairSync("ed25519");
  if (algorithm === "RS256") return generateKeyPairSync("rsa", { modulusLength: 2048 });
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

/** Returns the COSE key of a public key (RFC 9053). */
export function toCOSEKey(publicKey: KeyObject, algorithm: number): ReadonlyMap<number, unknown> {
  const { kty, x, y, n, e } = publicKey.export({ format: "jwk" });
  const bytes = (text: string | undefined): Buffer => Buffer.from(text!, "base64url");
  if (kty === "RSA")
    return new Map<number, unknown>([
      [1, 3],
      [3, algorithm],
      [-1, bytes(n)],
      [-2, bytes(e)],
    ]);
  if (kty === "OKP")
    return new Map<number, unknown>([
      [1, 1],
      [3, algorithm],
      [-1, 6],
      [-2, bytes(x)],
    ]);
  return new Map<number, unknown>([
    [1, 2],
    [3, algorithm],
    [-1, 1],
    [-2, bytes(x)],
    [-3, bytes(y)],
  ]);
}

/** Encodes a value in CBOR. */
export function writeCBOR(value: unknown): Buffer {
  if (typeof value === "boolean") return Buffer.from([value ? 0xf5 : 0xf4]);
  if (typeof value === "number") return value >= 0 ? writeCBORHead(0, value) : writeCBORHead(1, -1 - value);
  if (typeof value === "string") return Buffer.concat([writeCBORHead(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([writeCBORHead(2, value.length), value]);
  if (Array.isArray(value)) return Buffer.concat([writeCBORHead(4, value.length), ...value.map(writeCBOR)]);
  const entries = [...(value as ReadonlyMap<unknown, unknown>)];
  return Buffer.concat([writeCBORHead(5, entries.length), ...entries.flatMap((entry) => entry.map(writeCBOR))]);
}

function writeCBORHead(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length]);
  if (length < 256) return Buffer.from([(major << 5) | 24, length]);
  const bytes = Buffer.alloc(3);
  bytes.writeUInt8((major << 5) | 25);
  bytes.writeUInt16BE(length, 1);
  return bytes;
}
