import { hasRole, memberOf, sharesGroup } from "../../src/door/auth.ts";
import {
  administrator,
  anyOf,
  anyone,
  authenticated,
  boolean,
  caller,
  dateTime,
  decimal,
  defineResource,
  enumeration,
  integer,
  mount,
  owner,
  reference,
  text,
} from "../../src/door/index.ts";
import { date } from "../../src/door/resources.ts";
import type { ConfigFile } from "../../src/service/settings/config-file/config-file.ts";

// The Harbour Club of the drawn pages: projects with members and budgets, tasks, books and loans.

const projects = defineResource({
  name: "project",
  description: "Regattas, repairs and other plans, each with its members.",
  fields: {
    name: text({ maxLength: 100 }),
    state: enumeration(["planned", "under_way", "done"], {
      default: "planned",
      tones: { under_way: "accent", done: "good" },
    }),
    description: text({ multiline: true, optional: true }),
    starts: date({ optional: true, label: "Starts on" }),
    doors_open: dateTime({ optional: true }),
    budget: decimal({ scale: 2, maximum: "999999.99", optional: true }),
    public: boolean({ default: false }),
    sponsor: text({ maxLength: 100, optional: true }),
    made_at: dateTime({ generated: ({ now }) => new Date(now).toISOString(), label: "Made" }),
    owner_id: integer({ default: caller, label: "Made by" }),
  },
  sorts: ["name"],
});

const roles = enumeration(["owner", "member"], { default: "member" });
const members = defineResource({
  name: "member",
  within: projects,
  fields: { user_id: reference("users", { label: "Name" }), role: roles },
  labelField: "user_id",
  unique: [["project_id", "user_id"]],
});
const budgets = defineResource({
  name: "budget",
  within: projects,
  fields: { name: text({ maxLength: 80 }), amount: decimal({ scale: 2, maximum: "999999.99" }) },
});

const tasks = defineResource({
  name: "task",
  description: "What is to be done, by whom and until when.",
  fields: {
    title: text({ maxLength: 200 }),
    project_id: reference(projects, { description: "Its members see the task." }),
    notes: text({ multiline: true, optional: true }),
    state: enumeration(["open", "in_work", "late", "done"], {
      default: "open",
      labels: { in_work: "In work" },
      tones: { in_work: "accent", late: "bad", done: "good" },
    }),
    assignee_id: reference("users", { optional: true }),
    due: date({ optional: true }),
    remind_at: dateTime({ optional: true }),
    hours: integer({ optional: true, minimum: 0, maximum: 500, label: "Hours planned" }),
    urgent: boolean({ default: false, description: "Stands first in the list." }),
  },
  search: ["title"],
  filters: { state: ["eq", "in"], assignee_id: ["eq"], due: ["lte"], project_id: ["eq"], title: ["icontains"] },
  sorts: ["due", "title", "state"],
  unique: [["project_id", "title"]],
});

const books = defineResource({
  name: "book",
  description: "The club’s library. Members may borrow a book for four weeks.",
  fields: { title: text({ maxLength: 200 }), author: text({ maxLength: 100, optional: true }) },
  search: ["title"],
  filters: { author: ["icontains"] },
  sorts: ["title"],
});
const loans = defineResource({
  name: "loan",
  description: "Who has which book, and until when.",
  fields: {
    book_id: reference(books),
    member_id: reference("users"),
    until: date({ optional: true }),
  },
  labelField: "book_id",
  filters: { book_id: ["eq"] },
});

const isMember = anyOf(administrator, memberOf(members, { on: "id" }));
const isOwner = anyOf(administrator, memberOf(members, { on: "id", where: { role: "owner" } }));
const owners = anyOf(administrator, memberOf(members, { where: { role: "owner" } }));
const teammates = anyOf(sharesGroup(members), administrator, hasRole("librarian"));
const staff = anyOf(administrator, hasRole("librarian"));

/** The configuration of the club. Librarians lend books, treasurers see budgets. Invitations to projects need mail. */
export function clubConfig(invitations = false): ConfigFile {
  return {
    api: { title: "Harbour Club", version: "1", description: "Boats, books and what is to be done." },
    users: {
      roles: ["user", "librarian", "treasurer", "admin"],
      permissions: { list: teammates, read: teammates },
      rules: { email: { read: administrator } },
    },
    mounts: [
      mount(projects, {
        permission: { list: isMember, read: isMember, create: authenticated, update: isOwner, delete: isOwner },
        founder: { memberships: members, values: { role: "owner" }, keep: true },
        actions: { finish: { permission: isOwner, handle: () => undefined } },
      }),
      mount(members, {
        permission: {
          list: memberOf(members),
          read: memberOf(members),
          create: owners,
          update: owners,
          delete: owners,
        },
        invitations,
      }),
      mount(budgets, { permission: hasRole("treasurer"), writers: "readers" }),
      mount(tasks, { permission: memberOf(members) }),
      mount(books, { permission: { list: anyone, read: anyone, create: staff, update: staff, delete: staff } }),
      mount(loans, { permission: anyOf(staff, owner("member_id")) }),
    ],
  };
}
