import type { MountInPlace } from "../../door/resources.ts";

/** A resource as commands name it: `orders`, and `orders/items` for what stands within it. */
export function nameOf({ resource }: MountInPlace): string {
  return resource.path.slice(1).replaceAll(/\{\w+\}\//g, "");
}

/** The parameters of the path of a collection, outermost first: `order_id`. */
export function placesOf({ resource }: MountInPlace): readonly string[] {
  return [...resource.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
}
