import { belowBasePath } from "../../http/base-path.ts";
import type { Offer, View } from "../../http/request/view.ts";
import type { Site } from "./site.ts";

/** Returns the requested path, without the base path and without a slash at its end. */
export function askedPath({ call, basePath }: View): string {
  return (belowBasePath(call.path, basePath) ?? call.path).replace(/(?<=.)\/$/, "");
}

/** Returns true if the service has this declared path. */
export function isServed(site: Site, path: string, method = "GET"): boolean {
  return site.facts().endpoints.some((each) => each.path === path && each.method === method);
}

/** Returns true if a path in a URL can be read. */
export function isReadable(site: Site, path: string): boolean {
  const { mounts, endpoints } = site.facts();
  const declared = [
    ...mounts.flatMap(({ resource, permissions }) => [
      ...(permissions.list === undefined ? [] : [resource.path]),
      ...(permissions.read === undefined ? [] : [`${resource.path}/{id}`]),
    ]),
    ...endpoints.filter(({ method }) => method === "GET").map((each) => each.path),
  ];
  return declared.some((each) => fits(splitPath(each), splitPath(path)));
}

/** Returns the caller's offers at the named paths directly below a path, such as `/users/1/keys`, GET first. */
export async function offersBelow(site: Site, view: View, path: string): Promise<readonly (readonly Offer[])[]> {
  const parts = splitPath(path);
  const names = site.facts().endpoints.flatMap(({ path: declared }) => {
    const all = splitPath(declared);
    const last = all.at(-1) ?? "";
    return !last.startsWith("{") && all.length === parts.length + 1 && fits(all.slice(0, -1), parts) ? [last] : [];
  });
  const found = await Promise.all([...new Set(names)].map(async (name) => view.offers(`${path}/${name}`)));
  return found.filter((offers) => offers.length > 0).map((offers) => offers.toSorted(byReading));
}

function byReading(one: Offer, other: Offer): number {
  return Number(other.method === "GET") - Number(one.method === "GET");
}

/** Returns the parts of a path. */
export function splitPath(path: string): readonly string[] {
  return path.split("/").filter((part) => part !== "");
}

/** Returns true if the parts of a path fit those of a declared path. */
export function fits(declared: readonly string[], parts: readonly string[]): boolean {
  return declared.length === parts.length && declared.every((part, at) => part.startsWith("{") || part === parts[at]);
}
