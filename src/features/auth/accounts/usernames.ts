import { problem, type Issue } from "../../../core/problem/problem.ts";
import { invalid, type Context } from "../../../http/exchange.ts";
import { fold } from "../../../store/fold.ts";
import type { UsersParts } from "./parts.ts";
import type { UsernameOrigin } from "./stored-accounts.ts";
import { isAdministrator } from "./taken.ts";

/** Ends the request if the caller may not choose a username. */
export function requireMayName({ takesOutsideLogins }: UsersParts, context: Context): void {
  // A later user of the external system may have the same name. The new user could then not log in.
  if (!takesOutsideLogins() || isAdministrator(context)) return;
  throw problem("permission_denied", { detail: "Only administrators can choose usernames here." });
}

/** Ends the request if a user chooses the e-mail address of another person as username. The other person could then not use it. */
export function requireOwnAddress({ username, email }: { readonly username: string; readonly email: string }): void {
  if (username.includes("@") && fold(username) !== fold(email)) throw invalid([addressOfAnother]);
}

const addressOfAnother: Issue = {
  pointer: "/username",
  code: "invalid",
  detail: "A username with @ has to be the e-mail address of the user.",
};

/** Returns the origin of the username that this request writes. */
export function resolveUsernameOrigin(context: Context): UsernameOrigin {
  return isAdministrator(context) ? "given" : "chosen";
}
