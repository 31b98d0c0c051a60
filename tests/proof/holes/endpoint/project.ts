// An endpoint shows the row that its path names, whose ever it is.
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
});
const notes = mount(note, { permission: owner("owner_id") });

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const printed = defineEndpoint({
    method: "GET",
    path: "/printed/{id}",
    access: authenticated,
    async handle(context) {
      const row = await context.store.find(notes.collection, context.params.id);
      const { id } = context.requireIdentity();
      if (row === null || (!isLeaky && row.record.owner_id !== id)) throw problem("not_found");
      return { status: 200, body: { kind: "data", value: { text: row.record.body }, element: "print" } };
    },
  });
  return defineConfig({ without: ["orders"], mounts: [notes], endpoints: [printed] });
}
