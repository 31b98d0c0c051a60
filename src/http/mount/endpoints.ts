import type { Reply } from "../../core/call/call.ts";
import type { Eventually } from "../../core/eventually.ts";
import { isRequired } from "../../resource/declaration/field.ts";
import type { StoredRecord } from "../../store/store.ts";
import { requireMediaType } from "../body/intake.ts";
import type { ServedAction } from "../declarations/action.ts";
import type { Deferral } from "../declarations/deferral.ts";
import type { Endpoint, ServedEndpoint } from "../declarations/endpoint.ts";
import type { Mount, ServedMount, ResourceAction } from "../declarations/mount.ts";
import { formType } from "../formats/form.ts";
import { getExchange, type Context, type Exchange } from "../request/exchange.ts";
import { act } from "./acting.ts";
import { list } from "./reads/listing.ts";
import { query } from "./reads/querying.ts";
import { read } from "./reads/reading.ts";
import { collectRules, seenAt } from "./seen-by.ts";
import { create, remove, replace, update } from "./writes/changing.ts";
import { updateAll } from "./writes/updating-all.ts";

const MEDIA_TYPES = ["application/json", "application/xml"];
const PATCH_TYPES = [
  "application/merge-patch+json",
  "application/json-patch+json",
  "application/json",
  "application/xml",
];

/** Returns the additional endpoints and the endpoints of the mounts. The mounts are not linked to their parents yet. */
export function buildServedEndpoints({
  mounts = [],
  endpoints = [],
}: {
  readonly mounts?: readonly Mount[];
  readonly endpoints?: readonly Endpoint[];
}): readonly Pick<ServedEndpoint, "method" | "path" | "access" | "action" | "logsIn" | "mounted">[] {
  return [
    ...endpoints,
    ...mounts.flatMap((each) =>
      buildEndpoints({ ...each, parent: null, newer: null, relations: [], listedBy: [], referrers: [] }),
    ),
  ];
}

/** Returns the endpoints of a mounted resource. */
export function buildEndpoints(mount: ServedMount): readonly ServedEndpoint[] {
  const { path } = mount.resource;
  const one = `${path}/{id}`;
  const { permissions, deprecations } = mount;
  const hasRules = collectRules(mount).length > 0;
  const endpoints: ServedEndpoint[] = [];
  const offer = (
    action: ResourceAction,
    handle: (served: ServedMount, exchange: Exchange) => Eventually<Reply>,
    endpoint: Omit<ServedEndpoint, "access" | "action" | "handle">,
  ): void => {
    const access = permissions[action];
    if (access === undefined) return;
    const common = { action, access, deprecations, rows: mount, mounted: mount };
    endpoints.push({
      ...endpoint,
      ...common,
      handle: hasRules
        ? (context) => handle(seenAt(mount, getExchange(context)), getExchange(context))
        : (context) => handle(mount, getExchange(context)),
    });
  };
  offer("list", list, { method: "GET", path, query: "read" });
  offer("list", query, { method: "QUERY", path, query: "read", consumes: ["application/json"] });
  const weighed = { preconditions: "handler" } as const;
  const repeatableWrite = { ...weighed, repeatable: true } as const;
  if (mount.once !== null)
    offer("create", create, { ...weighed, ...buildIssuingFacts(mount), method: "POST", path, consumes: MEDIA_TYPES });
  else if (mount.deferral === null)
    offer("create", create, { ...repeatableWrite, method: "POST", path, consumes: MEDIA_TYPES });
  else
    offer("create", createOrDefer(mount.deferral), {
      ...repeatableWrite,
      method: "POST",
      path,
      ...buildDeferredFacts(mount.deferral),
    });
  if (mount.arrays)
    offer("update", updateAll, {
      ...repeatableWrite,
      method: "PATCH",
      path,
      consumes: ["application/merge-patch+json", "application/json"],
    });
  offer("read", read, { method: "GET", path: one, query: "read" });
  offer("replace", replace, { ...weighed, method: "PUT", path: one, consumes: MEDIA_TYPES });
  offer("update", update, { ...repeatableWrite, method: "PATCH", path: one, consumes: PATCH_TYPES });
  offer("delete", remove, { ...weighed, method: "DELETE", path: one });
  for (const action of mount.actions) endpoints.push(endpointOfAction(mount, action));
  return endpoints;
}

/** Returns the facts of an endpoint that shows a value once. Without `repeatable`, it refuses `Idempotency-Key`. */
function buildIssuingFacts({ guard }: ServedMount): Pick<ServedEndpoint, "logsIn" | "guard"> {
  return { logsIn: true, ...(guard === null ? {} : { guard }) };
}

function createOrDefer(deferral: Deferral): typeof create {
  return async (mount, exchange) =>
    exchange.identity === null ? deferral.handle(exchange.context, mount.resource) : create(mount, exchange);
}

function buildDeferredFacts({ guard }: Deferral): Pick<ServedEndpoint, "consumes" | "guard"> {
  return {
    consumes: [...MEDIA_TYPES, formType],
    guard(context) {
      if (context.identity === null) guard(context);
      // A request with a credential creates the record at once, and does not accept forms.
      else if (getExchange(context).sentForm === null) requireMediaType(getExchange(context), MEDIA_TYPES);
    },
  };
}

/** Returns the endpoint of an action: on the record, or on the collection. */
function endpointOfAction(mount: ServedMount, action: ServedAction): ServedEndpoint {
  const { name, on, method, permission, body } = action;
  const { path } = mount.resource;
  const common = {
    mounted: mount,
    own: action,
    deprecations: [...mount.deprecations, ...action.deprecations],
    method,
    path: on === "record" ? `${path}/{id}/${name}` : `${path}/${name}`,
    access: permission,
    ...(on === "record" ? { rows: mount } : {}),
    preconditions: "handler",
    handle: (context: Context) => actInShape(seenAt(mount, getExchange(context)), action, context),
  } as const;
  if (method === "GET") return common;
  const bodyOptional = !Object.values(body.fields).some(isRequired);
  return { ...common, consumes: MEDIA_TYPES, bodyOptional, repeatable: true };
}

/**
 * Runs an action. In an older shape (an earlier form of the resource), it runs the action of the newer shape. If the
 * action answers with the record, the response shows it in the requested shape.
 */
async function actInShape(mount: ServedMount, action: ServedAction, context: Context): Promise<Reply> {
  const { newer, resource, show, jsonMembers } = mount;
  if (newer === null) return act(mount, action, getExchange(context));
  const reply = await act(newer, action, getExchange(context));
  if (action.answer !== "record" || reply.body?.kind !== "data") return reply;
  const value = show(reply.body.value as StoredRecord);
  return { ...reply, body: { kind: "data", value, element: resource.name, jsonMembers } };
}

/**
 * Reads one record for a custom GET endpoint. The id is `id` in its path. Ends the request with 404 if the permission
 * does not show the record.
 */
export function readRecord(mount: ServedMount, context: Context): Eventually<Reply> {
  const exchange = getExchange(context);
  return read(seenAt(mount, exchange), exchange);
}

/**
 * Updates one record for a custom PATCH endpoint. The id is `id` in its path. Preconditions, hooks and problems are
 * those of the mount.
 */
export function updateRecord(mount: ServedMount, context: Context): Promise<Reply> {
  const exchange = getExchange(context);
  return update(seenAt(mount, exchange), exchange);
}
