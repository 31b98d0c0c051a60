import type { Condition } from "../../../resource/conditions.ts";
import type { Filter } from "../../../resource/query.ts";
import type { Key, Value, Where } from "../../../store/store.ts";
import { selectedBy, type Link } from "../links.ts";

/** The rows that filters ask for; null: all. One that stands more than once means either value. */
export function whereOf(links: readonly Link[], filters: readonly Filter[]): Where | null {
  const groups: Filter[][] = [];
  for (const filter of filters) {
    const group = groups.find(([first]) => first!.field === filter.field && first!.operator === filter.operator);
    if (group === undefined) groups.push([filter]);
    else group.push(filter);
  }
  return allOf(groups.map((same) => eitherOf(links, same)));
}

/** The rows that a condition of a query asks for. */
export function whereIn(links: readonly Link[], condition: Condition): Where {
  const within = (each: Condition): Where => whereIn(links, each);
  if ("all" in condition) return { all: condition.all.map(within) };
  if ("any" in condition) return { any: condition.any.map(within) };
  return "not" in condition ? { not: within(condition.not) } : eitherOf(links, [condition]);
}

export function allOf(conditions: readonly Where[]): Where | null {
  return conditions.length === 0 ? null : conditions.length === 1 ? conditions[0]! : { all: conditions };
}

function eitherOf(links: readonly Link[], same: readonly Filter[]): Where {
  const { field: column, operator } = same[0]!;
  const link = links.find(({ field }) => field === column);
  if (link !== undefined) return selectedBy(link, [...new Set(same.flatMap(({ value }) => value as Key | Key[]))]);
  if (operator === "eq" || operator === "in") {
    const values = [...new Set(same.flatMap(({ value }) => value))];
    // One of one value is that value, which an index finds in whatever order.
    return values.length === 1
      ? { column, operator: "eq", value: values[0]! }
      : { column, operator: "in", value: values };
  }
  const either = same.map(({ value }): Where => ({ column, operator, value: value as Value }));
  return either.length === 1 ? either[0]! : { any: either };
}
