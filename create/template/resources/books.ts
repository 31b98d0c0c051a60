import { administrator, anyOf, caller, defineResource, mount, owner, readOnly, reference, text } from "latchkey";

/** The fields of each record. The paths, the table, the checks, the pages and the documentation follow from them. */
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

/**
 * All callers may read. Users who are logged in create their own records, and only the owner or an administrator may
 * change one.
 */
export const mountedBooks = mount(books, { permission: anyOf(readOnly, owner("owner_id"), administrator) });
