// An endpoint lists the rows of the owner that a query parameter names.
import {
  authenticated,
  caller,
  defineEndpoint,
  defineResource,
  mount,
  owner,
  problem,
  reference,
  text,
} from "latchkey";
import { defineConfig } from "latchkey/service";

const note = defineResource({
  name: "note",
  fields: { owner_id: reference("users", { default: caller }), body: text({ maxLength: 200 }) },
  filters: { owner_id: ["eq"] },
});
const notes = mount(note, { permission: owner("owner_id") });

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const printed = defineEndpoint({
    method: "GET",
    path: "/printed-notes",
    access: authenticated,
    query: "read",
    async handle(context) {
      const asked = new Map(context.parameters()).get("owner_id");
      const { id } = context.requireIdentity();
      if (asked === undefined) throw problem("invalid", { detail: "Name the owner." });
      const where = { column: "owner_id", operator: "eq", value: isLeaky ? Number(asked) : id } as const;
      const rows = await context.store.list({
        collection: notes.collection,
        where,
        sort: [{ column: "id" }],
        limit: 50,
      });
      return { status: 200, body: { kind: "data", value: rows.map(({ record }) => record.body), element: "prints" } };
    },
  });
  return defineConfig({ without: ["orders"], mounts: [notes], endpoints: [printed] });
}
