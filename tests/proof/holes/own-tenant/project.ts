// Users belong to a tenant, and set the tenant themselves.
import { defineResource, integer, mount, text } from "latchkey";
import { callerField, defineUsers, sameAs } from "latchkey/auth";
import { defineConfig } from "latchkey/service";

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const users = defineUsers({
    fields: { tenant: integer({ optional: true }) },
    identity: ["tenant"],
    administered: isLeaky ? [] : ["tenant"],
  });
  const note = defineResource({
    name: "note",
    fields: { tenant: integer({ default: callerField(users, "tenant") }), body: text({ maxLength: 200 }) },
  });
  return defineConfig({ without: ["orders"], users, mounts: [mount(note, { permission: sameAs(users, "tenant") })] });
}
