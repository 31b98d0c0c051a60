import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { readErrorCode, ConfigError } from "./error.ts";
import { checkKeyIsClosed } from "./open-key.ts";
import type { Readings } from "./reading.ts";

/** The paths of the certificate and the key. */
export interface TLSFiles {
  readonly cert: string;
  readonly key: string;
}

/** A certificate and its key as PEM, and their files. */
export interface TLS {
  readonly cert: string;
  readonly key: string;
  readonly files: TLSFiles;
}

/**
 * Reads the certificate and the key for HTTPS, as PEM. Returns null if HTTPS is off or a file is wrong. Adds mistakes
 * to `problems`.
 */
export function readTLS({ tlsCert, tlsKey }: Pick<Readings, "tlsCert" | "tlsKey">, problems: string[]): TLS | null {
  const [presentSetting, missing] = tlsCert.from === null ? [tlsKey, tlsCert] : [tlsCert, tlsKey];
  if (presentSetting.from === null) return null;
  if (missing.from === null)
    problems.push(`${presentSetting.label} is set without ${missing.label}. Set both, or neither.`);
  const cert = readPEM(tlsCert, requireCertificate, problems);
  problems.push(...checkKeyIsClosed(tlsKey));
  const key = readPEM(tlsKey, createPrivateKey, problems);
  if (cert === null || key === null) return null;
  const mismatch = findMismatch(cert, key);
  if (mismatch !== null) problems.push(`${tlsKey.label} and ${tlsCert.label} do not work together: ${mismatch}`);
  return { cert, key, files: { cert: tlsCert.value!, key: tlsKey.value! } };
}

/** Reads the certificate and the key of a running service again. Throws `ConfigError` with every mistake. */
export function readTLSFiles({ cert, key }: TLSFiles): TLS {
  const problems: string[] = [];
  const reading = (label: string, value: string) => ({ label, value, from: "environment", isWrong: false }) as const;
  const tls = readTLS(
    { tlsCert: reading("LATCHKEY_TLS_CERT", cert), tlsKey: reading("LATCHKEY_TLS_KEY", key) },
    problems,
  );
  if (tls === null || problems.length > 0) throw new ConfigError(problems);
  return tls;
}

function readPEM(file: Readings["tlsCert"], check: (text: string) => unknown, problems: string[]): string | null {
  if (file.value === null) return null;
  let text: string;
  try {
    text = readFileSync(file.value, "utf8");
  } catch (error) {
    problems.push(
      `${file.label}: ${file.value} cannot be read (${readErrorCode(error)}). Name a file that this process may read.`,
    );
    return null;
  }
  try {
    check(text);
    return text;
  } catch {
    // Searches the text, because OpenSSL's code for a missing passphrase differs between versions.
    const cure = text.includes("ENCRYPTED")
      ? "is locked with a passphrase. Store it without one: openssl pkey -in KEY -out UNLOCKED"
      : "has the wrong content. Give the certificate and its private key in PEM (-----BEGIN …).";
    problems.push(`${file.label}: ${file.value} ${cure}`);
    return null;
  }
}

function requireCertificate(text: string): X509Certificate {
  // A certificate may also be DER, but only PEM can be served.
  if (!text.includes("-----BEGIN ")) throw new TypeError("not PEM");
  return new X509Certificate(text);
}

function findMismatch(cert: string, key: string): string | null {
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    return "the key is not the certificate's. Give the key that the certificate was made for.";
  }
  try {
    createSecureContext({ cert, key });
    return null;
  } catch (error) {
    return `OpenSSL refuses them (${readErrorCode(error)}). Check the chain, and that the key is long enough.`;
  }
}
