import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts small values that must be readable later, under the server's secret. */
export interface Sealing {
  /** Encrypts bytes. `about` names the thing that they belong to. `open` needs the same name. */
  seal(bytes: Uint8Array, about: string): string;
  /** Returns the bytes. Returns null if the text was not sealed for `about` under this secret or an older one. */
  open(text: string, about: string): Buffer | null;
}

/**
 * Encrypts with AES-256-GCM. `keys` are derived from the server's secrets for one purpose: `seal` uses the first one,
 * `open` tries all.
 */
export function makeSealing(keys: readonly Buffer[]): Sealing {
  return {
    seal(bytes, about) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, keys[0]!, nonce).setAAD(Buffer.from(about));
      const sealed = Buffer.concat([nonce, cipher.update(bytes), cipher.final()]);
      return Buffer.concat([sealed, cipher.getAuthTag()]).toString("base64url");
    },
    open(text, about) {
      const sealed = Buffer.from(text, "base64url");
      if (sealed.length < NONCE_BYTES + TAG_BYTES) return null;
      for (const key of keys) {
        const opened = open(key, sealed, about);
        if (opened !== null) return opened;
      }
      return null;
    },
  };
}

function open(key: Buffer, sealed: Buffer, about: string): Buffer | null {
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(about))
    .setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch {
    return null;
  }
}
