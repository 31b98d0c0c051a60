import findMyWay from "find-my-way";
import { problem } from "../../core/problem/problem.ts";
import { parseId } from "../../resource/ids.ts";
import { belowBasePath } from "../base-path.ts";
import { withoutFinalSlash } from "../request/path.ts";
import type { ServedEndpoint } from "./endpoint.ts";
import { collectParameters, PARAMETERS, type PathParameter } from "./parameters.ts";

/** The endpoints of a path. */
export interface Route {
  readonly path: string;
  readonly methods: ReadonlyMap<string, ServedEndpoint>;
  /** The value of `Allow`. */
  readonly allow: string;
  readonly parameters: readonly PathParameter[];
}

/** A route with the parameters of one path. */
export interface Match {
  readonly route: Route;
  readonly params: Readonly<Record<string, number | string>>;
}

/** Finds the route of a path. Returns null if there is none. */
export type FindRoute = (path: string) => Match | null;

const NO_PARAMS: Readonly<Record<string, never>> = Object.freeze({});

/** The route of `OPTIONS *`, which asks about the server as a whole (RFC 9110 §9.3.7). */
const SERVER: Match = {
  route: { path: "*", methods: new Map(), allow: "OPTIONS", parameters: [] },
  params: NO_PARAMS,
};

/** Builds the table of routes. Throws if two endpoints have the same method and path. */
export function makeRoutes(
  endpoints: readonly ServedEndpoint[],
  basePath: string,
): {
  readonly find: FindRoute;
  readonly all: readonly Route[];
} {
  const byPath = new Map<string, Map<string, ServedEndpoint>>();
  for (const endpoint of endpoints) {
    const path = withoutFinalSlash(endpoint.path);
    const methods = byPath.get(path) ?? new Map<string, ServedEndpoint>();
    if (methods.has(endpoint.method)) throw new TypeError(`${endpoint.method} ${endpoint.path} is declared twice.`);
    methods.set(endpoint.method, endpoint);
    byPath.set(path, methods);
  }
  const router = findMyWay({ ignoreTrailingSlash: true, maxParamLength: 200 });
  const all: Route[] = [];
  for (const [path, methods] of byPath) {
    const first = methods.values().next().value!;
    const route: Route = {
      path: first.path,
      methods,
      allow: formatAllow(methods),
      parameters: collectParameters(path, first.mounted),
    };
    all.push(route);
    router.on("GET", path.replaceAll(PARAMETERS, ":$1"), () => undefined, route);
  }
  return {
    all,
    find(whole) {
      if (whole === "*") return SERVER;
      const path = belowBasePath(whole, basePath);
      if (path === null) return null;
      const found = router.find("GET", path);
      if (found === null) return null;
      const route = found.store as Route;
      if (route.parameters.length === 0) return { route, params: NO_PARAMS };
      const params = readParams(route.parameters, found.params);
      return params === null ? null : { route, params };
    },
  };
}

/** Returns the endpoint for a method. `HEAD` uses the endpoint of `GET`. Returns undefined if there is none. */
export function findEndpoint(route: Route | undefined, method: string): ServedEndpoint | undefined {
  return route?.methods.get(method === "HEAD" ? "GET" : method);
}

/**
 * Returns the endpoint for a method. Returns null for `OPTIONS`, which every route answers. Ends the request with 405
 * for any other method.
 */
export function requireEndpoint(route: Route, method: string): ServedEndpoint | null {
  const endpoint = findEndpoint(route, method);
  if (endpoint !== undefined) return endpoint;
  if (method === "OPTIONS") return null;
  throw problem("method_not_allowed", {
    detail: `The method is not offered at this address. Those that are: ${route.allow}.`,
    headers: [["Allow", route.allow]],
  });
}

function formatAllow(methods: ReadonlyMap<string, ServedEndpoint>): string {
  const offered = ["GET", "HEAD", "QUERY", "POST", "PUT", "PATCH", "DELETE"].filter((method) =>
    methods.has(method === "HEAD" ? "GET" : method),
  );
  return [...offered, "OPTIONS"].join(", ");
}

function readParams(
  parameters: readonly PathParameter[],
  texts: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, number | string>> | null {
  const params: Record<string, number | string> = {};
  for (const { name, type } of parameters) {
    const text = texts[name] ?? "";
    const value = type === "text" ? text : parseId(text, type);
    if (value === null || value === "") return null;
    params[name] = value;
  }
  return params;
}
