import { defineResource, mount, reference, text } from "latchkey";
import { memberOf } from "latchkey/auth";
import { members, projects } from "./projects.ts";

/** The fields of each record. The paths, the table, the checks, the pages and the documentation follow from them. */
export const books = defineResource({
  name: "book",
  plural: "books",
  fields: {
    project_id: reference(projects, { onDelete: "cascade" }),
    title: text({ maxLength: 200 }),
    notes: text({ optional: true }),
  },
  filters: { project_id: ["eq"] },
  sorts: ["title"],
  search: ["title"],
});

/** Members of the project see and change its records. For all others they do not exist. */
export const mountedBooks = mount(books, { permission: memberOf(members), expand: { project: "project_id" } });
