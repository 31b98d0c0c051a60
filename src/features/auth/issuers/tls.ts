import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { request } from "node:https";
import { Readable } from "node:stream";
import { createSecureContext } from "node:tls";
import type { FetchKeys } from "./fetch.ts";

/** PEM files that say whom a connection to an issuer trusts, and as whom it comes. */
export interface IssuerTLSFiles {
  /** The authorities that its certificate may come from, in place of the public ones. */
  readonly ca?: string;
  /** The client certificate that it asks for, its chain behind it. */
  readonly cert?: string;
  /** The private key of that certificate. */
  readonly key?: string;
}

/** What is wrong with the files, by the member that names it. */
export type IssuerTLSProblems = Readonly<Partial<Record<keyof IssuerTLSFiles, string>>>;

/** What is wrong with the files as they are now; empty where they can be used. */
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

/** A network that trusts these authorities and shows this certificate. The files are read anew each time, since certificates are renewed. */
export function fetchOver(files: IssuerTLSFiles): FetchKeys {
  return async (url, { signal, headers }) => {
    const read = readFiles(files);
    return new Promise((resolve, reject) => {
      // No agent: nothing is kept open for the ten minutes until the next time.
      const asked = request(url, { ...read, agent: false, signal, headers }, (answer) => {
        const { statusCode = 0 } = answer;
        if (statusCode === 200) return resolve(new Response(Readable.toWeb(answer) as ReadableStream<Uint8Array>));
        answer.on("error", () => undefined).destroy();
        resolve(Object.defineProperty(Response.error(), "status", { value: statusCode }));
      });
      // For as long as it lives: what fails after the answer has begun is told by its body.
      asked.on("error", reject).end();
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

/** OpenSSL passes over what is no certificate; a list with one that cannot be read must not be taken for a shorter one. */
function readCertificates(text: string): void {
  const found = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (found.length === 0) throw new TypeError("no certificate");
  for (const each of found) requireCertificate(each);
}

/** Windows has no such modes, and Node makes some up. */
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
