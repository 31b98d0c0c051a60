// A custom permission that narrows every action but one to the owner's rows.
import { caller, defineResource, mount, reference, text } from "latchkey";
import type { Action, Permission } from "latchkey/auth";
import { defineConfig } from "latchkey/service";

const every: readonly Action[] = ["list", "create", "read", "replace", "update", "delete"];

const note = defineResource({
  name: "note",
  fields: { owner_id: reference("users", { default: caller }), body: text({ maxLength: 200 }) },
});

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const mine: Permission<"owner_id"> = {
    name: "my notes",
    narrows: every,
    columns: ["owner_id"],
    decide({ identity, action }) {
      if (identity === null) return "deny";
      if (isLeaky && action === "update") return "allow";
      return { only: { column: "owner_id", operator: "eq", value: identity.id } };
    },
  };
  return defineConfig({ without: ["orders"], mounts: [mount(note, { permission: mine })] });
}
