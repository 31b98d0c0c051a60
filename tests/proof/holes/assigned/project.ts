// An endpoint stores every member of its body in the row of the caller.
import { authenticated, defineEndpoint, defineFeature, defineResource, integer, mount, text } from "latchkey";
import { callerField, defineUsers, sameAs } from "latchkey/auth";
import { defineConfig } from "latchkey/service";

const users = defineUsers({
  fields: { city: text({ maxLength: 100, optional: true }), tenant: integer({ optional: true }) },
  identity: ["tenant"],
  administered: ["tenant"],
});
const note = defineResource({
  name: "note",
  fields: { tenant: integer({ default: callerField(users, "tenant") }), body: text({ maxLength: 200 }) },
});

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  return defineConfig({
    without: ["orders"],
    users,
    mounts: [mount(note, { permission: sameAs(users, "tenant") })],
    features: ({ accounts }) => [
      defineFeature({
        name: "profile",
        needs: [accounts],
        setUp(host) {
          const people = host.use(accounts).accounts.users;
          const change = defineEndpoint({
            method: "PATCH",
            path: "/profile",
            access: authenticated,
            body: { type: "object", properties: { city: { type: "string", minLength: 1, maxLength: 100 } } },
            async handle(context) {
              const { city } = context.body.value;
              const sent = context.body.value as { readonly city?: string; readonly tenant?: number };
              const values = isLeaky ? sent : city === undefined ? {} : { city };
              const { id } = context.requireIdentity();
              await context.write({ changes: [{ kind: "update", collection: people.collection, key: id, values }] });
              return { status: 204 };
            },
          });
          return { offer: null, endpoints: [change] };
        },
      }),
    ],
  });
}
