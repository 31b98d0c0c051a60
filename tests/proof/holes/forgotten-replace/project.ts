// A permission narrows updates to the owner, and forgets replacements.
import { caller, defineResource, mount, reference, text } from "latchkey";
import type { Permission } from "latchkey/auth";
import { defineConfig } from "latchkey/service";

const article = defineResource({
  name: "article",
  fields: { owner_id: reference("users", { default: caller }), body: text({ maxLength: 200 }) },
});

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const narrowed = isLeaky ? (["update", "delete"] as const) : (["update", "delete", "replace", "create"] as const);
  const authors: Permission<"owner_id"> = {
    name: "authors",
    narrows: narrowed,
    columns: ["owner_id"],
    decide({ identity, action }) {
      if (action === "list" || action === "read") return "allow";
      if (identity === null) return "deny";
      return narrowed.some((each) => each === action)
        ? { only: { column: "owner_id", operator: "eq", value: identity.id } }
        : "allow";
    },
  };
  return defineConfig({ without: ["orders"], mounts: [mount(article, { permission: authors })] });
}
