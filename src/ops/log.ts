import type { Observation, Observer } from "../observation.ts";
import { makeThinning } from "./thinning.ts";

/** How much is logged: `error` only what went wrong, `info` a line a request too, `debug` also each refused credential. */
export type LogLevel = "silent" | "error" | "info" | "debug";

/** A log of JSON lines. */
export interface Log {
  readonly observe: Observer;
  /** Writes what is still waiting. */
  flush(): void;
}

const FLUSH_AT_CHARACTERS = 16 * 1024;

/** Half of what is promised: a busy event loop is late. */
const FLUSH_AFTER_MS = 25;

/**
 * Writes observations as JSON lines: what went wrong at once, so that it is there whatever becomes of the process, the others several at a
 * time, within 50 ms. Null where nothing is to be logged. No observation carries a credential.
 */
export function makeLog(level: LogLevel, write: (text: string) => void): Log | null {
  if (level === "silent") return null;
  let waiting = "";
  let timer: NodeJS.Timeout | null = null;
  const flush = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (waiting === "") return;
    const text = waiting;
    waiting = "";
    write(text);
  };
  const add = (line: Record<string, unknown>): void => {
    waiting += `${JSON.stringify(line)}\n`;
    if (line["level"] === "error" || waiting.length >= FLUSH_AT_CHARACTERS) flush();
    else timer ??= setTimeout(flush, FLUSH_AFTER_MS).unref();
  };
  const refusals = makeThinning((reason, count) => {
    add({ time: new Date().toISOString(), level: "info", event: "refused_untold", reason, count });
  });
  return {
    flush,
    observe(observation) {
      const line = lineOf(observation, level);
      if (line === null) return;
      if (observation.kind === "refused" && !refusals.takes(observation.reason)) return;
      add(line);
    },
  };
}

function lineOf(observation: Observation, level: LogLevel): Record<string, unknown> | null {
  const time = new Date().toISOString();
  switch (observation.kind) {
    case "request":
      if (level === "error" && observation.status < 500) return null;
      return {
        time,
        level: observation.status >= 500 ? "error" : "info",
        event: "request",
        request_id: observation.requestId,
        method: observation.method,
        path: observation.path,
        route: observation.route,
        status: observation.status,
        code: observation.code,
        duration_ms: Math.round(observation.durationMs * 1000) / 1000,
        address: observation.address,
        user_id: observation.userId,
        scheme: observation.scheme,
        // Left out where there is none.
        trace_id: observation.traceId ?? undefined,
        parent_id: observation.parentId ?? undefined,
      };
    case "fault":
      return {
        time,
        level: "error",
        event: "fault",
        request_id: observation.requestId,
        error: textOf(observation.error),
      };
    case "notice":
      if (level === "error" && observation.level === "info") return null;
      return {
        time,
        level: observation.level,
        event: "notice",
        message: observation.message,
        ...(observation.error === undefined ? {} : { error: textOf(observation.error) }),
      };
    case "refused":
      if (level === "error") return null;
      return {
        time,
        level: "info",
        event: "refused",
        reason: observation.reason,
        address: observation.address,
        detail: observation.detail,
      };
    case "refresh_reuse":
      if (level === "error") return null;
      return {
        time,
        level: "info",
        event: "refresh_reuse",
        request_id: observation.requestId,
        user_id: observation.userId,
        family: observation.family,
      };
    case "logins_ended":
      if (level === "error") return null;
      return {
        time,
        level: "info",
        event: "logins_ended",
        request_id: observation.requestId,
        user_id: observation.userId,
        which: observation.which,
        by: observation.by,
      };
    case "identity_bound":
      if (level === "error") return null;
      return {
        time,
        level: "info",
        event: "identity_bound",
        issuer: observation.issuer,
        subject: observation.subject,
        user_id: observation.userId,
      };
    case "identity_not_bound":
      return {
        time,
        level: "error",
        event: "identity_not_bound",
        issuer: observation.issuer,
        subject: observation.subject,
        username: observation.username,
        user_id: observation.userId,
        cure: cureOf(observation),
      };
    case "identity_header_dropped":
      if (level === "error") return null;
      return {
        time,
        level: "info",
        event: "identity_header_dropped",
        request_id: observation.requestId,
        header: observation.header,
        peer: observation.peer,
      };
    case "credential_rejected":
      if (level !== "debug") return null;
      return {
        time,
        level: "debug",
        event: "credential_rejected",
        request_id: observation.requestId,
        scheme: observation.scheme,
        code: observation.code,
        reason: observation.reason,
        address: observation.address,
      };
  }
}

/** What the operator can do, where both are the same person. */
function cureOf({ issuer, subject, userId }: Extract<Observation, { kind: "identity_not_bound" }>): string {
  const words = [
    "latchkey user bind",
    userId === null ? "USER" : `id:${userId}`,
    quoted(subject),
    ...(issuer === "" ? [] : ["--issuer", quoted(issuer)]),
  ];
  return `If both are the same person: ${words.join(" ")}`;
}

/** One word of a shell, whatever is in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
