// An action shows the record that a column refers to, as `expand` would, but without its permission.
import { anyone, caller, defineResource, mount, owner, reference, text } from "latchkey";
import { defineConfig } from "latchkey/service";

const author = defineResource({
  name: "author",
  fields: { owner_id: reference("users", { default: caller }), bank_account: text({ maxLength: 40 }) },
});
const authors = mount(author, { permission: owner("owner_id") });
const book = defineResource({
  name: "book",
  fields: { title: text({ maxLength: 200 }), author_id: reference(author, { optional: true }) },
});

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const books = mount(book, {
    permission: anyone,
    expand: { author: "author_id" },
    actions: {
      whole: {
        method: "GET",
        permission: anyone,
        answer: { title: text(), bank_account: text({ optional: true }) },
        async handle({ record, context }) {
          const { title, author_id: id } = record;
          const row = isLeaky && id !== null ? await context.store.find(authors.collection, id) : null;
          return { answer: { title, bank_account: row === null ? null : String(row.record.bank_account) } };
        },
      },
    },
  });
  return defineConfig({ without: ["orders"], mounts: [authors, books] });
}
