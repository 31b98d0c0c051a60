// An endpoint makes a key for the user that its body names.
import { createHash } from "node:crypto";
import {
  accepted,
  administrator,
  authenticated,
  caller,
  defineEndpoint,
  defineFeature,
  defineResource,
} from "latchkey";
import { mount, owner, reference, rejected, text } from "latchkey";
import { identityOf } from "latchkey/auth";
import { defineConfig } from "latchkey/service";

const note = defineResource({
  name: "note",
  fields: { owner_id: reference("users", { default: caller }), body: text({ maxLength: 200 }) },
});
const pass = defineResource({
  name: "pass",
  plural: "passes",
  fields: { user_id: reference("users", { onDelete: "cascade" }), digest: text({ maxLength: 100 }) },
  filters: { digest: ["eq"] },
});
const passes = mount(pass, { permission: { list: administrator } });
const digestOf = (value: string): string => createHash("sha256").update(value).digest("base64url");

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  let count = 0;
  const issue = defineEndpoint({
    method: "POST",
    path: "/passes/issue",
    access: authenticated,
    body: { type: "object", properties: { user_id: { type: "integer", minimum: 1 } }, required: ["user_id"] },
    async handle(context) {
      const user_id = isLeaky ? context.body.value.user_id : context.requireIdentity().id;
      const value = `pass-${++count}-${digestOf(`${context.now}`)}`;
      const values = { user_id, digest: digestOf(value) };
      await context.write({ changes: [{ kind: "insert", collection: passes.collection, values }] });
      return { status: 201, body: { kind: "data", value: { pass: value }, element: "pass" } };
    },
  });
  return defineConfig({
    without: ["orders"],
    mounts: [mount(note, { permission: owner("owner_id") })],
    features: ({ accounts }) => [
      defineFeature({
        name: "passes",
        needs: [accounts],
        setUp: (host) => ({
          offer: null,
          mounts: [passes],
          endpoints: [issue],
          schemes: [
            {
              name: "pass",
              carriers: [{ in: "header", name: "X-Pass" }],
              async authenticate(credential) {
                const where = { column: "digest", operator: "eq", value: digestOf(credential) } as const;
                const query = { collection: passes.collection, where, sort: [{ column: "id" }], limit: 1 };
                const [row] = await host.store.list(query);
                const user =
                  row === undefined ? null : await host.use(accounts).accounts.find(Number(row.record.user_id));
                return user === null ? rejected("unknown") : accepted(identityOf(user, "pass"));
              },
            },
          ],
        }),
      }),
    ],
  });
}
