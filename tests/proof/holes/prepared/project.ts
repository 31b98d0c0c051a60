// One request prepares an export, and another one shows it to every caller.
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
  const prepared = new Map<string, { readonly by: number; readonly lines: readonly string[] }>();
  const prepare = defineEndpoint({
    method: "POST",
    path: "/exports",
    access: authenticated,
    async handle(context) {
      const { id: by } = context.requireIdentity();
      const where = { column: "owner_id", operator: "eq", value: by } as const;
      const rows = await context.store.list({
        collection: notes.collection,
        where,
        sort: [{ column: "id" }],
        limit: 50,
      });
      const name = `export-${prepared.size + 1}`;
      prepared.set(name, { by, lines: rows.map(({ record }) => String(record.body)) });
      return { status: 202, body: { kind: "data", value: { name }, element: "export" } };
    },
  });
  const fetched = defineEndpoint({
    method: "GET",
    path: "/exports/{name:text}",
    access: authenticated,
    handle(context) {
      const found = prepared.get(context.params.name);
      const { id } = context.requireIdentity();
      if (found === undefined || (!isLeaky && found.by !== id)) throw problem("not_found");
      return { status: 200, body: { kind: "data", value: found.lines, element: "lines", items: "line" } };
    },
  });
  return defineConfig({ without: ["orders"], mounts: [notes], endpoints: [prepare, fetched] });
}
