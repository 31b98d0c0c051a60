import type { ServedAction } from "../../http/declarations/action.ts";
import type { ServedEndpoint } from "../../http/declarations/endpoint.ts";
import type { ServedMount } from "../../http/declarations/mount.ts";
import type { Field } from "../../resource/declaration/field.ts";
import { createRandom } from "../../resource/drawing/random.ts";
import { drawValue } from "../../resource/drawing/values.ts";
import type { StoredRecord } from "../../store/store.ts";
import type { ProveRequest } from "../asking/request.ts";
import type { Actor } from "../content/actors.ts";
import type { World } from "../world/world.ts";
import { fillWithRows } from "./reads.ts";
import { chooseFew, collectionPath, rowPath, rowsOf } from "./rows.ts";

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
/** The paths of one endpoint that are asked, and the records that its body names. */
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
    const bodies = actionBodies(world, action);
    for (const row of on === "record" ? chosen : chosen.slice(0, 1))
      for (const body of bodies)
        yield {
          actor,
          method: "POST",
          path: `${on === "record" ? rowPath(mount, row, state) : collectionPath(mount, row, state)}/${name}`,
          route: `${mount.resource.path}${on === "record" ? "/{id}" : ""}/${name}`,
          reveals,
          ...(body === null ? {} : { body }),
          called: { action, mount: newer, row: on === "record" ? row : null },
        };
  }
}

/** Returns the bodies of an action: one for each record that a reference in it may name. */
function actionBodies(world: World, { body }: ServedAction): readonly (Readonly<Record<string, unknown>> | null)[] {
  const fields = Object.entries(body.fields);
  if (fields.length === 0) return [null];
  const drawn = Object.fromEntries(fields.map(([name, field]) => [name, world.values.draw(field, 0)?.value]));
  const references = fields.filter(
    ([name, field]) => field.kind.references !== undefined || namedMount(world, name) !== null,
  );
  const [reference] = references;
  if (reference === undefined) return [drawn];
  const [name, field] = reference;
  const table = field.kind.references?.resource.replaceAll("-", "_") ?? namedMount(world, name)!.collection.name;
  const ids = [...(world.state().get(table)?.keys() ?? [])];
  return (ids.length <= 4 ? ids : [ids[0], ids[1], ids[Math.floor(ids.length / 2)], ids.at(-1)]).map((id) => ({
    ...drawn,
    [name]: id,
  }));
}

function namedMount({ mounts }: World, name: string): ServedMount | null {
  return mounts.find(({ resource }) => name === `${resource.name}_id`) ?? null;
}

/** Returns the requests to the endpoints of the project that may change something. */
export function* drawEndpoints(world: World, actor: Actor): Generator<CallRequest> {
  for (const { path, methods } of world.service.routes)
    for (const endpoint of methods.values()) {
      if (endpoint.method === "GET" || endpoint.mounted !== undefined || endpoint.isBuiltIn === true) continue;
      const paths = fillWithRows(world, path);
      for (const filled of chooseEvenly(paths, MOST_PATHS))
        for (const body of endpointBodies(world, endpoint))
          yield {
            actor,
            method: endpoint.method,
            path: filled,
            route: path,
            reveals: endpoint.reveals ?? [],
            ...(body === null ? {} : { body }),
            called: null,
          };
    }
}

/** Returns the bodies that fit the schema of an endpoint: one for each record that a member may name. */
function endpointBodies(
  world: World,
  { reading, consumes }: ServedEndpoint,
): readonly (Readonly<Record<string, unknown>> | null)[] {
  const schema = reading?.schema ?? null;
  if (schema === null) return [consumes === undefined ? null : {}];
  const random = createRandom("body");
  const drawn = drawValue({ kind: { schema } } as unknown as Field, random) as Readonly<Record<string, unknown>>;
  const { properties = {} } = schema as { readonly properties?: Readonly<Record<string, unknown>> };
  const named = Object.keys(properties).flatMap((name) => {
    const mount = namedMount(world, name) ?? (name === "id" ? (world.mounts.at(-1) ?? null) : null);
    return mount === null ? [] : [[name, mount] as const];
  });
  const [first] = named;
  if (first === undefined) return [drawn];
  const [name, mount] = first;
  return chooseFew(rowsOf(world.state(), mount), 5).map((row) => ({ ...drawn, [name]: row["id"] }));
}

function chooseEvenly<T>(all: readonly T[], most: number): readonly T[] {
  return all.length <= most ? all : Array.from({ length: most }, (_, at) => all[Math.floor((at * all.length) / most)]!);
}
