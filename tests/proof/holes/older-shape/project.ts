// An older shape that was written by hand shows a field that its rule hides.
import { administrator, anyOf, anyone, defineEndpoint, defineResource, mount, problem, readOnly, text } from "latchkey";
import { olderShape } from "latchkey/resources";
import { defineConfig } from "latchkey/service";

const person = defineResource({
  name: "person",
  plural: "people",
  fields: {
    name: text({ maxLength: 100 }),
    salary: text({ maxLength: 40, read: administrator, write: administrator, default: "none" }),
  },
});
const people = mount(person, { permission: anyOf(administrator, readOnly) });

const byHand = defineEndpoint({
  method: "GET",
  path: "/v1/people/{id}",
  access: anyone,
  async handle(context) {
    const row = await context.store.find(people.collection, context.params.id);
    if (row === null) throw problem("not_found");
    const { id, name, salary } = row.record;
    return { status: 200, body: { kind: "data", value: { id, name, pay: salary }, element: "person" } };
  },
});

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  return isLeaky
    ? defineConfig({ without: ["orders"], mounts: [people], endpoints: [byHand] })
    : defineConfig({
        without: ["orders"],
        mounts: [people, olderShape(people, { prefix: "/v1", fields: { name: "name", pay: "salary" } })],
      });
}
