import type { Secret } from "../../crypto/secret.ts";
import { after, type Eventually } from "../../eventually.ts";
import { identityOf, type Account } from "../accounts.ts";
import { accepted, rejected, type Scheme } from "../scheme.ts";

export interface CustomHeaderOptions {
  readonly header?: string;
  readonly token: Secret;
  /** Everyone who knows the token acts as this account; null where it is not there any more. */
  readonly account: () => Eventually<Account | null>;
}

const name = "custom-header";
const detail = "Invalid or missing token.";

/** One shared token in a header of its own, for callers that speak no standard scheme. */
export function customHeader({ header = "X-Custom-Token", token, account }: CustomHeaderOptions): Scheme {
  return {
    name,
    carriers: [{ in: "header", name: header }],
    missingDetail: detail,
    authenticate(presented) {
      if (!token.equals(presented)) return rejected("unknown", detail);
      return after(account(), (found) =>
        found?.active ? accepted(identityOf(found, name)) : rejected("inactive", detail),
      );
    },
  };
}
