// An action stores a field whose rule lets only administrators send it.
import { administrator, caller, defineResource, integer, mount, owner, reference, text } from "latchkey";
import { defineConfig } from "latchkey/service";

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const claim = defineResource({
    name: "claim",
    fields: {
      owner_id: reference("users", { default: caller }),
      reason: text({ maxLength: 200 }),
      amount: integer({ minimum: 0, maximum: 9_000_000, default: 0, write: administrator }),
    },
  });
  const mine = owner("owner_id");
  const claims = mount(claim, {
    permission: mine,
    actions: {
      amend: {
        permission: mine,
        body: { reason: text({ maxLength: 200 }), amount: integer({ minimum: 0, maximum: 9_000_000 }) },
        handle: ({ draft: { reason, amount } }) => ({ values: isLeaky ? { reason, amount } : { reason } }),
      },
    },
  });
  return defineConfig({ without: ["orders"], mounts: [claims] });
}
