import { problem, type Issue } from "../../../core/problem/problem.ts";
import { storedOf } from "../../../http/declarations/table.ts";
import { invalid, type Context } from "../../../http/request/exchange.ts";
import { fold } from "../../../store/fold.ts";
import type { Row } from "../../../store/store.ts";
import type { AccountsParts } from "../people/parts.ts";
import type { AccountRecord, UsernameOrigin } from "../records/accounts.ts";
import { isAdministrator } from "./taken.ts";

/**
 * Ends the request if the caller may not choose this username for a user with this address. Administrators may choose
 * any. The address of another person is refused, because this person could then not use it.
 */
export function requireMayName(
  { takesOutsideLogins }: AccountsParts,
  context: Context,
  { username, email }: { readonly username: string; readonly email: string },
): void {
  if (isAdministrator(context)) return;
  // A later user of the external system may have the same name. The new user could then not log in.
  if (takesOutsideLogins())
    throw problem("permission_denied", { detail: "Only administrators can choose usernames here." });
  if (username.includes("@") && fold(username) !== fold(email)) throw invalid([addressOfAnother]);
}

/**
 * True if a username that this caller chose follows the address: it is the address, because users choose no other one
 * with `@`.
 */
export function isOwnAddress(context: Context, username: string): boolean {
  return username.includes("@") && !isAdministrator(context);
}

/**
 * True if the stored username changes together with the address `email`: it is only the default, or the user chose the
 * address as username.
 */
export function followsEmail({ takesOutsideLogins }: AccountsParts, row: Row<AccountRecord>, email: string): boolean {
  if (takesOutsideLogins()) return false;
  const { username, username_follows_email: isFollowing, username_origin: origin } = storedOf(row);
  return isFollowing || (origin === "chosen" && fold(username) === fold(email));
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
