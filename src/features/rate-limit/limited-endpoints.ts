import { suggestion } from "../../core/checking/nearest.ts";
import type { Assembled } from "../../feature/feature.ts";
import { buildServedEndpoints } from "../../http/mount/endpoints.ts";
import type { LimitedEndpoint } from "../../http/request/limiting.ts";
import { pathShape } from "../../http/request/path.ts";
import type { RateLimit } from "./declaration.ts";

/** Caches the result of `appliesTo`, which never changes and which every request needs. */
const cache = new WeakMap<RateLimit, WeakMap<LimitedEndpoint, boolean>>();

/** Returns true if a limit counts the requests of an endpoint. */
export function appliesTo(limit: RateLimit, endpoint: LimitedEndpoint): boolean {
  let ofLimit = cache.get(limit);
  if (ofLimit === undefined) cache.set(limit, (ofLimit = new WeakMap<LimitedEndpoint, boolean>()));
  let applies = ofLimit.get(endpoint);
  if (applies === undefined) {
    const { settlesTo } = endpoint;
    applies = settlesTo === undefined ? isFor(limit, endpoint) : settlesTo.every((each) => appliesTo(limit, each));
    ofLimit.set(endpoint, applies);
  }
  return applies;
}

function isFor({ at, actions }: RateLimit, endpoint: LimitedEndpoint): boolean {
  const { action = "call", access, logsIn, mounted } = endpoint;
  if (actions !== undefined && !actions.includes(action)) return false;
  if (at === undefined) return access !== "open" || logsIn === true;
  return at.some((place) =>
    typeof place === "string"
      ? listNames(endpoint).includes(pathShape(place))
      : mounted?.resource === place || mounted?.newer?.resource === place,
  );
}

function listNames({ method, path }: Pick<LimitedEndpoint, "method" | "path">): readonly string[] {
  return [pathShape(path), pathShape(`${method} ${path}`)];
}

/**
 * Returns the mistakes of limits for endpoints that the service does not have, because such a limit would never count a
 * request.
 */
export function unservedPlaces(limits: readonly RateLimit[], all: Assembled): readonly string[] {
  const served = buildServedEndpoints(all);
  const names = [...new Set(served.map(({ method, path }) => `${method} ${path}`))];
  const paths = [...new Set(served.map(({ path }) => path))];
  return limits.flatMap(({ name, at = [] }) =>
    at.flatMap((place) => {
      const isThere =
        typeof place === "string"
          ? served.some((each) => listNames(each).includes(pathShape(place)))
          : all.mounts.some(({ resource }) => resource === place);
      if (isThere) return [];
      const placeName = typeof place === "string" ? place : place.path;
      return [
        `the limit ${name} is for ${placeName}, which is not served${suggestion(placeName, placeName.includes(" ") ? names : paths)}`,
      ];
    }),
  );
}
