import {
  administrator,
  anyOf,
  authenticated,
  caller,
  dateTime,
  decimal,
  defineResource,
  enumeration,
  integer,
  mount,
  owner,
  reference,
  text,
} from "../../door/index.ts";

/** Orders: the worked example of a resource with an owner. */
export const orders = defineResource({
  name: "order",
  description: "What a user has ordered.",
  fields: {
    user_id: reference("users", {
      default: caller,
      description: "The user whose order it is. Default: the caller.",
    }),
    status: enumeration(["open", "paid", "cancelled"], {
      default: "open",
      tones: { open: "accent", paid: "good" },
    }),
    created_at: dateTime({ label: "Ordered", generated: ({ now }) => new Date(now).toISOString() }),
  },
  filters: { id: ["eq", "in"], user_id: ["eq"], status: ["eq", "in"], created_at: ["lt", "lte", "gt", "gte"] },
  sorts: ["created_at", "status"],
  scans: true,
});

/** The items of an order: the worked example of a resource within another. */
export const items = defineResource({
  name: "item",
  within: orders,
  description: "One line of an order.",
  fields: {
    product: text({ maxLength: 200, example: "Brass key" }),
    quantity: integer({ minimum: 1, maximum: 1_000_000, example: 2 }),
    unit_price: decimal({ scale: 2, maximum: "9999999999.99", example: "12.50" }),
  },
  filters: { id: ["eq", "in"], product: ["eq", "starts", "contains"], quantity: ["eq", "lt", "lte", "gt", "gte"] },
  sorts: ["product", "quantity", "unit_price"],
  search: ["product"],
  scans: true,
});

/** A caller who may access an order may access its items. */
export const mountedItems = mount(items, {
  arrays: true,
  permission: authenticated,
});

export const mountedOrders = mount(orders, {
  arrays: true,
  permission: anyOf(administrator, owner("user_id")),
  expand: { user: "user_id", items: mountedItems },
});
