import { isText } from "../../core/checking/members.ts";
import { shownName } from "../../core/checking/nearest.ts";

/** The parameters of a path by name. */
export type Params = Readonly<Record<string, number | string>>;

/** Paths that differ in the names of their parameters or a final slash alone are one path. */
export function pathShape(path: string): string {
  return path.replaceAll(/\{[^{}]*\}/g, "{…}").replace(/(?<=.)\/$/, "");
}

/** A path answers the same with and without a final slash. */
export function withoutFinalSlash(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

/** What is wrong with the path of an endpoint; null where nothing is. Whatever is no parameter would never be found, or be found for anything. */
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
    : `${shownName(wrong)} ${/^[:*[<]|[{}]/.test(wrong) ? `is no parameter; ${formOf(wrong)}` : "has characters that paths do not have"}`;
}

/** `{id}`, `{id:uuid}`, `{name:text}`: a whole segment. */
const PARAMETER = /^\{([a-z][a-z0-9_]*)(?::(?:text|uuid))?\}$/;

/** How a parameter is written; other routers write it `:id`, `[id]` or `<int:id>`. */
function formOf(segment: string): string {
  const name = /^(?::|\[|<(?:\w+:)?|.*\{)([a-z][a-z0-9_]*)/.exec(segment)?.[1] ?? "id";
  return `write a whole segment as {${name}} for a whole number, {${name}:uuid} for a UUID, or {${name}:text} for text`;
}

/** Colons and asterisks mean something to the router (RFC 3986 §3.3 allows them). */
const LITERAL = /^[\w.~!$&'()+,;=@%-]+$/;
