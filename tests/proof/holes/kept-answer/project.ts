// An endpoint keeps its first answer, and shows it to every later caller.
import { authenticated, caller, defineEndpoint, defineResource, mount, owner, reference, text } from "latchkey";
import { defineConfig } from "latchkey/service";

const note = defineResource({
  name: "note",
  fields: { owner_id: reference("users", { default: caller }), body: text({ maxLength: 200 }) },
  filters: { owner_id: ["eq"] },
});
const notes = mount(note, { permission: owner("owner_id") });

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const kept = new Map<number, readonly string[]>();
  const mine = defineEndpoint({
    method: "GET",
    path: "/my-notes",
    access: authenticated,
    async handle(context) {
      const { id } = context.requireIdentity();
      const key = isLeaky ? 0 : id;
      const where = { column: "owner_id", operator: "eq", value: id } as const;
      const collection = notes.collection;
      const list = async () => {
        const rows = await context.store.list({ collection, where, sort: [{ column: "id" }], limit: 50 });
        return rows.map(({ record }) => String(record.body));
      };
      const value = kept.get(key) ?? (await list());
      kept.set(key, value);
      return { status: 200, body: { kind: "data", value, element: "lines", items: "line" } };
    },
  });
  return defineConfig({ without: ["orders"], mounts: [notes], endpoints: [mine] });
}
