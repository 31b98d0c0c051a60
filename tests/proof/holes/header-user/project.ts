// An endpoint takes the id of its caller from a header field.
import { anyone, caller, defineEndpoint, defineResource, mount, owner, reference, text } from "latchkey";
import { defineConfig } from "latchkey/service";

const note = defineResource({
  name: "note",
  fields: { owner_id: reference("users", { default: caller }), body: text({ maxLength: 200 }) },
  filters: { owner_id: ["eq"] },
});
const notes = mount(note, { permission: owner("owner_id") });

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const mine = defineEndpoint({
    method: "GET",
    path: "/widget",
    access: anyone,
    async handle(context) {
      const id = isLeaky ? Number(context.call.header("x-user-id") ?? 0) : (context.identity?.id ?? 0);
      const where = { column: "owner_id", operator: "eq", value: id } as const;
      const rows = await context.store.list({
        collection: notes.collection,
        where,
        sort: [{ column: "id" }],
        limit: 9,
      });
      return { status: 200, body: { kind: "data", value: rows.map(({ record }) => record.body), element: "lines" } };
    },
  });
  return defineConfig({ without: ["orders"], mounts: [notes], endpoints: [mine] });
}
