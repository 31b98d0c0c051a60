/** The parts of permissions that were made by `allOf` and `anyOf`. */
const combined = new WeakMap<object, { readonly of: "all" | "any"; readonly parts: readonly object[] }>();

/** Remembers the parts of a combined permission. Returns the permission. */
export function remember<P extends object>(permission: P, of: "all" | "any", parts: readonly object[]): P {
  combined.set(permission, { of, parts });
  return permission;
}

/** Returns how `allOf` or `anyOf` combined a permission. Returns null for any other permission. */
export function findCombination(
  permission: object,
): { readonly of: "all" | "any"; readonly parts: readonly object[] } | null {
  return combined.get(permission) ?? null;
}

/**
 * Returns true if each caller whom the first permission allows is allowed by the second one too. Looks only at the
 * parts of `allOf` and `anyOf`, so it may return false although it is true.
 */
export function implies(one: object, other: object): boolean {
  if (one === other) return true;
  const right = combined.get(other);
  if (right?.of === "all") return right.parts.every((part) => implies(one, part));
  const left = combined.get(one);
  if (left?.of === "any") return left.parts.every((part) => implies(part, other));
  if (right?.of === "any" && right.parts.some((part) => implies(one, part))) return true;
  return left?.of === "all" && left.parts.some((part) => implies(part, other));
}
