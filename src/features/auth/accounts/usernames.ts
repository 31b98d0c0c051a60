import { problem } from "../../../core/problem/problem.ts";
import type { Context } from "../../../http/exchange.ts";
import type { UsersParts } from "./parts.ts";
import type { UsernameOrigin } from "./stored-accounts.ts";
import { isAdministrator } from "./taken.ts";

/** Ends the request if the caller may not choose a username. */
export function requireMayName({ takesOutsideLogins }: UsersParts, context: Context): void {
  // With external logins, a new colleague could arrive with this name.
  if (!takesOutsideLogins() || isAdministrator(context)) return;
  throw problem("permission_denied", { detail: "Usernames are given by administrators here." });
}

/** Returns the origin of the name that is being written. */
export function usernameOriginOf(context: Context): UsernameOrigin {
  return isAdministrator(context) ? "given" : "chosen";
}
