import { shellWord } from "../../core/checking/shell.ts";
import { parseQuery } from "../../core/headers/query.ts";
import { linkTo } from "../../core/html/link.ts";
import type { View } from "../../http/formats/view.ts";

type Parameters = readonly (readonly [name: string, value: string])[];

/** The query of the request, without what chose the format; empty where it cannot be read. */
export function parametersOf({ query }: View): Parameters {
  try {
    return parseQuery(query).filter(([name]) => name !== "format");
  } catch {
    return [];
  }
}

/** One parameter of the query; undefined where it has none of that name. */
export function parameterOf(view: View, name: string): string | undefined {
  return parametersOf(view).find(([each]) => each === name)?.[1];
}

/** What was asked: the path with the query. */
export function targetOf({ call, query }: Pick<View, "call" | "query">): string {
  return query === "" ? call.path : `${call.path}?${query}`;
}

/** What a program would send: never with a credential. */
export function curlOf({ call }: View, target: string): string {
  return `curl ${shellWord(`${call.client.origin ?? ""}${target}`)}`;
}

/** This address with other parameters: those that are named are replaced, or taken away where they are null. A page of a list is left for its first one. */
export function withParameters(view: View, changes: Readonly<Record<string, string | null>>): string {
  const kept = parametersOf(view).filter(([name]) => name !== "cursor" && !Object.hasOwn(changes, name));
  const added = Object.entries(changes).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
  return address(view, [...kept, ...added]);
}

/** This address without one of its parameters, of which there may be several of that name. */
export function withoutParameter(view: View, at: number): string {
  return address(
    view,
    parametersOf(view).filter(([name], index) => index !== at && name !== "cursor"),
  );
}

/** This address in another format: a link can send no header. */
export function inFormat(view: View, name: string): string {
  return address(view, [...parametersOf(view), ["format", name]]);
}

function address({ call }: View, parameters: Parameters): string {
  const search = new URLSearchParams(parameters.map(([name, value]) => [name, value])).toString();
  return linkTo(search === "" ? call.path : `${call.path}?${search}`);
}

/** The links of the answer, by what they are to it (RFC 8288). */
export function linksOf({ headers }: View): Readonly<Record<string, string>> {
  const links = headers.filter(([name]) => name === "Link").map(([, value]) => value);
  const found = links.flatMap((value) => [...value.matchAll(/<([^<>]*)>; rel="([a-z-]+)"/g)]);
  return Object.fromEntries(found.map(([, target = "", rel = ""]) => [rel, target]));
}
