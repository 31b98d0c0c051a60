// The declarations of the example: projects with teams, and who may do what with them.
import {
  administrator,
  anyOf,
  authenticated,
  boolean,
  decimal,
  defineResource,
  enumeration,
  mount,
  owner,
  reference,
  text,
} from "latchkey";
import { defineUsers, hasRole, memberOf, sharesGroup } from "latchkey/auth";
import { olderShape } from "latchkey/resources";

const finance = anyOf(hasRole("finance"), administrator);
const money = { scale: 2, maximum: "9999999.99", optional: true } as const;

const project = defineResource({
  name: "project",
  description: "Plans, each with its team.",
  fields: {
    name: text({ maxLength: 200 }),
    budget: decimal({ ...money, read: finance, write: finance }),
  },
  filters: { name: ["eq", "istarts"], budget: ["eq", "lt", "gt"] },
  sorts: ["name", "budget"],
});

const membership = defineResource({
  name: "membership",
  description: "Who belongs to a project, and as what.",
  fields: {
    user_id: reference("users"), // a user with memberships cannot be deleted
    project_id: reference(project, { onDelete: "cascade" }),
    role: enumeration(["owner", "editor", "viewer"], { default: "viewer" }),
  },
  filters: { user_id: ["eq"], project_id: ["eq"], role: ["eq"] },
  labelField: "user_id",
  unique: [["user_id", "project_id"]],
});

const task = defineResource({
  name: "task",
  description: "What is to be done.",
  fields: {
    project_id: reference(project, { onDelete: "cascade" }),
    title: text({ maxLength: 200 }),
    done: boolean({ default: false }),
    cost: decimal({ ...money, read: finance }), // editors send it without reading it
    tags: text({ maxLength: 200, optional: true }),
  },
  filters: {
    project_id: ["eq", "in"],
    title: ["eq", "ne", "starts", "icontains"],
    done: ["eq"],
    cost: ["eq", "lt", "lte", "gt", "gte", "null"],
    tags: ["eq", "contains", "null"],
  },
  sorts: ["project_id", "title", "done", "cost", "tags"],
  search: ["title", "tags"],
  scans: true,
});

const note = defineResource({ name: "note", within: project, fields: { line: text({ maxLength: 1000 }) } });

const member = anyOf(administrator, memberOf(membership));
const editor = anyOf(administrator, memberOf(membership, { where: { role: ["owner", "editor"] } }));
const leader = anyOf(administrator, memberOf(membership, { where: { role: "owner" } }));

const tasks = mount(task, {
  permission: { list: member, read: member, create: editor, replace: editor, update: editor, delete: editor },
  arrays: true,
  expand: { project: "project_id" },
  actions: {
    finish: {
      permission: editor,
      description: "Marks a task as done",
      handle: () => ({ values: { done: true } }),
    },
  },
});

export const mounts = [
  mount(project, {
    permission: {
      list: member,
      read: member,
      create: authenticated,
      replace: leader,
      update: leader,
      delete: leader,
    },
    founder: { memberships: membership, values: { role: "owner" }, keep: true },
  }),
  mount(membership, {
    permission: {
      list: member,
      read: member,
      create: leader,
      replace: leader,
      update: leader,
      delete: anyOf(leader, owner("user_id")), // members may leave
    },
    expand: { user: "user_id", project: "project_id" },
  }),
  tasks,
  mount(note, { permission: member, writers: "readers" }),
  olderShape(tasks, {
    prefix: "/v1",
    fields: { project_id: "project_id", subject: "title", done: "done", price: "cost", tags: "tags" },
  }),
];

const teammates = anyOf(administrator, sharesGroup(membership));
export const users = defineUsers({
  roles: ["user", "finance", "admin"],
  permissions: { list: teammates, read: teammates },
  rules: { email: { read: administrator } },
});
