import type { Context } from "../../../http/request/exchange.ts";
import { ownOrAnyUnlimited } from "../requests/access.ts";
import { withoutKey } from "../requests/fresh-login.ts";
import { loginTypes, MAX_LOGIN_BODY_BYTES } from "./credentials.ts";

/**
 * The common members of all endpoints that add or remove a login method. Programs send JSON, and the service's pages
 * send forms.
 */
export const changesLogins = {
  access: ownOrAnyUnlimited,
  logsIn: true,
  consumes: loginTypes,
  maxBodyBytes: MAX_LOGIN_BODY_BYTES,
  guard(context: Context) {
    withoutKey(context);
    context.requireSameSite();
  },
} as const;
