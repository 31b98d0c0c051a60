import { accepted, rejected, type Scheme } from "../access/scheme/scheme.ts";
import type { Identity } from "../core/identity.ts";

/** The header field that names the actor of a request. */
export const ACTOR_HEADER = "X-Prove-Actor";

/** Finds the identity of an actor by its name. Returns null if there is no such actor. */
export type FindIdentity = (name: string) => Promise<Identity | null>;

/**
 * Makes the scheme of the actors: a header field with the name of the actor. It is only in the service that `prove`
 * starts, so its credentials are no secrets.
 */
export function actorScheme(find: FindIdentity): Scheme {
  return {
    name: "prove",
    carriers: [{ in: "header", name: ACTOR_HEADER }],
    proves: ["operator"],
    async authenticate(credential) {
      const identity = await find(credential);
      return identity === null ? rejected("unknown", "There is no actor with this name.") : accepted(identity);
    },
  };
}
