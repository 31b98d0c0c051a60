import { accepted, rejected, type Scheme } from "../../../access/scheme/scheme.ts";
import { aFunction, optional, text } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { made } from "../../../core/copy.ts";
import { aSecret, type Secret } from "../../../core/crypto/secret.ts";
import { after, type Eventually } from "../../../core/eventually.ts";
import { identityOf, type Account } from "../records/accounts.ts";

/** Options of `customHeader()`: the header, its token and its account. */
export interface CustomHeaderOptions {
  readonly header?: string;
  readonly token: Secret;
  /** Returns the account that callers with the token act as. Returns null if it no longer exists. */
  readonly account: () => Eventually<Account | null>;
}

const name = "custom-header";
const detail = "Invalid or missing token.";

const checks: ChecksOf<CustomHeaderOptions> = { header: optional(text), token: aSecret, account: aFunction };

/** Accepts one shared token in a custom header, for clients that support no standard scheme. */
export function customHeader(options: CustomHeaderOptions): Scheme {
  requireOptions(options, checks, { of: "customHeader" });
  const { header = "X-Custom-Token", token, account } = options;
  return made({
    name,
    carriers: [{ in: "header", name: header }],
    proves: "program",
    missingDetail: detail,
    authenticate(presented) {
      if (!token.equals(presented)) return rejected("unknown", detail);
      return after(account(), (found) =>
        found?.active ? accepted(identityOf(found, name)) : rejected("inactive", detail),
      );
    },
  });
}
