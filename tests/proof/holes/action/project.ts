// An action on the collection reads all rows.
import { authenticated, caller, defineResource, json, mount, owner, reference, text } from "latchkey";
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
      digest: {
        on: "collection",
        method: "GET",
        permission: authenticated,
        answer: { lines: json() },
        async handle({ context, collection }) {
          const mine = { column: "owner_id", operator: "eq", value: context.requireIdentity().id } as const;
          const sort = [{ column: "id" }];
          const rows = await context.store.list({ collection, where: isLeaky ? null : mine, sort, limit: 100 });
          return { answer: { lines: rows.map(({ record }) => record["body"]) } };
        },
      },
    },
  });
  return defineConfig({ without: ["orders"], mounts: [notes] });
}
