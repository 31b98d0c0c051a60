import { checkNewPassword } from "../../../auth/passwords.ts";
import { invalid } from "../../../http/exchange.ts";
import type { Issue } from "../../../problem/problem.ts";
import type { UsersParts } from "../parts.ts";

/** Whose password it is to be. */
interface Names {
  readonly username: string;
  readonly email: string | null;
}

/** Ends the request (400) where nobody should have this password. */
export async function requireGoodPassword(
  { serviceNames, isBreached }: UsersParts,
  password: string,
  names: Names,
): Promise<void> {
  const issue = checkNewPassword(password, names, serviceNames);
  if (issue !== null) throw invalid([issue]);
  if (isBreached !== null && (await isBreached(password))) throw invalid([breached]);
}

const breached: Issue = {
  pointer: "/password",
  code: "breached",
  detail: "The password is known from a breach somewhere.",
};
