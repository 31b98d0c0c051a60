import { administrator, anyOf, authenticated, decimal, defineResource, enumeration, mount, owner } from "latchkey";
import { reference, text } from "latchkey";
import { defineUsers, hasRole, memberOf, sharesGroup } from "latchkey/auth";

const treasurer = anyOf(hasRole("treasurer"), administrator);

export const projects = defineResource({
  name: "project",
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
  unique: [["project_id", "user_id"]],
});

export const tasks = defineResource({
  name: "task",
  fields: {
    project_id: reference(projects, { onDelete: "cascade" }),
    title: text({ maxLength: 200 }),
    state: enumeration(["open", "done"], { default: "open" }),
  },
  filters: { project_id: ["eq"], state: ["eq"] },
  unique: [["project_id", "title"]],
});

const isMember = memberOf(members, { on: "id" });
const isOwner = memberOf(members, { on: "id", where: { role: "owner" } });
const owners = memberOf(members, { where: { role: "owner" } });

export const mounts = [
  mount(projects, {
    permission: { list: isMember, read: isMember, create: authenticated, update: isOwner, delete: isOwner },
    founder: { memberships: members, values: { role: "owner" }, keep: true },
  }),
  mount(members, {
    permission: {
      list: memberOf(members),
      read: memberOf(members),
      create: owners,
      update: owners,
      delete: anyOf(owners, owner("user_id")), // members may leave
    },
    expand: { user: "user_id" },
  }),
  mount(tasks, { permission: memberOf(members), expand: { project: "project_id" } }),
];

const teammates = anyOf(sharesGroup(members), administrator);

export const users = defineUsers({
  roles: ["user", "treasurer", "admin"],
  permissions: { list: teammates, read: teammates },
  rules: { email: { read: administrator } },
});
