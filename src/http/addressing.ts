import type { Arrival } from "../core/call/call.ts";
import { problem } from "../core/problem/problem.ts";

// A name, an IPv4 address or an IPv6 address in brackets, with an optional port (RFC 3986 §3.2.2). HTTP also allows an
// empty value.
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+,;=%-]*)(?::\d*)?$/;

/**
 * Ends a request without a valid address. HTTP/1.1 requires one `Host` (RFC 9112 §3.2) and a target without a fragment.
 */
export function requireAddress({ target, rawHeaders, version }: Arrival): void {
  if (target.includes("#")) throw problem("malformed", { detail: "The address has a fragment, which is not sent." });
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length !== 4 || name.toLowerCase() !== "host") continue;
    if (!HOST.test(rawHeaders[at + 1]!))
      throw problem("malformed", { detail: "Host is not a host with an optional port." });
    hosts++;
  }
  if (hosts > 1) throw problem("malformed", { detail: "Host is given twice." });
  if (hosts === 0 && version === "1.1") throw problem("malformed", { detail: "HTTP/1.1 requires a Host." });
}

const CLOSE = [["Connection", "close"]] as const;

/**
 * Ends a request whose end is ambiguous, because a proxy in front may have read a different end (RFC 9112 §6.1). This
 * applies to an unsupported transfer coding, to a transfer coding in HTTP/1.0, and to every version other than 1.0 and
 * 1.1.
 */
export function requireFraming({ rawHeaders, version = "1.1" }: Arrival): void {
  if (version !== "1.1" && version !== "1.0")
    throw problem("malformed", { detail: "The service accepts HTTP/1.1 and HTTP/1.0.", headers: CLOSE });
  let codings = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length !== 17 || name.toLowerCase() !== "transfer-encoding") continue;
    if (++codings > 1 || rawHeaders[at + 1]!.trim().toLowerCase() !== "chunked")
      throw problem("not_implemented", { headers: CLOSE });
    if (version === "1.0") throw problem("malformed", { detail: "HTTP/1.0 has no Transfer-Encoding.", headers: CLOSE });
  }
}
