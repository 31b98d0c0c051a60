import { isObject } from "../core/checking/members.ts";
import { MAX_ISSUES, type Issue } from "../core/problem/problem.ts";
import { readCondition, type QueryCondition } from "./conditions.ts";
import { pointerTo } from "./pointer.ts";
import { isOnce, readOnce, type AskedOnce } from "./query.ts";
import type { Resource } from "./resource.ts";

/** The list request in the body of a `QUERY`. */
export interface QueryRequest extends AskedOnce {
  /** Null to select all records. */
  readonly where: QueryCondition | null;
  /** The kind of total that the response should contain. Null if the caller asks for no total. */
  readonly count: "exact" | "estimated" | null;
}

/** Reads the body of a `QUERY` (RFC 10008). Reports all issues together, with pointers into the body. */
export function readQueryBody(
  resource: Resource,
  body: unknown,
  expandable: readonly string[],
): QueryRequest | readonly Issue[] {
  if (!isObject(body)) return [{ pointer: "", code: "invalid", detail: 'An object is required, like {"limit": 10}.' }];
  const issues: Issue[] = [];
  const say = (name: string, code: string, detail: string): unknown =>
    issues.push({ pointer: pointerTo(name), code, detail });
  const once = new Map<string, string>();
  for (const [name, value] of Object.entries(body)) {
    if (name === "where" || name === "count") continue;
    const type = name === "limit" ? "number" : "string";
    if (!isOnce(resource, name) && name !== "expand") say(name, "unknown_field", "A query has no member of this name.");
    else if (typeof value === type) once.set(name, String(value));
    else say(name, "invalid", type === "number" ? "A whole number is required." : "A text is required.");
    if (issues.length >= MAX_ISSUES) return issues;
  }
  const { where, count } = body;
  const wanted = count === "exact" || count === "estimated" ? count : null;
  if (count !== undefined && wanted === null) say("count", "invalid", "exact or estimated is required.");
  const condition = where === undefined ? null : readCondition(resource, where, "/where", issues);
  const request = readOnce(resource, once, expandable, (name, { code, detail }) => say(name, code, detail));
  if (issues.length > 0 || request === null) return issues;
  return { ...request, where: condition, count: wanted };
}
