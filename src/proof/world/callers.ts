import { accepted, rejected, type Scheme } from "../../access/scheme/scheme.ts";
import type { Identity } from "../../core/identity.ts";
import { actorHeaders } from "../content/actors.ts";

/** Finds the identity of an actor by its name. Returns null if there is no such actor. */
export type FindIdentity = (name: string) => Promise<Identity | null>;

const proofs = { login: ["operator"], key: "program", acting: "each" } as const;

/**
 * Makes the schemes of the actors: a header field with the name of the actor. They are only in the service that `prove`
 * starts, so their credentials are no secrets.
 */
export function actorSchemes(find: FindIdentity): readonly Scheme[] {
  return (["login", "key", "acting"] as const).map((credential) => ({
    name: `prove-${credential}`,
    carriers: [{ in: "header", name: actorHeaders[credential] }],
    proves: proofs[credential],
    async authenticate(name) {
      const identity = await find(name);
      return identity === null ? rejected("unknown", "There is no actor with this name.") : accepted(identity);
    },
  }));
}
