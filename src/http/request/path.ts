import { isText } from "../../core/checking/members.ts";
import { shownName } from "../../core/checking/nearest.ts";

/** The parameters of a path by name. */
export type Params = Readonly<Record<string, number | string>>;

/** Returns the shape of a path. Two paths that differ only in parameter names or a final slash have the same shape. */
export function pathShape(path: string): string {
  return path.replaceAll(/\{[^{}]*\}/g, "{…}").replace(/(?<=.)\/$/, "");
}

/** Removes a final slash. A path behaves the same with and without it. */
export function withoutFinalSlash(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

/**
 * Returns the mistake in the path of an endpoint, or null if there is none. A path with wrong syntax would match no
 * request, or too many.
 */
export function pathMistake(path: unknown): string | null {
  if (!isText(path) || !path.startsWith("/")) return "it has to begin with a slash, like /books/{id}/lend";
  const segments = path.slice(1).replace(/\/$/, "").split("/");
  const named = segments.flatMap((segment) => PARAMETER.exec(segment)?.[1] ?? []);
  const twice = named.find((name, at) => named.indexOf(name) < at);
  if (twice !== undefined) return `it has two parameters called ${twice}; rename one`;
  const wrong = path === "/" ? undefined : segments.find((each) => !PARAMETER.test(each) && !LITERAL.test(each));
  if (wrong === undefined) return null;
  return wrong === ""
    ? "it has nothing between two slashes; leave one out"
    : `${shownName(wrong)} ${/^[:*[<]|[{}]/.test(wrong) ? `is no parameter; ${describeSyntax(wrong)}` : "has characters that paths do not have"}`;
}

/** Matches a parameter that is a whole segment: `{id}`, `{id:uuid}`, `{name:text}`. */
const PARAMETER = /^\{([a-z][a-z0-9_]*)(?::(?:text|uuid))?\}$/;

/** Returns the correct syntax of a parameter. Other routers use `:id`, `[id]` or `<int:id>`. */
function describeSyntax(segment: string): string {
  const name = /^(?::|\[|<(?:\w+:)?|.*\{)([a-z][a-z0-9_]*)/.exec(segment)?.[1] ?? "id";
  return `write a whole segment as {${name}} for a whole number, {${name}:uuid} for a UUID, or {${name}:text} for text`;
}

/**
 * Matches a literal segment. RFC 3986 §3.3 also allows colons and asterisks, but the router gives them a special
 * meaning.
 */
const LITERAL = /^[\w.~!$&'()+,;=@%-]+$/;
