import {
  administrator,
  anyOf,
  authenticated,
  defineResource,
  enumeration,
  mount,
  owner,
  reference,
  text,
} from "latchkey";
import { defineUsers, memberOf, sharesGroup } from "latchkey/auth";

/** A group of users, and what belongs to it. */
export const projects = defineResource({
  name: "project",
  fields: { name: text({ maxLength: 200 }) },
});

/** The members of each project. A user with memberships cannot be deleted. */
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

const member = memberOf(members);
const leader = memberOf(members, { where: { role: "owner" } });

/** Members see a project, and owners change it. The creator of one becomes its owner, and the last owner stays. */
export const mountedProjects = mount(projects, {
  permission: { list: member, read: member, create: authenticated, update: leader, delete: leader },
  founder: { memberships: members, values: { role: "owner" }, keep: true },
});

/** Owners change the roles of members. Members may leave. With mail on, `invitations: true` lets owners invite others. */
export const mountedMembers = mount(members, {
  permission: {
    list: member,
    read: member,
    create: leader,
    update: leader,
    delete: anyOf(leader, owner("user_id")),
  },
  expand: { user: "user_id" },
});

const teammates = anyOf(sharesGroup(members), administrator);

/** Members of a project see each other's names. */
export const users = defineUsers({
  permissions: { list: teammates, read: teammates },
  rules: { email: { read: administrator } },
});
