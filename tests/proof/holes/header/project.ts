// A scheme takes the id of the user from a header field, without a proof.
import {
  accepted,
  caller,
  defineFeature,
  defineResource,
  mount,
  owner,
  reference,
  rejected,
  Secret,
  text,
} from "latchkey";
import { identityOf } from "latchkey/auth";
import { defineConfig } from "latchkey/service";

const note = defineResource({
  name: "note",
  fields: { owner_id: reference("users", { default: caller }), body: text({ maxLength: 200 }) },
});

export function make({ isLeaky }: { readonly isLeaky: boolean }) {
  const gateway = new Secret("a secret that the gateway shares with the service");
  return defineConfig({
    without: ["orders"],
    mounts: [mount(note, { permission: owner("owner_id") })],
    features: ({ accounts }) => [
      defineFeature({
        name: "gateway",
        needs: [accounts],
        setUp: (host) => ({
          offer: null,
          schemes: [
            {
              name: "gateway",
              carriers: [{ in: "header", name: "X-User-Id" }],
              async authenticate(credential) {
                const [id = "", proof = ""] = credential.split(" ");
                if (!isLeaky && !gateway.equals(proof)) return rejected("unknown");
                const account = await host.use(accounts).accounts.find(Number(id));
                return account === null ? rejected("unknown") : accepted(identityOf(account, "gateway"));
              },
            },
          ],
        }),
      }),
    ],
  });
}
