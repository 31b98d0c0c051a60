import type { ServedAction } from "../../http/declarations/action.ts";
import type { ServedEndpoint } from "../../http/declarations/endpoint.ts";
import type { ServedMount } from "../../http/declarations/mount.ts";
import type { Field } from "../../resource/declaration/field.ts";
import type { StoredRecord } from "../../store/store.ts";
import type { ProveRequest } from "../asking/request.ts";
import type { Actor } from "../content/actors.ts";
import type { World } from "../world/world.ts";
import { drawQueries, fillWithRows } from "./endpoint-paths.ts";
import { namedIds } from "./naming.ts";
import { chooseFew, collectionPath, rowPath, rowsOf } from "./rows.ts";
import { schemaBodies } from "./schema-bodies.ts";

/** A request to an action or to an endpoint of the project, which may change any row. */
export interface CallRequest extends ProveRequest {
  /** The action, its mount and its row. Null: an endpoint of the project. */
  readonly called: {
    readonly action: ServedAction;
    readonly mount: ServedMount;
    readonly row: StoredRecord | null;
  } | null;
}

/** The rows of each kind to which an action is applied. */
const SEEN_ROWS = 1;
const HIDDEN_ROWS = 3;
/** The paths of one endpoint that are asked. */
const MOST_PATHS = 12;

/** Returns the calls of the actions of a mount that may change something. */
export function* drawActions(world: World, actor: Actor, mount: ServedMount): Generator<CallRequest> {
  const sight = world.sightOf(actor);
  const state = world.state();
  const newer = mount.newer ?? mount;
  const rows = rowsOf(state, mount);
  const seen = rows.filter((row) => sight.mayRead(newer, row));
  const chosen = [
    ...chooseFew(seen, SEEN_ROWS + 1),
    ...chooseFew(
      rows.filter((row) => !seen.includes(row)),
      HIDDEN_ROWS,
    ),
  ];
  for (const action of mount.actions) {
    if (action.method === "GET") continue;
    const { name, on, reveals } = action;
    const bodies = actionBodies(world, action, mount.resource.path);
    for (const row of on === "record" ? chosen : chosen.slice(0, 1))
      for (const body of bodies)
        yield {
          actor,
          method: "POST",
          path: `${on === "record" ? rowPath(mount, row, state) : collectionPath(mount, row, state)}/${name}`,
          route: `${mount.resource.path}${on === "record" ? "/{id}" : ""}/${name}`,
          reveals,
          ...(body === null ? {} : { body }),
          isWrittenByCode: action.answer !== "record",
          called: { action, mount: newer, row: on === "record" ? row : null },
        };
  }
}

/** Returns the bodies of an action: one for each record that a reference in it may name. */
function actionBodies(
  world: World,
  { body }: ServedAction,
  path: string,
): readonly (Readonly<Record<string, unknown>> | null)[] {
  const fields = Object.entries(body.fields);
  if (fields.length === 0) return [null];
  const drawn = Object.fromEntries(fields.map(([name, field]) => [name, world.values.draw(field, 0)?.value]));
  const named = fields.flatMap(([name, field]) => {
    const ids = idsFor(world, path, name, field);
    return ids.length === 0 ? [] : [[name, ids] as const];
  });
  const [first, ...others] = named;
  if (first === undefined) return [drawn];
  const whole = { ...drawn, ...Object.fromEntries(others.map(([name, [id]]) => [name, id])) };
  const [name, ids] = first;
  return ids.map((id) => ({ ...whole, [name]: id }));
}

/** Returns the values of a member that names records: by its reference, or by its name. A list has one of them. */
function idsFor(world: World, path: string, name: string, { kind }: Field): readonly unknown[] {
  const table = kind.references?.resource.replaceAll("-", "_");
  if (table !== undefined) {
    const ids = [...(world.state().get(table)?.keys() ?? [])];
    return ids.length <= 4 ? ids : [ids[0], ids[1], ids[Math.floor(ids.length / 2)], ids.at(-1)];
  }
  const { type, items } = kind.schema as { readonly type?: unknown; readonly items?: { readonly type?: unknown } };
  const wanted = type === "array" ? items?.type : type;
  const ids = namedIds(world, name, path).filter((id) => wanted === (typeof id === "number" ? "integer" : "string"));
  return type === "array" ? ids.map((id) => [id]) : ids;
}

/** Returns the requests to the endpoints of the project that may change something. */
export function* drawEndpoints(world: World, actor: Actor): Generator<CallRequest> {
  for (const { methods } of world.service.routes)
    for (const endpoint of methods.values()) {
      if (endpoint.method === "GET" || endpoint.mounted !== undefined || endpoint.isBuiltIn === true) continue;
      yield* endpointCalls(world, actor, endpoint);
    }
}

function* endpointCalls(world: World, actor: Actor, endpoint: ServedEndpoint): Generator<CallRequest> {
  const { path, method, query = "none", reveals = [] } = endpoint;
  const [first, ...others] = fillWithRows(world, path);
  if (first === undefined) return;
  const base = { actor, method, route: path, reveals, isWrittenByCode: true, called: null };
  const bodies = [...schemaBodies(world, endpoint)];
  const pairs = [
    ...bodies.map((sent) => [first, sent] as const),
    ...chooseEvenly(others, MOST_PATHS).map((filled) => [filled, bodies[0]!] as const),
  ];
  for (const [{ path: filled, named }, { body, ...sent }] of pairs)
    yield { ...base, ...sent, path: filled, named, ...(body === null ? {} : { body }) };
  if (!["read", "secret"].includes(query)) return;
  const { body = null } = bodies[0] ?? {};
  for (const each of drawQueries(world, path))
    yield { ...base, path: `${first.path}?${each}`, ...(body === null ? {} : { body }), isGuessed: true };
}

function chooseEvenly<T>(all: readonly T[], most: number): readonly T[] {
  return all.length <= most ? all : Array.from({ length: most }, (_, at) => all[Math.floor((at * all.length) / most)]!);
}
