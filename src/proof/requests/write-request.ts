import type { ServedMount } from "../../http/declarations/mount.ts";
import { isStored } from "../../resource/declaration/field.ts";
import type { StoredRecord, Value } from "../../store/store.ts";
import type { ProveRequest } from "../asking/request.ts";
import type { Actor } from "../content/actors.ts";
import type { Sight } from "../judging/sight.ts";
import type { World } from "../world/world.ts";
import { rowPath } from "./rows.ts";

/** A request that may change rows of a mount. */
export interface WriteRequest extends ProveRequest {
  readonly mount: ServedMount;
  readonly action: "create" | "update" | "replace" | "delete";
  /** The row in the path. Null if it is new. */
  readonly row: StoredRecord | null;
  /** The marks of sent values, by the field that they were sent for. */
  readonly marks: ReadonlyMap<string, string>;
  /** The fields in the body, by their names in the newer shape. */
  readonly fields: readonly string[];
  /** True if the declarations allow the row, its parent and the sent fields. */
  readonly isAllowed?: boolean;
  /** True if the request succeeds only if a value in it is that of a hidden field. */
  readonly isGuess?: boolean;
  /** The same request within a parent that does not exist, if the actor may not read the parent. */
  readonly missingPath?: string;
  /** The place in an array of a change that is allowed, beside one that is not. */
  readonly allowedAt?: number;
}

/** The parts that the writes of an actor to a mount are made of. */
export interface Writes {
  readonly world: World;
  readonly actor: Actor;
  readonly mount: ServedMount;
  readonly newer: ServedMount;
  readonly sight: Sight;
  readonly rows: readonly StoredRecord[];
}

/** The parts of a request that differ from try to try. */
export type Sent = Pick<ProveRequest, "method" | "body" | "headers"> &
  Partial<Pick<WriteRequest, "marks" | "fields" | "path" | "isAllowed" | "missingPath">>;

/** Makes a request. */
export function write(
  { world, actor, mount }: Writes,
  action: WriteRequest["action"],
  row: StoredRecord | null,
  sent: Sent,
): WriteRequest {
  const { path } = mount.resource;
  return {
    actor,
    mount,
    action,
    row,
    route: row === null ? path : `${path}/{id}`,
    path: row === null ? path : rowPath(mount, row, world.state()),
    marks: new Map(),
    fields: [],
    ...sent,
  };
}

/** Returns true if the declarations allow the action on the row, within its parent. */
export function isAllowed(
  { sight, newer }: Pick<Writes, "sight" | "newer">,
  action: WriteRequest["action"],
  row: StoredRecord,
): boolean {
  return sight.may(action, newer, row) && sight.mayWriteWithin(newer, row);
}

/** Returns true if a reference leads to users. */
export function isUserReference(resource: string | undefined): boolean {
  return resource === "users" || resource === "accounts";
}

/** Returns the fields that the actor may not send, each with a value. */
export function forbiddenFields(
  { world, mount, newer, sight }: Writes,
  row: StoredRecord | null,
): readonly (readonly [string, Value])[] {
  return Object.entries(mount.resource.fields).flatMap(([name, field]): readonly (readonly [string, Value])[] => {
    const from = mount.older?.members.get(name)?.from ?? name;
    if (!isStored(field) || sight.mayWriteField(newer, from, row)) return [];
    const stored = row?.[from];
    const drawn = world.values.draw(field, 1);
    const other = drawn?.value === stored ? world.values.draw(field, 2) : drawn;
    // A caller may send the stored value again.
    return other === null || other.value === stored ? [] : [[name, other.value]];
  });
}

/** Returns the names of sent fields in the newer shape. */
export function namesIn({ older }: ServedMount, body: object): readonly string[] {
  return Object.keys(body).map((name) => older?.members.get(name)?.from ?? name);
}
