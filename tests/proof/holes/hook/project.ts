// A hook copies a hidden value into a field that everyone reads.
import { administrator, anyOf, defineResource, mount, readOnly, text } from "latchkey";
import { defineConfig } from "latchkey/service";

const person = defineResource({
  name: "person",
  plural: "people",
  fields: {
    name: text({ maxLength: 100 }),
    salary: text({ maxLength: 40, optional: true, read: administrator, write: administrator }),
    summary: text({ maxLength: 200, default: "none", readOnly: true }),
  },
});

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const people = mount(person, {
    permission: anyOf(administrator, readOnly),
    beforeWrite({ draft }) {
      if (draft === null) return {};
      const { name, salary } = draft.values;
      return { values: { summary: isLeaky ? `${name} earns ${salary ?? "nothing"}` : name } };
    },
  });
  return defineConfig({ without: ["orders"], mounts: [people] });
}
