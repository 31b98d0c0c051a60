// An endpoint changes the rows that its body lists, and asks only whether the caller reads them.
import {
  anyOf,
  authenticated,
  caller,
  defineEndpoint,
  defineResource,
  mount,
  owner,
  problem,
  readOnly,
} from "latchkey";
import { reference, text } from "latchkey";
import { defineConfig } from "latchkey/service";

const article = defineResource({
  name: "article",
  fields: { owner_id: reference("users", { default: caller }), title: text({ maxLength: 200 }) },
});
const articles = mount(article, { permission: anyOf(owner("owner_id"), readOnly) });

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const rename = defineEndpoint({
    method: "PATCH",
    path: "/renamed-articles",
    access: authenticated,
    body: {
      type: "object",
      properties: {
        changes: {
          type: "array",
          items: {
            type: "object",
            properties: { id: { type: "integer" }, title: { type: "string", maxLength: 200 } },
            required: ["id", "title"],
          },
          maxItems: 20,
        },
      },
      required: ["changes"],
      additionalProperties: false,
    },
    async handle(context) {
      const { collection } = articles;
      const { id: mine } = context.requireIdentity();
      for (const { id, title } of context.body.value.changes) {
        const row = await context.store.find(collection, id);
        if (row === null || (!isLeaky && row.record.owner_id !== mine)) throw problem("not_found");
        await context.write({ changes: [{ kind: "update", collection, key: id, values: { title } }] });
      }
      return { status: 204 };
    },
  });
  return defineConfig({ without: ["orders"], mounts: [articles], endpoints: [rename] });
}
