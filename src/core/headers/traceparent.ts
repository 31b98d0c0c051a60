import { trimOWS } from "./list.ts";

/** The position of a request in a trace (W3C Trace Context): the ids to log, and the headers for further requests. */
export interface TraceContext {
  /** 32 hexadecimal digits, lower case. */
  readonly traceId: string;
  /** 16 hexadecimal digits: the caller's span, which is the parent of this request. */
  readonly parentId: string;
  /** True if the caller records this trace. */
  readonly sampled: boolean;
  /** The header to forward, in version 00. */
  readonly traceparent: string;
  /** The second header to forward. Null if there is none. */
  readonly tracestate: string | null;
}

/** The flags with a meaning: sampled (1), and a random trace id (2, level 2). Others are not forwarded. */
const knownFlags = 0b11;

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[^\s,]*)?$/;

/**
 * Parses `traceparent` and `tracestate`. Returns null if `traceparent` is not valid. An invalid `tracestate` is
 * ignored.
 */
export function parseTraceContext(traceparent: string, tracestate: string | undefined): TraceContext | null {
  const found = form.exec(traceparent);
  if (found === null) return null;
  const [, version = "", traceId = "", parentId = "", flagText = "", more] = found;
  // Later versions begin like this one, and may continue after a hyphen (§4.3).
  if (version === "ff" || (version === "00" && more !== undefined)) return null;
  if (isZero(traceId) || isZero(parentId)) return null;
  const flags = Number.parseInt(flagText, 16) & knownFlags;
  return {
    traceId,
    parentId,
    sampled: (flags & 1) === 1,
    traceparent: `00-${traceId}-${parentId}-${flags.toString(16).padStart(2, "0")}`,
    tracestate: tracestate === undefined ? null : readTracestate(tracestate),
  };
}

function isZero(digits: string): boolean {
  return /^0+$/.test(digits);
}

/** Maximum number of members of a list. */
const maxMembers = 32;

/** Maximum length of a forwarded list, in characters: the length that every system must be able to forward. */
const maxLength = 512;

/** Longer members are removed first if a list is too long. */
const longMember = 128;

// In level 2, every key may begin with a digit. In level 1, only keys with a tenant may.
const key = /^[a-z0-9][a-z0-9_*/@-]{0,255}$/;
const value = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/**
 * Returns the list to forward: without empty members and repeated keys, and cut as in §3.3.1.5. Returns null if it is
 * not a list.
 */
function readTracestate(text: string): string | null {
  const members = new Map<string, string>();
  let count = 0;
  for (const part of text.split(",")) {
    const member = trimOWS(part);
    if (member === "") continue;
    if (++count > maxMembers) return null;
    const equals = member.indexOf("=");
    const name = member.slice(0, equals);
    if (equals === -1 || !key.test(name) || !value.test(member.slice(equals + 1))) return null;
    if (!members.has(name)) members.set(name, member);
  }
  return members.size === 0 ? null : shorten([...members.values()]);
}

function shorten(members: string[]): string | null {
  const length = (): number => members.reduce((sum, member) => sum + member.length + 1, -1);
  for (let at = members.length - 1; at >= 0 && length() > maxLength; at--) {
    if (members[at]!.length > longMember) members.splice(at, 1);
  }
  while (length() > maxLength) members.pop();
  return members.length === 0 ? null : members.join(",");
}
