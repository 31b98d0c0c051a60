import { isLoopback } from "../../service/settings/rules.ts";
import type { Settings } from "../../service/settings/settings.ts";

/**
 * Returns a notice if passwords could travel without TLS, or if logins without TLS are refused. Returns null if there
 * is nothing to report.
 */
export function cleartextNotice({ host, port, tls, trustedProxies, cleartextLogins }: Settings): string | null {
  if (cleartextLogins === "allow")
    return "LATCHKEY_CLEARTEXT_LOGINS=allow: passwords and tokens from other hosts may travel in cleartext, where others on the network can read them. Use TLS (LATCHKEY_TLS_CERT) or a proxy that terminates TLS (LATCHKEY_TRUSTED_PROXIES).";
  // A trusted proxy reports the protocol that the caller used. Logins over cleartext that bypass the proxy are refused.
  if (tls !== null || trustedProxies.length > 0 || isLoopback(host)) return null;
  // An IPv6 address is in brackets before a port (RFC 3986 §3.2.2).
  const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  return `${address} can be reached from other hosts without TLS, so logins and Basic from them are refused (403 insecure_transport). Set LATCHKEY_TLS_CERT and LATCHKEY_TLS_KEY, name the proxy that terminates TLS in LATCHKEY_TRUSTED_PROXIES, or set LATCHKEY_CLEARTEXT_LOGINS=allow on a private network.`;
}
