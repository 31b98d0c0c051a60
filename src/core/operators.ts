/** All operators that compare a field, or its column, with a value. */
export const everyOperator = [
  "eq",
  "ne",
  "lt",
  "lte",
  "gt",
  "gte",
  "in",
  "contains",
  "starts",
  "icontains",
  "istarts",
  "null",
] as const;

/** One of the operators. */
export type Operator = (typeof everyOperator)[number];

/** The operators that compare by order. Booleans have none. */
export const orderOperators = ["lt", "lte", "gt", "gte"] as const satisfies readonly Operator[];

/** One of the operators that compare by order. */
export type OrderOperator = (typeof orderOperators)[number];

/** The operators on a part of a text. Such a part need not be a valid value. */
export const textOperators: ReadonlySet<Operator> = new Set(["contains", "starts", "icontains", "istarts"]);
