import type { IdKind } from "../../resource/declaration/types.ts";
import type { ServedMount } from "./mount.ts";

/** A parameter of a path: an id, or one segment of text. */
export interface PathParameter {
  readonly name: string;
  readonly type: IdKind | "text";
}

/** Matches each parameter of a path: its name, and its type if given. */
export const PARAMETERS = /\{([a-z][a-z0-9_]*)(?::(text|uuid))?\}/g;

/**
 * Returns the parameters of a declared path: `{id}`, `{id:uuid}`, `{name:text}`. In the path of a mounted resource,
 * `{id}` has the type of the ids of the resource.
 */
export function collectParameters(path: string, mounted?: ServedMount): readonly PathParameter[] {
  return [...path.matchAll(PARAMETERS)].map(([, name = "", type]) => ({
    name,
    type: type === "text" || type === "uuid" ? type : idKindIn(mounted ?? null, name),
  }));
}

function idKindIn(mounted: ServedMount | null, name: string): IdKind {
  if (mounted === null) return "integer";
  if (name === "id") return mounted.resource.id;
  const { within, parentColumn } = mounted.resource;
  return name === parentColumn ? within!.id : idKindIn(mounted.parent, name);
}
