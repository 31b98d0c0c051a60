import { checkNewPassword, invalid } from "../index.ts";
import type { LoginParts } from "./parts.ts";

/** Whose password it is to be. */
interface Names {
  readonly username: string;
  readonly email: string | null;
}

/** Ends the request (400) where nobody should have this password. */
export function requireGoodPassword({ settings }: LoginParts, password: string, names: Names): void {
  const host = settings.publicURL === null ? [] : [new URL(settings.publicURL).hostname];
  const issue = checkNewPassword(password, names, ["latchkey", settings.issuer, ...host]);
  if (issue !== null) throw invalid([issue]);
}
