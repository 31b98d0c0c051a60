import { isObject } from "../../core/checking/members.ts";
import type { TestReply } from "./asking.ts";
import { unexpected } from "./asking.ts";

/** The fields that a problem names, by JSON pointer (`/title`) or parameter (`?limit`), with the code of each issue. */
export type ExpectedIssues = Readonly<Record<string, string>>;

/**
 * Throws an AssertionError unless the response is this problem (RFC 9457): its status, its code, and, if `issues` is
 * given, exactly these wrong fields. The message shows the actual response.
 *
 * @example
 * ```ts
 * import { assertProblem, type Asker } from "latchkey/testing";
 *
 * export async function refusesEmptyTitles(api: Asker) {
 *   assertProblem(await api.post("/books", { title: "" }), 400, "invalid", { "/title": "too_short" });
 * }
 * ```
 */
export function assertProblem(
  reply: Pick<TestReply, "asked" | "status" | "headers" | "text" | "json">,
  status: number,
  code: string,
  issues?: ExpectedIssues,
): void {
  const expected = `${status} ${code}${issues === undefined ? "" : ` with ${JSON.stringify(issues)}`}`;
  const type = reply.headers.get("content-type") ?? "";
  if (reply.status !== status || !type.startsWith("application/problem+json") || !isObject(reply.json))
    throw unexpected(reply, expected);
  if (reply.json["code"] !== code) throw unexpected(reply, expected);
  if (issues !== undefined && !isSame(readIssues(reply.json["errors"]), issues)) throw unexpected(reply, expected);
}

function readIssues(errors: unknown): ExpectedIssues {
  const found: readonly unknown[] = Array.isArray(errors) ? errors : [];
  return Object.fromEntries(
    found.filter(isObject).map(({ pointer, code }) => [String(pointer), String(code)] as const),
  );
}

function isSame(one: ExpectedIssues, other: ExpectedIssues): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}
