// A function computes a visible field from a hidden one.
import { administrator, anyOf, defineResource, mount, readOnly, text } from "latchkey";
import { defineConfig } from "latchkey/service";

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const person = defineResource({
    name: "person",
    plural: "people",
    fields: {
      name: text({ maxLength: 100 }),
      salary: text({ maxLength: 40, read: administrator, write: administrator, default: "none" }),
    },
    computed: {
      card: {
        as: text(isLeaky ? {} : { read: administrator }),
        from: ({ name, salary }) => `${name}: ${salary}`,
      },
    },
  });
  return defineConfig({
    without: ["orders"],
    mounts: [mount(person, { permission: anyOf(administrator, readOnly) })],
  });
}
