import { checkNewPassword, invalid, type Issue } from "../index.ts";
import type { LoginParts } from "./parts.ts";

/** Whose password it is to be. */
interface Names {
  readonly username: string;
  readonly email: string | null;
}

/** Ends the request (400) where nobody should have this password. */
export async function requireGoodPassword(
  { settings, isBreached }: LoginParts,
  password: string,
  names: Names,
): Promise<void> {
  const host = settings.publicURL === null ? [] : [new URL(settings.publicURL).hostname];
  const issue = checkNewPassword(password, names, ["latchkey", settings.issuer, ...host]);
  if (issue !== null) throw invalid([issue]);
  if (isBreached !== null && (await isBreached(password))) throw invalid([breached]);
}

const breached: Issue = {
  pointer: "/password",
  code: "breached",
  detail: "The password is known from a breach somewhere.",
};
