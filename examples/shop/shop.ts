import {
  administrator,
  anyOf,
  anyone,
  authenticated,
  caller,
  decimal,
  defineResource,
  enumeration,
  integer,
  mount,
  owner,
  problem,
  readOnly,
  reference,
  self,
  text,
} from "latchkey";
import { defineUsers, hasRole } from "latchkey/auth";

/** The people of the shop: they see the customers and their orders. */
const staff = anyOf(administrator, hasRole("clerk"));

export const users = defineUsers({
  roles: ["user", "clerk", "admin"],
  permissions: { list: anyOf(staff, self()), read: anyOf(staff, self()) },
});

export const products = defineResource({
  name: "product",
  description: "What the shop sells.",
  fields: {
    name: text({ maxLength: 200 }),
    price: decimal({ scale: 2, minimum: "0.01", maximum: "99999.99" }),
  },
  filters: { price: ["lte", "gte"] },
  sorts: ["name", "price"],
  search: ["name"],
  scans: true, // a small shop may read all of its products to answer one list
});

export const reviews = defineResource({
  name: "review",
  within: products,
  fields: {
    author_id: reference("users", { default: caller, onDelete: "cascade" }),
    stars: integer({ minimum: 1, maximum: 5 }),
    text: text({ maxLength: 5000, optional: true }),
  },
  sorts: ["stars"],
  scans: true,
});

export const orders = defineResource({
  name: "order",
  description: "What customers have bought.",
  fields: {
    customer_id: reference("users", { default: caller, onDelete: "cascade" }),
    product_id: reference(products),
    quantity: integer({ minimum: 1, maximum: 100, default: 1 }),
    status: enumeration(["open", "sent", "cancelled"], { default: "open", readOnly: true }),
  },
  filters: { status: ["eq"] },
  scans: true,
});

const mountedReviews = mount(reviews, {
  // A caller who may read a product may review it, without permission to change it.
  writers: "readers",
  permission: {
    list: anyone,
    read: anyone,
    create: authenticated,
    update: owner("author_id"),
    delete: anyOf(administrator, owner("author_id")),
  },
});

export const mounts = [
  mount(products, { permission: anyOf(readOnly, administrator), expand: { reviews: mountedReviews } }),
  mountedReviews,
  mount(orders, {
    permission: {
      list: anyOf(staff, owner("customer_id")),
      read: anyOf(staff, owner("customer_id")),
      create: owner("customer_id"),
    },
    expand: { customer: "customer_id" },
    actions: {
      cancel: {
        permission: owner("customer_id"),
        description: "Cancels an order that has not been sent",
        problems: ["conflict"],
        handle({ record }) {
          if (record.status !== "open") throw problem("conflict", { detail: `The order is ${record.status}.` });
          return { values: { status: "cancelled" } };
        },
      },
      send: {
        permission: staff,
        problems: ["conflict"],
        handle({ record }) {
          if (record.status !== "open") throw problem("conflict", { detail: `The order is ${record.status}.` });
          return { values: { status: "sent" } };
        },
      },
    },
  }),
];
