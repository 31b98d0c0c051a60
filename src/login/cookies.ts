import type { Call } from "../call/call.ts";
import { problem } from "../problem/problem.ts";

/** A field of an answer. */
export type Header = readonly [name: string, value: string];

/** Whether a cookie is for TLS alone: left out only where the caller is on this machine and there is no TLS to send it over. */
export function isSecure({ client }: Call): boolean {
  return client.encrypted || !client.loopback;
}

/** The value of a cookie; null where there is none. Two different ones end the request. */
export function requireOneCookie(call: Call, name: string): string | null {
  const value = call.cookie(name);
  if (value === null) throw problem("duplicate_credentials");
  return value ?? null;
}
