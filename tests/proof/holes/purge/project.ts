// An action on the collection deletes the rows of all owners.
import { authenticated, caller, defineResource, mount, owner, reference, text } from "latchkey";
import { defineConfig } from "latchkey/service";

const note = defineResource({
  name: "note",
  fields: { owner_id: reference("users", { default: caller }), body: text({ maxLength: 200 }) },
  filters: { owner_id: ["eq"] },
});

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const notes = mount(note, {
    permission: owner("owner_id"),
    actions: {
      purge: {
        on: "collection",
        permission: authenticated,
        handle({ context, collection }) {
          const column = isLeaky ? "id" : "owner_id";
          const value = isLeaky ? 0 : context.requireIdentity().id;
          const where = { column, operator: isLeaky ? "gt" : "eq", value } as const;
          return { changes: [{ kind: "deleteAll", collection, where }] };
        },
      },
    },
  });
  return defineConfig({ without: ["orders"], mounts: [notes] });
}
