// Anyone may join a club, and chooses its own role there.
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
import { memberOf } from "latchkey/auth";
import { defineConfig } from "latchkey/service";

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const club = defineResource({ name: "club", fields: { title: text({ maxLength: 100 }) } });
  const membership = defineResource({
    name: "membership",
    fields: {
      user_id: reference("users"),
      club_id: reference(club, { onDelete: "cascade" }),
      role: enumeration(["member", "owner"], { default: "member", ...(isLeaky ? {} : { readOnly: true }) }),
    },
    unique: [["user_id", "club_id"]],
  });
  const member = memberOf(membership);
  return defineConfig({
    without: ["orders"],
    mounts: [
      mount(club, {
        permission: {
          list: authenticated,
          read: authenticated,
          create: authenticated,
          update: memberOf(membership, { where: { role: "owner" } }),
        },
      }),
      mount(membership, {
        permission: { list: member, read: member, create: anyOf(owner("user_id"), administrator) },
        joins: "open",
      }),
    ],
  });
}
