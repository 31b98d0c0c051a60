// A hook shows all users, in a feed, a text that its writer meant for a few.
import { authenticated, caller, defineResource, mount, owner, reference, text } from "latchkey";
import { defineConfig } from "latchkey/service";

const event = defineResource({ name: "event", fields: { line: text({ maxLength: 400, readOnly: true }) } });
const events = mount(event, { permission: { list: authenticated, read: authenticated } });
const note = defineResource({
  name: "note",
  fields: { owner_id: reference("users", { default: caller }), body: text({ maxLength: 200 }) },
});

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const notes = mount(note, {
    permission: owner("owner_id"),
    beforeWrite: ({ kind, draft }) => ({
      complete() {
        if (draft === null || kind !== "update") return Promise.resolve([]);
        const line = isLeaky ? `A note is now: ${draft.values.body}` : "A note has changed";
        return Promise.resolve([{ kind: "insert", collection: events.collection, values: { line } }]);
      },
    }),
  });
  return defineConfig({ without: ["orders"], mounts: [events, notes] });
}
