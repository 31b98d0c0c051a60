// An endpoint below a user renames the notes of that user, and does not ask who calls.
import {
  administrator,
  anyOf,
  authenticated,
  caller,
  defineEndpoint,
  defineResource,
  mount,
  owner,
  problem,
} from "latchkey";
import { reference, text } from "latchkey";
import { defineConfig } from "latchkey/service";

const note = defineResource({
  name: "note",
  fields: { owner_id: reference("users", { default: caller }), title: text({ maxLength: 200 }) },
  filters: { owner_id: ["eq"] },
});
const notes = mount(note, { permission: anyOf(owner("owner_id"), administrator) });

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const rename = defineEndpoint({
    method: "PUT",
    path: "/users/{id}/titles",
    access: authenticated,
    body: {
      type: "object",
      properties: { prefix: { type: "string", minLength: 1, maxLength: 20 }, day: { type: "string", format: "date" } },
      required: ["prefix", "day"],
    },
    async handle(context) {
      const { prefix, day } = context.body.value;
      const { id } = context.requireIdentity();
      if (!isLeaky && context.params.id !== id) throw problem("not_found");
      const where = { column: "owner_id", operator: "eq", value: context.params.id } as const;
      const values = { title: `${prefix} ${day}` };
      await context.write({ changes: [{ kind: "updateAll", collection: notes.collection, where, values }] });
      return { status: 204 };
    },
  });
  return defineConfig({ without: ["orders"], mounts: [notes], endpoints: [rename] });
}
