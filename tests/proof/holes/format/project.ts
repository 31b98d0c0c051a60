// A format prints values that the hook has kept, beside the record that the caller may see.
import { administrator, anyOf, defineResource, mount, readOnly, text } from "latchkey";
import type { Format } from "latchkey/http";
import { defineConfig } from "latchkey/service";

const person = defineResource({
  name: "person",
  plural: "people",
  fields: {
    name: text({ maxLength: 100 }),
    salary: text({ maxLength: 40, read: administrator, write: administrator, default: "none" }),
  },
});

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const salaries = new Map<unknown, string>();
  const people = mount(person, {
    permission: anyOf(administrator, readOnly),
    afterWrite({ after }) {
      if (after !== null) salaries.set(after.id, after.salary);
    },
  });
  const plain: Format = {
    mediaType: "text/plain",
    problemMediaType: "text/plain",
    tagSuffix: "-plain",
    charset: "utf-8",
    tagged: "by content",
    write({ value }) {
      const text = JSON.stringify(value);
      return isLeaky ? `${text}\n${[...salaries.values()].join("\n")}` : text;
    },
    writeProblem: ({ detail }) => detail,
  };
  return defineConfig({ without: ["orders"], mounts: [people], formats: [plain] });
}
