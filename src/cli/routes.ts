import type { Service } from "../door/index.ts";

/** One method of a route, as `latchkey routes` lists it. */
export interface ListedRoute {
  readonly method: string;
  readonly path: string;
  /** The name of its permission. `open` if no credential is read. */
  readonly permission: string;
  /** The schemes that identify the caller. */
  readonly schemes: readonly string[];
}

/** Lists all routes of a service, sorted by path. The methods of a path are in their declared order. */
export function listRoutes({
  routes,
  basePath,
  schemes,
}: Pick<Service, "routes" | "basePath" | "schemes">): readonly ListedRoute[] {
  // Several schemes may have the same name, for example those of API tokens.
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
