import { authenticated, caller, defineResource, integer, json, mount, owner, reference, text } from "latchkey";
// An action on the collection shares the rows that its body lists with the user that it names.
import { array } from "latchkey/resources";
import { defineConfig } from "latchkey/service";

const note = defineResource({
  name: "note",
  fields: { owner_id: reference("users", { default: caller }), body: text({ maxLength: 200 }) },
});

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const notes = mount(note, {
    permission: owner("owner_id"),
    actions: {
      compare: {
        on: "collection",
        permission: authenticated,
        body: { ids: array(integer()) },
        answer: { lines: json() },
        async handle({ context, draft, collection }) {
          const { id: mine } = context.requireIdentity();
          const rows = await Promise.all(draft.ids.map(async (id) => context.store.find(collection, id)));
          const lines = rows.flatMap((row) =>
            row !== null && (isLeaky || row.record["owner_id"] === mine) ? [row.record["body"]] : [],
          );
          return { answer: { lines } };
        },
      },
    },
  });
  return defineConfig({ without: ["orders"], mounts: [notes] });
}
