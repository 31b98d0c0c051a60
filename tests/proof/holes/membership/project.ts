// Members change their own role.
import { authenticated, defineResource, enumeration, mount, reference, text } from "latchkey";
import { memberOf } from "latchkey/auth";
import { defineConfig } from "latchkey/service";

const project = defineResource({ name: "project", fields: { name: text({ maxLength: 100 }) } });
const membership = defineResource({
  name: "membership",
  fields: {
    user_id: reference("users"),
    project_id: reference(project, { onDelete: "cascade" }),
    role: enumeration(["owner", "viewer"], { default: "viewer" }),
  },
  unique: [["user_id", "project_id"]],
});

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const member = memberOf(membership);
  const owners = memberOf(membership, { where: { role: "owner" } });
  return defineConfig({
    without: ["orders"],
    mounts: [
      mount(project, {
        permission: {
          list: memberOf(membership, { on: "id" }),
          read: memberOf(membership, { on: "id" }),
          create: authenticated,
          update: memberOf(membership, { on: "id", where: { role: "owner" } }),
        },
        founder: { memberships: membership, values: { role: "owner" } },
      }),
      mount(membership, {
        permission: { list: member, read: member, create: owners, update: isLeaky ? member : owners, delete: owners },
      }),
    ],
  });
}
