// An endpoint shows the rows whose ids the body lists, whose ever they are.
import { authenticated, caller, defineEndpoint, defineResource, mount, owner, reference, text } from "latchkey";
import { defineConfig } from "latchkey/service";

const note = defineResource({
  name: "note",
  fields: { owner_id: reference("users", { default: caller }), body: text({ maxLength: 200 }) },
});
const notes = mount(note, { permission: owner("owner_id") });

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const batch = defineEndpoint({
    method: "POST",
    path: "/batch",
    access: authenticated,
    body: {
      type: "object",
      properties: {
        ids: { type: "array", items: { type: "integer" }, minItems: 1, maxItems: 20 },
        title: { type: "string", minLength: 3 },
      },
      required: ["ids", "title"],
      additionalProperties: false,
    },
    async handle(context) {
      const { ids, title } = context.body.value;
      const { id: mine } = context.requireIdentity();
      const found = await Promise.all(ids.map(async (id) => context.store.find(notes.collection, id)));
      const lines = found.flatMap((row) =>
        row !== null && (isLeaky || row.record.owner_id === mine) ? [row.record.body] : [],
      );
      return { status: 200, body: { kind: "data", value: { title, lines }, element: "batch" } };
    },
  });
  return defineConfig({ without: ["orders"], mounts: [notes], endpoints: [batch] });
}
