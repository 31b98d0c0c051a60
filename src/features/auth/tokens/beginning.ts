import type { Beginning } from "../gate/contract.ts";
import { requireOn } from "../people/options.ts";
import { renewTokens, startTokens, type StartingParts, type TokenOptions } from "./endpoints.ts";

/** A token pair as a kind of login. */
export function tokenBeginning(enabled: boolean, parts: () => StartingParts): Beginning<TokenOptions> {
  return {
    name: "tokens",
    carriedIn: ({ cookie }) => (cookie ? "cookie" : "text"),
    start(context, admission, options) {
      requireOn(enabled, "token-login");
      return startTokens(parts(), context, admission, options);
    },
    current(context) {
      const { family } = context.requireIdentity();
      const cookie = context.call.header("authorization") === undefined;
      return family === undefined ? null : { id: family, options: { cookie } };
    },
    renew: (context, admission, current) => renewTokens(parts(), context, admission, current),
    isLive: (family) => parts().pairs.isLive(family),
  };
}
