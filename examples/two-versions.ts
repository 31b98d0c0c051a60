// An API in its second year: tickets have a `status` and a price with cents. Programs from the first year still use
// /v1/tickets, where tickets had a `state` and a number of cents. Both share one table and one set of rules.
import { anyone, createService, decimal, defineResource, enumeration, integer, listen, mount, text } from "latchkey";
import { olderShape } from "latchkey/resources";
import { sqliteStore } from "latchkey/stores";

const ticket = defineResource({
  name: "ticket",
  fields: {
    title: text({ maxLength: 200 }),
    status: enumeration(["open", "closed"], { default: "open" }),
    price: decimal({ scale: 2, maximum: "9999.99" }),
    currency: enumeration(["EUR", "USD"]),
  },
  filters: { status: ["eq"], price: ["eq", "lt"] },
  sorts: ["title"],
});
const tickets = mount(ticket, { permission: anyone });

const firstTickets = olderShape(tickets, {
  prefix: "/v1",
  fields: {
    subject: "title",
    state: "status",
    cents: {
      from: "price",
      as: integer({ minimum: 0, maximum: 999_999 }),
      show: (price) => Math.round(Number(price) * 100),
      read: (cents: number) => (cents / 100).toFixed(2),
    },
  },
  // A field that the first year did not have.
  defaults: { currency: "EUR" },
  deprecated: { since: "2026-07-01", sunset: "2027-07-01", link: "https://example.org/changes" },
});

const service = await createService({ store: sqliteStore({ path: ":memory:" }), mounts: [tickets, firstTickets] });
console.log((await listen(service, { port: Number(process.env["PORT"] ?? 8000) })).url);
