import { problem } from "../problem/problem.ts";
import type { Call } from "./call.ts";

/**
 * Ends the request with 403 `insecure_transport` if other people on the network could read its password or credential:
 * the connection does not use TLS, and the caller is not on this machine.
 */
export function requireSecureTransport({ client }: Call): void {
  if (!client.encrypted && !client.loopback) throw problem("insecure_transport");
}
