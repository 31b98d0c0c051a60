// An endpoint puts a value of the newest row into a cookie.
import { authenticated, caller, defineEndpoint, defineResource, mount, owner, reference, text } from "latchkey";
import { defineConfig } from "latchkey/service";

const note = defineResource({
  name: "note",
  fields: { owner_id: reference("users", { default: caller }), body: text({ maxLength: 200 }) },
  filters: { owner_id: ["eq"] },
});
const notes = mount(note, { permission: owner("owner_id") });

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const latest = defineEndpoint({
    method: "GET",
    path: "/welcome",
    access: authenticated,
    async handle(context) {
      const mine = { column: "owner_id", operator: "eq", value: context.requireIdentity().id } as const;
      const query = { collection: notes.collection, sort: [{ column: "id", descending: true }], limit: 1 } as const;
      const [row] = await context.store.list({ ...query, where: isLeaky ? null : mine });
      const draft = encodeURIComponent(String(row?.record.body ?? "none"));
      return { status: 204, headers: [["set-cookie", `draft=${draft}; Path=/; HttpOnly`]] };
    },
  });
  return defineConfig({ without: ["orders"], mounts: [notes], endpoints: [latest] });
}
