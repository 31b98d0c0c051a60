/**
 * Reads the path below which a service stands: `/api/v1`, with or without a slash at its end; empty for the root. Null where it is none:
 * it begins with a slash, and its segments are letters, digits and `-._~`, so that it is the same in addresses, cookies and pages.
 */
export function parseBasePath(text: string): string | null {
  if (!isText(text)) return null;
  const path = text.endsWith("/") ? text.slice(0, -1) : text;
  if (path === "") return "";
  if (path.length > 200 || !path.startsWith("/")) return null;
  const segments = path.slice(1).split("/");
  return segments.every((segment) => /^[A-Za-z0-9._~-]+$/.test(segment) && !/^\.{1,2}$/.test(segment)) ? path : null;
}

/** What is wrong with an option that has to be such a path; null where nothing is. */
export const aBasePath: Check = (value) =>
  isText(value) && parseBasePath(value) !== null
    ? null
    : "it has to be a path such as /api/v1: segments of letters, digits and -._~";

/** What stands behind the base path; null where the path lies outside of it. */
export function belowBasePath(path: string, basePath: string): string | null {
  if (basePath === "" || path === "*") return path;
  if (!path.startsWith(basePath)) return null;
  const rest = path.slice(basePath.length);
  return rest === "" ? "/" : rest.startsWith("/") ? rest : null;
}
import { isText, type Check } from "../core/checking/members.ts";
