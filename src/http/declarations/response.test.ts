import assert from "node:assert/strict";
import { test } from "node:test";
import { anyone } from "../../access/permission/permission.ts";
import { dateTime, decimal, enumeration, integer, json, text } from "../../resource/kinds/fields.ts";
import { array } from "../../resource/kinds/lists.ts";
import { defineEndpoint } from "./endpoint.ts";
import { defineResponse, listOf } from "./response.ts";

const line = defineResponse({ name: "line", fields: { title: text({ maxLength: 9 }), count: integer() } });
const quote = defineResponse({
  name: "quote",
  description: "A price.",
  fields: {
    price: decimal({ scale: 2, maximum: "99.99", description: "In euros." }),
    until: dateTime({ optional: true }),
    state: enumeration(["open", "paid"], { optional: true }),
    tags: array(text({ maxLength: 30 }), { maxItems: 3 }),
    lines: listOf(line, "lines"),
    user: { $ref: "#/components/schemas/User" },
    note: text(),
    more: json(),
  },
  optional: ["note"],
});

test("makes the JSON Schema of a response from fields, without the limits of what callers send", () => {
  assert.deepEqual(quote.schema, {
    type: "object",
    xml: { name: "quote" },
    properties: {
      price: { type: "string", pattern: String.raw`^-?(0|[1-9]\d*)(\.\d{1,2})?$`, description: "In euros." },
      until: { type: ["string", "null"], format: "date-time" },
      state: { type: ["string", "null"], enum: ["open", "paid", null] },
      tags: { type: "array", items: { type: "string" } },
      lines: { type: "array", xml: { name: "lines", wrapped: true }, items: line.schema },
      user: { $ref: "#/components/schemas/User" },
      note: { type: "string" },
      more: {},
    },
    required: ["price", "until", "state", "tags", "lines", "user", "more"],
    description: "A price.",
  });
  assert.deepEqual(defineResponse({ name: "nothing", fields: {} }).schema, {
    type: "object",
    xml: { name: "nothing" },
    properties: {},
  });
});

const value = {
  price: "9.50",
  until: null,
  state: "open",
  tags: [],
  lines: [{ title: "Tea", count: 2 }],
  user: 1,
  more: { any: ["thing"] },
} as const;

test("makes replies with the names of XML, and with the members that are any JSON", () => {
  assert.deepEqual(quote.reply(201, value, { cache: "no-store" }), {
    cache: "no-store",
    status: 201,
    body: { kind: "data", value, element: "quote", jsonMembers: ["more"] },
  });
  assert.deepEqual(listOf(quote, "quotes").reply(200, []), {
    status: 200,
    body: { kind: "data", value: [], element: "quotes", items: "quote", jsonMembers: ["more"] },
  });
});

test("checks the replies of a handler at compile time", () => {
  const one = { method: "GET", path: "/quote", access: anyone, responses: { 200: line, 204: null } } as const;
  const good = { title: "Tea", count: 1 };

  defineEndpoint({ ...one, handle: () => line.reply(200, good) });
  defineEndpoint({ ...one, handle: ({ identity }) => (identity === null ? { status: 204 } : line.reply(200, good)) });
  defineEndpoint({ ...one, handle: () => ({ status: 200, body: { kind: "data", value: good, element: "line" } }) });
  defineEndpoint({ ...one, handle: async () => line.reply(200, good, { cache: "no-store" }) });
  // @ts-expect-error -- 201 is not declared
  defineEndpoint({ ...one, handle: () => line.reply(201, good) });
  // @ts-expect-error -- another response
  defineEndpoint({ ...one, handle: () => quote.reply(200, value) });
  // @ts-expect-error -- the name of its element is line
  defineEndpoint({ ...one, handle: () => ({ status: 200, body: { kind: "data", value: good, element: "row" } }) });
  // @ts-expect-error -- a body is missing
  defineEndpoint({ ...one, handle: () => ({ status: 200 }) });
  // @ts-expect-error -- count is a number
  line.reply(200, { title: "Tea", count: "1" });
  // @ts-expect-error -- count is missing
  line.reply(200, { title: "Tea" });
  // @ts-expect-error -- there is no member price
  line.reply(200, { title: "Tea", count: 1, price: 1 });
  // @ts-expect-error -- title is not optional
  line.reply(200, { title: null, count: 1 });
  quote.reply(200, { ...value, note: "soon", until: "2026-01-31T09:30:00.000Z" });
});

test("reports all mistakes of a declaration", () => {
  const wrong: object = { name: "a", fields: { a: text({ default: "x" }), b: 5 }, optional: ["c"] };

  assert.throws(
    () => defineResponse(wrong as never),
    /optional: there is no field c[^]*field a: text: default has no meaning in a response[^]*field b: it has to be a field/,
  );
  assert.throws(
    () => defineResponse({ ...wrong, name: "", field: {} } as never),
    /no option field; did you mean fields[^]*name is an empty text/,
  );
  assert.throws(() => defineResponse(null as never), /it has to be an object/);
  assert.throws(
    () =>
      defineResponse({
        name: "a",
        fields: {
          a: decimal({ scale: 9, maximum: "1" }),
          b: enumeration(["open", "open"] as never),
          c: text({ maxLenght: 3 } as never),
          d: { kind: "text", options: {} } as never,
        },
      }),
    /field a: decimal: scale is 9[^]*field b: enumeration: the word open is there twice[^]*field c: text: there is no option maxLenght[^]*field d: its kind is .text.; it has to be an object/,
  );
});
