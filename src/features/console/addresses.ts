import { shellWord } from "../../core/checking/shell.ts";
import { parseQuery } from "../../core/headers/query.ts";
import { linkTo } from "../../core/html/link.ts";
import type { View } from "../../http/request/view.ts";

type AddressParameters = readonly (readonly [name: string, value: string])[];

/**
 * Returns the query parameters of the request, without those that select the format and the form, and without empty
 * ones. Empty if the query cannot be read.
 */
export function readParameters({ query }: View): AddressParameters {
  try {
    return parseQuery(query).filter(([name, value]) => name !== "format" && name !== "form" && value !== "");
  } catch {
    return [];
  }
}

/** Returns one parameter of the query. Returns undefined if there is none with this name. */
export function findParameter(view: View, name: string): string | undefined {
  return readParameters(view).find(([each]) => each === name)?.[1];
}

/** Returns the path and query of the request. */
export function readTarget({ call, query }: Pick<View, "call" | "query">): string {
  return query === "" ? call.path : `${call.path}?${query}`;
}

/** Returns a curl command that requests the target on this service. It never contains a credential. */
export function formatCurl({ call }: View, target: string): string {
  return `curl ${shellWord(`${call.client.origin ?? ""}${target}`)}`;
}

/** Returns this URL with other parameters. A null removes a parameter. A list starts at its first page again. */
export function withParameters(view: View, changes: Readonly<Record<string, string | null>>): string {
  const retained = readParameters(view).filter(([name]) => name !== "cursor" && !Object.hasOwn(changes, name));
  const added = Object.entries(changes).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
  return address(view, [...retained, ...added]);
}

/** Returns this URL with a parameter for another format, because a link cannot send the header `Accept`. */
export function inFormat(view: View, name: string): string {
  return address(view, [...readParameters(view), ["format", name]]);
}

function address({ call }: View, parameters: AddressParameters): string {
  const search = new URLSearchParams(parameters.map(([name, value]) => [name, value])).toString();
  return linkTo(search === "" ? call.path : `${call.path}?${search}`);
}

/** Returns the links of the response by relation (RFC 8288). */
export function readLinks({ headers }: View): Readonly<Record<string, string>> {
  const links = headers.filter(([name]) => name === "Link").map(([, value]) => value);
  const found = links.flatMap((value) => [...value.matchAll(/<([^<>]*)>; rel="([a-z-]+)"/g)]);
  return Object.fromEntries(found.map(([, target = "", rel = ""]) => [rel, target]));
}
