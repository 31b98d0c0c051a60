import { X509Certificate } from "node:crypto";
import { statSync } from "node:fs";
import type { Observer } from "../../door/ops.ts";
import { readTLSFiles, type TLS } from "../settings/tls.ts";

export interface CertificateOptions {
  /** The certificate that is served now. */
  readonly tls: TLS;
  /** Serves another certificate from now on. */
  readonly use: (tls: TLS) => void;
  readonly observe: Observer;
  /** Returns milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
}

const dayMs = 86_400_000;
/** The time before the expiry in which a warning is logged once a day. */
const soonMs = 7 * dayMs;

/**
 * Watches the files of a certificate. Returns a function that checks the files and the expiry date. The function never
 * throws. If the key does not match the certificate or a file cannot be used, it logs this, and the previous pair stays
 * in use. The two files can mismatch for a moment, because they are written one after the other.
 */
export function watchCertificate({ tls, use, observe, now = Date.now }: CertificateOptions): () => void {
  const { files } = tls;
  // The stamp is empty, so that the first check reads the files again. They may have changed since the start read them.
  let stamp = "";
  let current = tls;
  let warnedAt = -Infinity;

  function renew(): void {
    try {
      const found = readTLSFiles(files);
      if (found.cert === current.cert && found.key === current.key) return;
      use(found);
      current = found;
      warnedAt = -Infinity;
      observe({ kind: "notice", level: "info", message: `The service now uses the new certificate in ${files.cert}.` });
    } catch (error) {
      const message = "The changed certificate cannot be used. The service keeps the previous one.";
      observe({ kind: "notice", level: "error", message, error });
    }
  }

  function warnBeforeExpiry(): void {
    const ends = Date.parse(new X509Certificate(current.cert).validTo);
    if (now() < ends - soonMs || now() < warnedAt + dayMs) return;
    warnedAt = now();
    const verb = now() < ends ? "ends" : "has expired";
    const message = `The certificate in ${files.cert} ${verb} at ${new Date(ends).toISOString()}. Replace the file; no restart is needed.`;
    observe({ kind: "notice", level: "error", message });
  }

  return () => {
    const found = [files.cert, files.key].map(readStamp).join(" ");
    if (found !== stamp) {
      stamp = found;
      renew();
    }
    warnBeforeExpiry();
  };
}

/** Returns a stamp that changes with the content and the permissions of the file. It follows symbolic links. */
function readStamp(file: string): string {
  try {
    const { ino, size, ctimeNs } = statSync(file, { bigint: true });
    return `${ino}:${size}:${ctimeNs}`;
  } catch (error) {
    return String(error);
  }
}
