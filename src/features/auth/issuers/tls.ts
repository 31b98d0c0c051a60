import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { request } from "node:https";
import { Readable } from "node:stream";
import { createSecureContext } from "node:tls";
import type { FetchKeys } from "./fetch.ts";

/** PEM files for the connection to an issuer: the authorities to trust, and the client certificate. */
export interface IssuerTLSFiles {
  /** The authorities that may sign the issuer's certificate. They replace the public ones. */
  readonly ca?: string;
  /** The client certificate that the issuer asks for, followed by its chain. */
  readonly cert?: string;
  /** The private key of that certificate. */
  readonly key?: string;
}

/** The mistake in each file, under the member that names the file (`ca`, `cert` or `key`). */
export type IssuerTLSProblems = Readonly<Partial<Record<keyof IssuerTLSFiles, string>>>;

/** Returns the mistakes in the present files. The object is empty if the files can be used. */
export function findTLSProblems(files: Readonly<Record<string, unknown>>): IssuerTLSProblems {
  const { ca, cert, key } = files;
  const problems = {
    ...wrongFile("ca", ca, readCertificates),
    ...wrongFile("cert", cert, readCertificates),
    ...(typeof key === "string" ? openToOthers(key) : {}),
    ...wrongFile("key", key, createPrivateKey),
    ...(key === undefined && cert !== undefined ? { key: "is missing. Name the private key of cert." } : {}),
    ...(cert === undefined && key !== undefined ? { cert: "is missing. Name the certificate of key." } : {}),
  };
  if (Object.keys(problems).length > 0 || cert === undefined) return problems;
  try {
    createSecureContext(readFiles(files));
    return {};
  } catch {
    return { key: `is ${JSON.stringify(key)}, which is not the key of cert. Name the one that cert was made for.` };
  }
}

/**
 * Returns a network function that trusts these authorities and presents this certificate. Reads the files again for
 * each request, because certificates are renewed.
 */
export function fetchOver(files: IssuerTLSFiles): FetchKeys {
  return async (url, { signal, headers }) => {
    const read = readFiles(files);
    return new Promise((resolve, reject) => {
      // Uses no agent, so that no connection stays open for the ten minutes until the next request.
      const clientRequest = request(url, { ...read, agent: false, signal, headers }, (answer) => {
        const { statusCode = 0 } = answer;
        if (statusCode === 200) return resolve(new Response(Readable.toWeb(answer) as ReadableStream<Uint8Array>));
        answer.on("error", () => undefined).destroy();
        resolve(Object.defineProperty(Response.error(), "status", { value: statusCode }));
      });
      // The listener stays until the request ends. If an error occurs after the response has started, the body reports
      // it.
      clientRequest.on("error", reject).end();
    });
  };
}

function readFiles({ ca, cert, key }: IssuerTLSFiles): {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
} {
  return {
    ...(ca === undefined ? {} : { ca: readFileSync(ca) }),
    ...(cert === undefined ? {} : { cert: readFileSync(cert) }),
    ...(key === undefined ? {} : { key: readFileSync(key) }),
  };
}

function wrongFile(member: keyof IssuerTLSFiles, file: unknown, check: (text: string) => unknown): IssuerTLSProblems {
  if (file === undefined) return {};
  const shown = JSON.stringify(file);
  if (typeof file !== "string" || file === "") return { [member]: `is ${shown}. Write the path of a PEM file.` };
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    return { [member]: `is ${shown}, which cannot be read (${code}). Name a file that this process may read.` };
  }
  try {
    check(text);
    return {};
  } catch {
    const what = member === "key" ? "a private key without a passphrase" : "certificates";
    return { [member]: `is ${shown}, which does not hold ${what} in PEM (-----BEGIN …).` };
  }
}

/**
 * Throws if a certificate cannot be read. OpenSSL would skip it, so a trusted authority could be missing without a
 * message.
 */
function readCertificates(text: string): void {
  const found = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (found.length === 0) throw new TypeError("no certificate");
  for (const each of found) requireCertificate(each);
}

/**
 * Returns the mistake if other users of the machine may read the file. Skips Windows, whose files have no such modes.
 */
function openToOthers(file: string): IssuerTLSProblems {
  const mode = (statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o777;
  if ((mode & 0o077) === 0 || process.platform === "win32") return {};
  return {
    key: `is ${JSON.stringify(file)}, which is open to others (mode 0${mode.toString(8)}). Close it with chmod 600.`,
  };
}

function requireCertificate(text: string): X509Certificate {
  return new X509Certificate(text);
}
