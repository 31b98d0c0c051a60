// The refusal of a booking says who has booked the room, and why.
import { authenticated, caller, defineResource, mount, owner, problem, reference, text } from "latchkey";
import { date } from "latchkey/resources";
import { defineConfig } from "latchkey/service";

const room = defineResource({ name: "room", fields: { title: text({ maxLength: 100 }) } });
const booking = defineResource({
  name: "booking",
  fields: {
    owner_id: reference("users", { default: caller }),
    room_id: reference(room),
    day: date(),
    purpose: text({ maxLength: 200 }),
  },
  filters: { room_id: ["eq"], day: ["eq"] },
});

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const bookings = mount(booking, {
    permission: owner("owner_id"),
    beforeWrite({ kind, context, id, draft, collection }) {
      if (draft === null) return {};
      const { room_id, day } = draft.values;
      return {
        async complete() {
          const where = {
            all: [
              { column: "room_id", operator: "eq", value: room_id },
              { column: "day", operator: "eq", value: day },
            ],
          } as const;
          const rows = await context.store.list({ collection, where, sort: [{ column: "id" }], limit: 2 });
          const other = rows.find(({ record }) => kind === "create" || record["id"] !== id);
          if (other === undefined) return [];
          const why = isLeaky ? `: ${String(other.record["purpose"])}` : "";
          throw problem("conflict", { detail: `The room is booked on this day${why}.` });
        },
      };
    },
  });
  return defineConfig({ without: ["orders"], mounts: [mount(room, { permission: authenticated }), bookings] });
}
