/** Every way in which a field, or the column that keeps it, can be compared with a value. */
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

/** How it is compared. */
export type Operator = (typeof everyOperator)[number];

/** The operators that compare by order. Booleans have none. */
export const orderOperators = ["lt", "lte", "gt", "gte"] as const satisfies readonly Operator[];

/** One of them. */
export type OrderOperator = (typeof orderOperators)[number];

/** They look at a part of a text, which need not be one that could be stored. */
export const textOperators: ReadonlySet<Operator> = new Set(["contains", "starts", "icontains", "istarts"]);
