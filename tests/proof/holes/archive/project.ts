// An endpoint changes a row that everyone reads, and forgets to ask whose it is.
import {
  anyOf,
  authenticated,
  boolean,
  caller,
  defineEndpoint,
  defineResource,
  mount,
  owner,
  problem,
  readOnly,
  reference,
  text,
} from "latchkey";
import { defineConfig } from "latchkey/service";

const article = defineResource({
  name: "article",
  fields: {
    owner_id: reference("users", { default: caller }),
    title: text({ maxLength: 200 }),
    archived: boolean({ default: false }),
  },
});
const articles = mount(article, { permission: anyOf(owner("owner_id"), readOnly) });

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const archive = defineEndpoint({
    method: "POST",
    path: "/articles/{id}/archive",
    access: authenticated,
    async handle(context) {
      const row = await context.store.find(articles.collection, context.params.id);
      if (row === null) throw problem("not_found");
      if (!isLeaky && row.record.owner_id !== context.requireIdentity().id) throw problem("permission_denied");
      const values = { archived: true };
      await context.write({
        changes: [{ kind: "update", collection: articles.collection, key: context.params.id, values }],
      });
      return { status: 204 };
    },
  });
  return defineConfig({ without: ["orders"], mounts: [articles], endpoints: [archive] });
}
