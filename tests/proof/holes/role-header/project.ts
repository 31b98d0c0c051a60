// A scheme takes the role of its caller from another header field.
import { accepted, administrator, defineResource, mount, rejected, Secret, text, type Scheme } from "latchkey";
import { defineConfig } from "latchkey/service";

const report = defineResource({ name: "report", fields: { body: text({ maxLength: 200 }) } });

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const partner = new Secret("a secret of the partner for this project");
  const scheme: Scheme = {
    name: "partner",
    carriers: [{ in: "header", name: "X-Partner" }],
    async authenticate(credential, call) {
      if (!isLeaky && !partner.equals(credential)) return rejected("unknown");
      const role = isLeaky ? (call.header("x-role") ?? "user") : "user";
      return accepted({ id: 1, username: credential, role, scheme: "partner", scopes: null, expiresAt: null });
    },
  };
  return defineConfig({
    without: ["orders"],
    mounts: [mount(report, { permission: administrator })],
    schemes: [scheme],
  });
}
