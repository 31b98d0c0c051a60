// A permission narrows lists to the owner, and forgets the records themselves.
import { caller, defineResource, mount, reference, text } from "latchkey";
import type { Permission } from "latchkey/auth";
import { defineConfig } from "latchkey/service";

const note = defineResource({
  name: "note",
  fields: { owner_id: reference("users", { default: caller }), body: text({ maxLength: 200 }) },
});

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const mine: Permission<"owner_id"> = {
    name: "mine",
    narrows: isLeaky
      ? ["list", "update", "replace", "delete"]
      : ["list", "read", "create", "update", "replace", "delete"],
    columns: ["owner_id"],
    decide({ identity, action }) {
      if (identity === null) return "deny";
      if (isLeaky && (action === "read" || action === "create")) return "allow";
      return { only: { column: "owner_id", operator: "eq", value: identity.id } };
    },
  };
  return defineConfig({ without: ["orders"], mounts: [mount(note, { permission: mine })] });
}
