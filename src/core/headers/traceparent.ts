import { trimOWS } from "./list.ts";

/** Where a request stands in a trace (W3C Trace Context): what to log, and what to send along with requests that follow from it. */
export interface TraceContext {
  /** 32 hexadecimal digits, lower case. */
  readonly traceId: string;
  /** 16 hexadecimal digits: the span of the caller, under which this request stands. */
  readonly parentId: string;
  /** The caller records this trace. */
  readonly sampled: boolean;
  /** The header to send on, in version 00. */
  readonly traceparent: string;
  /** The header to send on beside it; null where there is none. */
  readonly tracestate: string | null;
}

/** Flags that have a meaning: sampled (1), and a trace id that is random (2, level 2). Others are not sent on. */
const knownFlags = 0b11;

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[^\s,]*)?$/;

/** Reads the two headers; `tracestate` says nothing without a good `traceparent`, and spoils none. Null where there is no trace to follow. */
export function parseTraceContext(traceparent: string, tracestate: string | undefined): TraceContext | null {
  const found = form.exec(traceparent);
  if (found === null) return null;
  const [, version = "", traceId = "", parentId = "", flagText = "", more] = found;
  // Versions to come begin as this one does, and may go on behind a hyphen (§4.3).
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

/** A list has at most so many members. */
const maxMembers = 32;

/** As much as everyone is to send on. */
const maxLength = 512;

/** What is taken out first where a list is too long. */
const longMember = 128;

// Level 2 lets every key begin with a digit, which level 1 does for those with a tenant.
const key = /^[a-z0-9][a-z0-9_*/@-]{0,255}$/;
const value = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** The list as it is sent on: without empty members and repeated keys, and cut to its length as §3.3.1.5 says. Null where it is none. */
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
