import { isTokenValid } from "content-type";
import type { Call } from "../../core/call/call.ts";
import type { Route } from "../declarations/routes.ts";
import type { ServiceCore } from "../request/core.ts";
import { writeOptions, type Answer } from "./writing.ts";

const EXPOSED =
  "Deprecation, ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, Sunset, X-Request-Id, X-Total-Count, Idempotency-Replayed, Preference-Applied";
const PREFLIGHT_SECONDS = 600;

/**
 * Lets a page of an allowed origin read the response (Fetch standard, CORS protocol). If the service allows no origins,
 * also forbids pages of other origins to embed the response.
 */
export function addCors(call: Call, answer: Answer, allowedOrigins: readonly string[]): void {
  if (allowedOrigins.length === 0) {
    answer.headers.push("Cross-Origin-Resource-Policy", "same-origin");
    return;
  }
  const vary = answer.headers.indexOf("Vary");
  if (vary === -1) answer.headers.push("Vary", "Origin");
  else answer.headers[vary + 1] += ", Origin";
  const origin = call.header("origin");
  if (origin === undefined || !allowedOrigins.includes(origin)) return;
  answer.headers.push(
    "Access-Control-Allow-Origin",
    origin,
    "Access-Control-Allow-Credentials",
    "true",
    "Access-Control-Expose-Headers",
    EXPOSED,
  );
}

/**
 * Returns the response to OPTIONS. It contains the methods and header fields that a page of an allowed origin may send.
 */
export function answerOptions(service: ServiceCore, call: Call, route: Route): Answer {
  const { allowedOrigins } = service;
  const answer = writeOptions(service, call, route);
  const origin = call.header("origin");
  const method = call.header("access-control-request-method");
  if (origin === undefined || method === undefined || !allowedOrigins.includes(origin)) return answer;
  answer.headers.push("Access-Control-Allow-Methods", route.allow, "Access-Control-Max-Age", String(PREFLIGHT_SECONDS));
  const names = namesIn(call.list("access-control-request-headers") ?? "");
  if (names.length > 0) answer.headers.push("Access-Control-Allow-Headers", names.join(", "));
  return answer;
}

/**
 * Returns the names of header fields in a list. The name of a field is a token (RFC 9110 §5.1), and a list may have
 * empty elements.
 */
function namesIn(list: string): readonly string[] {
  const names = list.split(",").map((each) => each.trim());
  return names.filter((name) => isTokenValid(name));
}
