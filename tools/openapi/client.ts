// The code of a developer who has only the OpenAPI document. openapi-typescript made its types. A test checks the types
// and runs this file.
import createClient from "openapi-fetch";
import type { components, paths } from "./generated/api.d.ts";

const { BASE: baseUrl = "", PASSWORD: password = "" } = process.env;
const visitor = createClient<paths, `application/${string}json`>({ baseUrl });

const login = await visitor.POST("/api/token/", { body: { username: "admin", password, cookie: false } });
if (login.data?.access === undefined) throw new Error("The login gave no token.");
const client = createClient<paths, `application/${string}json`>({
  baseUrl,
  querySerializer: { array: { style: "form", explode: false } },
  headers: { authorization: `Bearer ${login.data.access}` },
});

const created = await client.POST("/users", { body: { name: "Ann Example", email: "ann@example.com" } });
const user: components["schemas"]["User"] | undefined = created.data;
if (user === undefined) throw new Error(created.error?.detail);

const listed = await client.GET("/users", {
  params: { query: { limit: 10, sort: ["-name", "id"], fields: ["id", "name"], "name[starts]": "Ann" } },
});
const names: (string | undefined)[] = listed.data?.map(({ name }) => name) ?? [];

const order = await client.POST("/orders", { body: { user_id: user.id } });
// The response to one record is one record, and the response to an array is an array.
const orderId = order.data === undefined || Array.isArray(order.data) ? 0 : order.data.id;
const item = await client.POST("/orders/{order_id}/items", {
  params: { path: { order_id: orderId }, header: { "Idempotency-Key": "one-brass-key" } },
  body: { product: "Brass key", quantity: 2, unit_price: "12.50" },
});

const expanded = await client.GET("/orders", { params: { query: { expand: ["items", "user"] } } });
if (expanded.data === undefined) throw new Error(expanded.error?.detail);

const refused = await client.PATCH("/users/{id}", {
  params: { path: { id: user.id } },
  // @ts-expect-error a number is no name
  body: { name: 7 },
});
const code: components["schemas"]["Problem"]["code"] | undefined = refused.error?.code;

const made = item.data === undefined || Array.isArray(item.data) ? undefined : item.data;
process.stdout.write(
  JSON.stringify({ names, price: made?.unit_price, code, field: refused.error?.errors?.[0]?.pointer }),
);
