// An endpoint answers 403 for the rows of others, and 404 for missing ones.
import {
  authenticated,
  caller,
  defineEndpoint,
  defineResource,
  mount,
  owner,
  problem,
  reference,
  text,
} from "latchkey";
import { defineConfig } from "latchkey/service";

const patient = defineResource({
  name: "patient",
  fields: { owner_id: reference("users", { default: caller }), name: text({ maxLength: 200 }) },
});
const patients = mount(patient, { permission: owner("owner_id") });

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const card = defineEndpoint({
    method: "GET",
    path: "/cards/{patient_id}",
    access: authenticated,
    async handle(context) {
      const row = await context.store.find(patients.collection, context.params.patient_id);
      const { id } = context.requireIdentity();
      if (row === null) throw problem("not_found");
      if (row.record.owner_id !== id) throw problem(isLeaky ? "permission_denied" : "not_found");
      return { status: 200, body: { kind: "data", value: { name: row.record.name }, element: "card" } };
    },
  });
  return defineConfig({ without: ["orders"], mounts: [patients], endpoints: [card] });
}
