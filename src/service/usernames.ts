import { problem, type Exchange, type UsernameOrigin } from "../index.ts";
import type { LoginParts } from "./parts.ts";
import type { Settings } from "./settings.ts";

/** Whether identities from outside are taken: a name is then what a colleague will arrive under. */
export function takesOutsideLogins({ schemes, issuers }: Settings): boolean {
  return schemes.includes("remote-user") || issuers.length > 0;
}

/** Ends the request where the caller may not choose a username. */
export function requireMayName({ settings }: LoginParts, exchange: Exchange): void {
  if (!takesOutsideLogins(settings) || isAdministrator(exchange)) return;
  throw problem("permission_denied", { detail: "Usernames are given by administrators here." });
}

/** Who gives the name that is being written. */
export function usernameOriginOf(exchange: Exchange): UsernameOrigin {
  return isAdministrator(exchange) ? "given" : "chosen";
}

function isAdministrator({ identity }: Exchange): boolean {
  return identity?.role === "admin";
}
