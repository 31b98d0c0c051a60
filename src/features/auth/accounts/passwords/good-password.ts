import type { Issue } from "../../../../core/problem/problem.ts";
import { invalid, type Context } from "../../../../http/exchange.ts";
import type { UsersParts } from "../parts.ts";
import { checkNewPassword } from "./passwords.ts";

/** Whose password it is to be. */
interface Names {
  readonly username: string;
  readonly email: string | null;
}

/** Ends the request (400) where nobody should have this password. */
export async function requireGoodPassword(
  parts: UsersParts,
  context: Context,
  password: string,
  names: Names,
): Promise<void> {
  const issue = checkNewPassword(password, names, parts.serviceNames);
  if (issue !== null) throw invalid([issue]);
  if (await isKnown(parts, context, password)) throw invalid([breached]);
}

/** Somebody else is asked for it, and whoever signs up may ask them only so often: each that is refused counts as a sign-up. */
async function isKnown(
  { isBreached, throttle }: UsersParts,
  { call, identity }: Context,
  password: string,
): Promise<boolean> {
  if (isBreached === null) return false;
  if (identity !== null) return isBreached(password);
  return throttle.probe(call, async () => {
    const result = await isBreached(password);
    return { counts: result, result };
  });
}

const breached: Issue = {
  pointer: "/password",
  code: "breached",
  detail: "The password is known from a breach somewhere.",
};
