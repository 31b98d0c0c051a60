import type { Eventually } from "../../eventually.ts";
import { isRequired } from "../../resource/field.ts";
import type { Reply } from "../call.ts";
import type { ServedEndpoint } from "../endpoint.ts";
import { exchangeOf, type Context } from "../exchange.ts";
import { act } from "./acting.ts";
import type { ServedAction } from "./action.ts";
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

/** The endpoints of a mounted resource. */
export function endpointsOf(placed: MountInPlace): readonly ServedEndpoint[] {
  const { path } = placed.resource;
  const one = `${path}/{id}`;
  const { permissions } = placed;
  const endpoints: ServedEndpoint[] = [];
  const offer = (action: ResourceAction, endpoint: Omit<ServedEndpoint, "access" | "action">): void => {
    const access = permissions[action];
    if (access !== undefined) endpoints.push({ ...endpoint, action, access, rows: placed.collection });
  };
  offer("list", { method: "GET", path, query: "read", handle: (context) => list(placed, exchangeOf(context)) });
  const weighed = { preconditions: "weighed by the handler" } as const;
  offer("create", {
    ...weighed,
    method: "POST",
    repeatable: true,
    path,
    consumes: MEDIA_TYPES,
    handle: (context) => create(placed, exchangeOf(context)),
  });
  offer("read", { method: "GET", path: one, query: "read", handle: (context) => read(placed, exchangeOf(context)) });
  offer("replace", {
    ...weighed,
    method: "PUT",
    path: one,
    consumes: MEDIA_TYPES,
    handle: (context) => replace(placed, exchangeOf(context)),
  });
  offer("update", {
    ...weighed,
    method: "PATCH",
    repeatable: true,
    path: one,
    consumes: PATCH_TYPES,
    handle: (context) => update(placed, exchangeOf(context)),
  });
  offer("delete", {
    ...weighed,
    method: "DELETE",
    path: one,
    handle: (context) => remove(placed, exchangeOf(context)),
  });
  for (const action of placed.actions) endpoints.push(endpointOfAction(placed, action));
  return endpoints;
}

/** The endpoint of an action: on the record, or on the collection. */
function endpointOfAction(placed: MountInPlace, action: ServedAction): ServedEndpoint {
  const { name, on, method, permission, body } = action;
  const { path } = placed.resource;
  const common = {
    method,
    path: on === "record" ? `${path}/{id}/${name}` : `${path}/${name}`,
    access: permission,
    ...(on === "record" ? { rows: placed.collection } : {}),
    preconditions: "weighed by the handler",
    handle: (context: Context) => act(placed, action, exchangeOf(context)),
  } as const;
  if (method === "GET") return common;
  const bodyOptional = !Object.values(body.fields).some(isRequired);
  return { ...common, consumes: MEDIA_TYPES, bodyOptional, repeatable: true };
}

/** GET of one record, for an endpoint of one's own. */
export function readRecord(placed: MountInPlace, context: Context): Eventually<Reply> {
  return read(placed, exchangeOf(context));
}

/** PATCH of one record, for an endpoint of one's own. */
export function updateRecord(placed: MountInPlace, context: Context): Promise<Reply> {
  return update(placed, exchangeOf(context));
}
