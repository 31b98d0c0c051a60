import type { Endpoint } from "../endpoint.ts";
import type { MountedFacts } from "../exchange.ts";
import { create, remove, replace, update } from "./changing.ts";
import { list } from "./listing.ts";
import type { MountInPlace, ResourceAction } from "./mount.ts";
import { read } from "./reading.ts";

const MEDIA_TYPES = ["application/json", "application/xml"];
const PATCH_TYPES = [
  "application/merge-patch+json",
  "application/json-patch+json",
  "application/json",
  "application/xml",
];

/** An endpoint whose handler narrows rows. */
type MountedEndpoint = Endpoint & MountedFacts;

/** The endpoints of a mounted resource. */
export function endpointsOf(placed: MountInPlace): readonly MountedEndpoint[] {
  const { path } = placed.resource;
  const one = `${path}/{id}`;
  const { permissions } = placed;
  const endpoints: MountedEndpoint[] = [];
  const offer = (action: ResourceAction, endpoint: Omit<Endpoint, "access" | "action">): void => {
    const access = permissions[action];
    if (access !== undefined) endpoints.push({ ...endpoint, action, access, rows: placed.collection });
  };
  offer("list", { method: "GET", path, query: "read", handle: (exchange) => list(placed, exchange) });
  const weighed = { preconditions: "weighed by the handler" } as const;
  offer("create", {
    ...weighed,
    method: "POST",
    repeatable: true,
    path,
    consumes: MEDIA_TYPES,
    handle: (exchange) => create(placed, exchange),
  });
  offer("read", { method: "GET", path: one, query: "read", handle: (exchange) => read(placed, exchange) });
  offer("replace", {
    ...weighed,
    method: "PUT",
    path: one,
    consumes: MEDIA_TYPES,
    handle: (exchange) => replace(placed, exchange),
  });
  offer("update", {
    ...weighed,
    method: "PATCH",
    repeatable: true,
    path: one,
    consumes: PATCH_TYPES,
    handle: (exchange) => update(placed, exchange),
  });
  offer("delete", { ...weighed, method: "DELETE", path: one, handle: (exchange) => remove(placed, exchange) });
  return endpoints;
}
