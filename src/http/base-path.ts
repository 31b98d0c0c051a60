/**
 * Parses the path below which a service is mounted: `/api/v1`, with or without a final slash. Returns an empty text for
 * the root. Returns null if the path is invalid. A valid path begins with a slash, and its segments contain only
 * letters, digits and `-._~`. Such a path is written the same in URLs, cookies and pages.
 */
export function parseBasePath(text: string): string | null {
  if (!isText(text)) return null;
  const path = text.endsWith("/") ? text.slice(0, -1) : text;
  if (path === "") return "";
  if (path.length > 200 || !path.startsWith("/")) return null;
  const segments = path.slice(1).split("/");
  return segments.every((segment) => /^[A-Za-z0-9._~-]+$/.test(segment) && !/^\.{1,2}$/.test(segment)) ? path : null;
}

/** Returns the mistake in an option that must be a base path, or null. */
export const aBasePath: ValueCheck = (value) =>
  isText(value) && parseBasePath(value) !== null
    ? null
    : "it has to be a path such as /api/v1: segments of letters, digits and -._~";

/** Returns the rest of a path after the base path. Returns null if the path is outside of it. */
export function belowBasePath(path: string, basePath: string): string | null {
  if (basePath === "" || path === "*") return path;
  if (!path.startsWith(basePath)) return null;
  const rest = path.slice(basePath.length);
  return rest === "" ? "/" : rest.startsWith("/") ? rest : null;
}
import { isText, type ValueCheck } from "../core/checking/members.ts";
