import type { Service } from "../door/index.ts";

/** One route, as whoever runs the service sees it. */
export interface ListedRoute {
  readonly method: string;
  readonly path: string;
  /** Who may: the permission by its name; `open` where no credential is looked at. */
  readonly permission: string;
  /** The schemes that are asked who is calling. */
  readonly schemes: readonly string[];
}

/** Every route of a service: in the order of the paths, and its methods as they are declared. */
export function listRoutes({
  routes,
  basePath,
  schemes,
}: Pick<Service, "routes" | "basePath" | "schemes">): readonly ListedRoute[] {
  // Two may have one name, as the kinds of API tokens do.
  const names = [...new Set(schemes.map(({ name }) => name))].toSorted();
  return routes
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
    .flatMap(({ path, methods }) =>
      [...methods.values()].map(({ method, access }) => ({
        method,
        path: basePath + path,
        permission: access === "open" ? "open" : access.name,
        schemes: access === "open" ? [] : names,
      })),
    );
}
