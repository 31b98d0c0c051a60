import type { Service } from "../door/index.ts";

/** One route, for the operator of the service. */
export interface ListedRoute {
  readonly method: string;
  readonly path: string;
  /** The name of its permission. `open` if no credential is read. */
  readonly permission: string;
  /** The schemes that identify the caller. */
  readonly schemes: readonly string[];
}

/** Lists all routes of a service: sorted by path, with the methods in their declared order. */
export function listRoutes({
  routes,
  basePath,
  schemes,
}: Pick<Service, "routes" | "basePath" | "schemes">): readonly ListedRoute[] {
  // Two may have the same name, like the kinds of API tokens.
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
