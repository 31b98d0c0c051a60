import { aFunction, buildChoiceCheck } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { shellWord } from "../../../core/checking/shell.ts";
import { stackOfThrown } from "../../../core/checking/thrown.ts";
import type { Observation, Observer } from "../../../core/observation.ts";
import { visible } from "../../../core/visible.ts";

/**
 * The log level: `silent` (no lines), `error` (only errors), `info` (also requests and other events) or `debug` (also
 * each refused credential).
 */
export type LogLevel = "silent" | "error" | "info" | "debug";

/** A log of JSON lines. */
export interface Log {
  readonly observe: Observer;
  /** Writes the waiting lines. */
  flush(): void;
}

const FLUSH_AT_CHARACTERS = 16 * 1024;

/** Half of the 50 ms that `makeLog` promises, because a busy event loop runs the timer late. */
const FLUSH_AFTER_MS = 25;

const checks: ChecksOf<{ readonly level: LogLevel; readonly write: (text: string) => void }> = {
  level: buildChoiceCheck("debug", "info", "error", "silent"),
  write: aFunction,
};

/**
 * Returns a log that writes observations as JSON lines. Errors are written immediately, so that a crash does not lose
 * them. Other lines are written several at a time, within 50 ms. Returns null for the level `silent`. No observation
 * contains a credential.
 */
export function makeLog(level: LogLevel, write: (text: string) => void): Log | null {
  requireOptions({ level, write }, checks, { of: "makeLog" });
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
    waiting += `${visible(JSON.stringify(line))}\n`;
    if (line["level"] === "error" || waiting.length >= FLUSH_AT_CHARACTERS) flush();
    else timer ??= setTimeout(flush, FLUSH_AFTER_MS).unref();
  };
  const refusals = makeThinning((reason, count) => {
    add({ time: new Date().toISOString(), level: "info", event: "refused_untold", reason, count });
  });
  return {
    flush,
    observe(observation) {
      const line = buildLine(observation, level);
      if (line === null) return;
      if (observation.kind === "refused" && !refusals.takes(observation.reason)) return;
      add(line);
    },
  };
}

function buildLine(observation: Observation, level: LogLevel): Record<string, unknown> | null {
  const own = chooseLevel(observation);
  if (loudness[own] > loudness[level]) return null;
  return { time: new Date().toISOString(), level: own, event: observation.kind, ...buildMembers(observation) };
}

/** The order of the levels. A log writes the lines of its level and of the lower ones. */
const loudness = { silent: -1, error: 0, info: 1, debug: 2 } as const;

function chooseLevel(observation: Observation): Exclude<LogLevel, "silent"> {
  switch (observation.kind) {
    case "request":
      return observation.status >= 500 ? "error" : "info";
    case "notice":
      return observation.level;
    case "fault":
    case "identity_not_bound":
    case "passkey_counter_went_back":
      return "error";
    case "credential_rejected":
      return "debug";
    default:
      return "info";
  }
}

type Observed<K extends Observation["kind"]> = Extract<Observation, { kind: K }>;

function buildMembers(observation: Observation): Record<string, unknown> {
  switch (observation.kind) {
    case "request":
      return requestMembers(observation);
    case "fault":
      return { request_id: observation.requestId, error: stackOfThrown(observation.error) };
    case "notice": {
      const { message, error } = observation;
      return { message, ...(error === undefined ? {} : { error: stackOfThrown(error) }) };
    }
    case "refused":
      return { reason: observation.reason, address: observation.address, detail: observation.detail };
    case "refresh_reuse":
    case "logins_ended":
      return endMembers(observation);
    case "passkey_counter_went_back":
      return { request_id: observation.requestId, user_id: observation.userId, factor_id: observation.factorId };
    case "passkey_refused": {
      const { requestId, userId, factorId, reason } = observation;
      return { request_id: requestId, user_id: userId, factor_id: factorId, reason };
    }
    case "provider_login_failed":
      return { request_id: observation.requestId, provider: observation.provider, reason: observation.reason };
    case "identity_bound":
      return { issuer: observation.issuer, subject: observation.subject, user_id: observation.userId };
    case "identity_not_bound": {
      const { issuer, subject, username, userId } = observation;
      return { issuer, subject, username, user_id: userId, cure: describeCure(observation) };
    }
    case "identity_header_dropped":
      return { request_id: observation.requestId, header: observation.header, peer: observation.peer };
    case "credential_rejected": {
      const { requestId, scheme, code, reason, address } = observation;
      return { request_id: requestId, scheme, code, reason, address };
    }
  }
}

function requestMembers(request: Observed<"request">): Record<string, unknown> {
  return {
    request_id: request.requestId,
    method: request.method,
    path: request.path,
    route: request.route,
    status: request.status,
    code: request.code,
    duration_ms: Math.round(request.durationMs * 1000) / 1000,
    address: request.address,
    user_id: request.userId,
    actor_id: request.actorId,
    scheme: request.scheme,
    // JSON leaves out an undefined member.
    trace_id: request.traceId ?? undefined,
    parent_id: request.parentId ?? undefined,
    deprecated: request.deprecated.length === 0 ? undefined : request.deprecated,
  };
}

function endMembers(ended: Observed<"refresh_reuse" | "logins_ended">): Record<string, unknown> {
  const about = { request_id: ended.requestId, user_id: ended.userId };
  return ended.kind === "refresh_reuse"
    ? { ...about, family: ended.family }
    : { ...about, which: ended.which, by: ended.by };
}

/** Returns the command with which the operator can bind the identity to the account, if both are the same person. */
function describeCure({ issuer, subject, userId }: Observed<"identity_not_bound">): string {
  const words = [
    "latchkey user bind",
    userId === null ? "USER" : `id:${userId}`,
    shellWord(subject),
    ...(issuer === "" ? [] : ["--issuer", shellWord(issuer)]),
  ];
  return `If the identity and the account belong to the same person: ${words.join(" ")}`;
}

/** The largest number of lines of one kind per second. */
const MOST_A_SECOND = 10;

/**
 * Limits the lines of each kind per second, and then reports how many lines it dropped. A caller who causes log lines
 * can therefore not fill the disk.
 */
interface Thinning {
  /** Counts a line of this kind. Returns true if the line may be written. */
  takes(kind: string): boolean;
}

function makeThinning(report: (kind: string, dropped: number) => void): Thinning {
  const seen = new Map<string, number>();
  let timer: NodeJS.Timeout | null = null;
  const begin = (): void => {
    timer = null;
    for (const [kind, count] of seen) if (count > MOST_A_SECOND) report(kind, count - MOST_A_SECOND);
    seen.clear();
  };
  return {
    takes(kind) {
      const count = (seen.get(kind) ?? 0) + 1;
      seen.set(kind, count);
      timer ??= setTimeout(begin, 1000).unref();
      return count <= MOST_A_SECOND;
    },
  };
}
