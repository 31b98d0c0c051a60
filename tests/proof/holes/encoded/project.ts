// A backup shows all rows in base64.
import { authenticated, caller, defineEndpoint, defineResource, mount, owner, reference, text } from "latchkey";
import { defineConfig } from "latchkey/service";

const note = defineResource({
  name: "note",
  fields: { owner_id: reference("users", { default: caller }), body: text({ maxLength: 200 }) },
  filters: { owner_id: ["eq"] },
});
const notes = mount(note, { permission: owner("owner_id") });

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const backup = defineEndpoint({
    method: "GET",
    path: "/backup",
    access: authenticated,
    async handle(context) {
      const mine = { column: "owner_id", operator: "eq", value: context.requireIdentity().id } as const;
      const where = isLeaky ? null : mine;
      const rows = await context.store.list({
        collection: notes.collection,
        where,
        sort: [{ column: "id" }],
        limit: 50,
      });
      const lines = rows.map(({ record }) => `${String(record.id)};${String(record.body)}`).join("\n");
      return {
        status: 200,
        body: { kind: "raw", type: "application/octet-stream", content: Buffer.from(lines).toString("base64") },
      };
    },
  });
  return defineConfig({ without: ["orders"], mounts: [notes], endpoints: [backup] });
}
