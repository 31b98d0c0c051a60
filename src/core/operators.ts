/** All operators of filters and conditions. Each compares a column with a value. */
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

/** The operators that compare by order. Booleans have no order. */
export const orderOperators = ["lt", "lte", "gt", "gte"] as const satisfies readonly Operator[];

/** One of the operators that compare by order. */
export type OrderOperator = (typeof orderOperators)[number];

/** The operators that compare with a part of a text. The part need not be a valid value of the field. */
export const textOperators: ReadonlySet<Operator> = new Set(["contains", "starts", "icontains", "istarts"]);
