import { isLoopback } from "../../service/settings/rules.ts";
import type { Settings } from "../../service/settings/settings.ts";

/** Returns a notice about passwords if a start has no TLS. Returns null if there is nothing to report. */
export function cleartextNotice({ host, port, tls, trustedProxies, cleartextLogins }: Settings): string | null {
  if (cleartextLogins === "allow")
    return "LATCHKEY_CLEARTEXT_LOGINS=allow: passwords and tokens from other hosts may travel in cleartext, and whoever is on the way reads them. Use TLS (LATCHKEY_TLS_CERT) or a proxy that ends it (LATCHKEY_TRUSTED_PROXIES).";
  // A trusted proxy reports the protocol of the caller. Requests that bypass it are refused.
  if (tls !== null || trustedProxies.length > 0 || isLoopback(host)) return null;
  return `${host}:${port} can be reached from other hosts and is not TLS: logins and Basic from there are refused (403 insecure_transport). Give LATCHKEY_TLS_CERT and LATCHKEY_TLS_KEY, name the proxy that ends TLS in LATCHKEY_TRUSTED_PROXIES, or say LATCHKEY_CLEARTEXT_LOGINS=allow on a private network.`;
}
