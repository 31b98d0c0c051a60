import type { QueryCondition } from "../../../resource/conditions.ts";
import type { Filter } from "../../../resource/query.ts";
import type { Key, Value, Where } from "../../../store/store.ts";
import { buildLinkedRows } from "../../declarations/links.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import { convertFilter } from "../older/translating.ts";

/** The part of a mount that filters need, also in an older shape. */
type Filtered = Pick<ServedMount, "links" | "older">;

/**
 * Returns the condition for filters. Returns null if there are none. If the same field and operator are given twice, a
 * row must match one of the two values.
 */
export function buildWhere(mount: Filtered, filters: readonly Filter[]): Where | null {
  const groups: Filter[][] = [];
  for (const each of filters) {
    const filter = convertFilter(mount, each);
    const group = groups.find(([first]) => first!.field === filter.field && first!.operator === filter.operator);
    if (group === undefined) groups.push([filter]);
    else group.push(filter);
  }
  return combineAll(groups.map((same) => buildEither(mount, same)));
}

/** Converts a condition of a query body to a condition of the store. */
export function convertCondition(mount: Filtered, condition: QueryCondition): Where {
  const within = (each: QueryCondition): Where => convertCondition(mount, each);
  if ("all" in condition) return { all: condition.all.map(within) };
  if ("any" in condition) return { any: condition.any.map(within) };
  return "not" in condition ? { not: within(condition.not) } : buildEither(mount, [convertFilter(mount, condition)]);
}

/**
 * Returns a condition that a record matches if it matches all of these conditions. Null means no restriction, in the
 * parameters and in the result.
 */
export function combineAll<W extends Where>(
  conditions: readonly (W | null)[],
): W | { readonly all: readonly W[] } | null {
  const [first = null, ...others] = conditions.filter((each) => each !== null);
  return first === null || others.length === 0 ? first : { all: [first, ...others] };
}

function buildEither({ links }: Filtered, same: readonly Filter[]): Where {
  const { field: column, operator } = same[0]!;
  const link = links.find(({ field }) => field === column);
  if (link !== undefined) return buildLinkedRows(link, [...new Set(same.flatMap(({ value }) => value as Key | Key[]))]);
  if (operator === "eq" || operator === "in") {
    const values = [...new Set(same.flatMap(({ value }) => value))];
    // `in` with one value becomes `eq`, because only `eq` can use an index together with an order.
    return values.length === 1
      ? { column, operator: "eq", value: values[0]! }
      : { column, operator: "in", value: values };
  }
  const either = same.map(({ value }): Where => ({ column, operator, value: value as Value }));
  return either.length === 1 ? either[0]! : { any: either };
}
