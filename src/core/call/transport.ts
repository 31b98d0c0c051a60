import { problem } from "../problem/problem.ts";
import type { Call } from "./call.ts";

/** Ends a request whose password or credential could be read on its way: it does not use TLS, and the caller is not on this machine. */
export function requireSecureTransport({ client }: Call): void {
  if (!client.encrypted && !client.loopback) throw problem("insecure_transport");
}
