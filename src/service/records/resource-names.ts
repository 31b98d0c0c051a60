import type { ServedMount } from "../../door/resources.ts";

/** Returns the name of a resource in commands: `orders`, and `orders/items` for a nested one. */
export function formatResourceName({ resource }: ServedMount): string {
  return resource.path.slice(1).replaceAll(/\{\w+\}\//g, "");
}

/** Returns the path parameters of a collection, outermost first: `order_id`. */
export function listPathParameters({ resource }: ServedMount): readonly string[] {
  return [...resource.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
}
