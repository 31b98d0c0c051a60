import { administrator, anyOf, authenticated, decimal, defineResource, enumeration, mount, owner } from "latchkey";
import { reference, text } from "latchkey";
import { defineUsers, hasRole, memberOf, sharesGroup } from "latchkey/auth";

const treasurer = anyOf(hasRole("treasurer"), administrator);

export const projects = defineResource({
  name: "project",
  description: "Plans, each with its members.",
  fields: {
    name: text({ maxLength: 200 }),
    budget: decimal({ scale: 2, maximum: "999999.99", optional: true, read: treasurer, write: treasurer }),
  },
});

export const members = defineResource({
  name: "member",
  within: projects,
  fields: {
    user_id: reference("users"),
    role: enumeration(["owner", "member"], { default: "member" }),
  },
  labelField: "user_id",
  unique: [["project_id", "user_id"]],
});

export const tasks = defineResource({
  name: "task",
  description: "What is to be done.",
  fields: {
    project_id: reference(projects, { onDelete: "cascade" }),
    title: text({ maxLength: 200 }),
    state: enumeration(["open", "done"], { default: "open" }),
  },
  filters: { project_id: ["eq"], state: ["eq"] },
  unique: [["project_id", "title"]],
});

const member = memberOf(members);
const leader = memberOf(members, { where: { role: "owner" } });

export const mounts = [
  mount(projects, {
    permission: { list: member, read: member, create: authenticated, update: leader, delete: leader },
    founder: { memberships: members, values: { role: "owner" }, keep: true },
  }),
  mount(members, {
    permission: {
      list: member,
      read: member,
      create: leader,
      update: leader,
      delete: anyOf(leader, owner("user_id")), // members may leave
    },
    expand: { user: "user_id" },
    invitations: true, // needs mail
  }),
  mount(tasks, { permission: member, expand: { project: "project_id" } }),
];

const teammates = anyOf(sharesGroup(members), administrator);

export const users = defineUsers({
  roles: ["user", "treasurer", "admin"],
  permissions: { list: teammates, read: teammates },
  rules: { email: { read: administrator } },
});
