import { problem, type Context, type UsernameOrigin } from "../index.ts";
import type { LoginParts } from "./parts.ts";
import type { Settings } from "./settings.ts";

/** Whether identities from outside are taken: a name is then what a colleague will arrive under. */
export function takesOutsideLogins({ schemes, issuers }: Settings): boolean {
  return schemes.includes("remote-user") || issuers.length > 0;
}

/** Ends the request where the caller may not choose a username. */
export function requireMayName({ settings }: LoginParts, context: Context): void {
  if (!takesOutsideLogins(settings) || isAdministrator(context)) return;
  throw problem("permission_denied", { detail: "Usernames are given by administrators here." });
}

/** Who gives the name that is being written. */
export function usernameOriginOf(context: Context): UsernameOrigin {
  return isAdministrator(context) ? "given" : "chosen";
}

function isAdministrator({ identity }: Context): boolean {
  return identity?.role === "admin";
}
