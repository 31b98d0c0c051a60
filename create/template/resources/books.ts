import { administrator, anyOf, caller, defineResource, mount, owner, readOnly, reference, text } from "latchkey";

/** What is kept of each. The paths, the table, the checks, the pages and the documentation follow from it. */
export const books = defineResource({
  name: "book",
  plural: "books",
  fields: {
    title: text({ maxLength: 200 }),
    notes: text({ optional: true }),
    owner_id: reference("users", { default: caller, onDelete: "cascade" }),
  },
  filters: { owner_id: ["eq"] },
  sorts: ["title"],
  search: ["title"],
});

/** Who may: everybody reads, whoever is logged in makes their own, and only the owner or an administrator changes one. */
export const mountedBooks = mount(books, { permission: anyOf(readOnly, owner("owner_id"), administrator) });
