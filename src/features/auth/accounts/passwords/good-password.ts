import type { Issue } from "../../../../core/problem/problem.ts";
import { invalid, type Context } from "../../../../http/request/exchange.ts";
import { checkNewPassword } from "../../passwords/passwords.ts";
import type { AccountsParts } from "../../people/parts.ts";

/** The names of the user who chooses the password. */
interface Names {
  readonly username: string;
  readonly email: string | null;
}

/**
 * Ends the request (400) if a new password is not acceptable, for example too short, known from a breach, or equal to
 * one of `names`.
 */
export async function requireGoodPassword(
  parts: AccountsParts,
  context: Context | null,
  password: string,
  names: Names,
): Promise<void> {
  const issue = checkNewPassword(password, names, parts.serviceNames);
  if (issue !== null) throw invalid([issue]);
  if (await isKnown(parts, context, password)) throw invalid([breached]);
}

/**
 * True if the password is known from a breach. This sends a request to another service, so anonymous callers have a
 * limit: each refusal counts as a sign-up.
 */
async function isKnown(
  { isBreached, throttle }: AccountsParts,
  context: Context | null,
  password: string,
): Promise<boolean> {
  if (isBreached === null) return false;
  // Without a request, the service itself sets the password.
  if (context === null || context.identity !== null) return isBreached(password);
  return throttle.probe(context.call, async () => {
    const result = await isBreached(password);
    return { counts: result, result };
  });
}

const breached: Issue = {
  pointer: "/password",
  code: "breached",
  detail: "The password is in a list of breached passwords.",
};
