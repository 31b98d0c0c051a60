import { isAmbient, type Scheme } from "../../../access/scheme/scheme.ts";
import type { Call } from "../../../core/call/call.ts";
import { problem } from "../../../core/problem/problem.ts";
import { invalid, type Context } from "../../../http/request/exchange.ts";
import type { FirstStep } from "../gate/contract.ts";
import type { GateParts } from "../gate/parts.ts";
import type { LoginBody } from "../people/contracts/logins.ts";

/** The body of a login without any proof. */
export const noProof: LoginBody = {
  username: null,
  password: null,
  pending: null,
  credential: null,
  email: null,
  code: null,
  token: null,
};

/**
 * Checks the first proof of a login. The response to a name and a password is the same for every reason of a failure.
 */
export async function proveFirst(
  { gate, passwords }: GateParts,
  context: Context,
  body: LoginBody,
  schemes: readonly Scheme[],
): Promise<FirstStep> {
  const first = gate.findFirstProof(body);
  if (first !== null && body.username === null && body.password === null) return first.prove(context, body);
  const { username, password } = requireNameAndPassword(body);
  const { call } = context;
  const proved = await passwords.login(call, username, password);
  if (proved !== null) return proved;
  throw problem("invalid_credentials", { headers: [["WWW-Authenticate", chooseChallenge(call, schemes)]] });
}

/** Returns the name and the password of a login. Ends the request (400) if one is missing. */
function requireNameAndPassword({ username, password }: Pick<LoginBody, "username" | "password">) {
  if (username !== null && password !== null) return { username, password };
  const missing = Object.entries({ username, password }).filter(([, value]) => value === null);
  throw invalid(
    missing.map(([name]) => ({ pointer: `/${name}`, code: "required", detail: "This field is required." })),
  );
}

/** RFC 9110 §15.5.2 requires a challenge with every 401, and no registered scheme fits a session. */
const sessionChallenge = ({ realm }: Call): string => `Session realm="${realm}"`;

/**
 * Returns the challenge for a login that failed. Skips the schemes that browsers answer themselves, for example Basic,
 * because the browser would show its password dialog over the form.
 */
export function chooseChallenge(call: Call, schemes: readonly Scheme[]): string {
  for (const scheme of schemes.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    if (!scheme.carriers.some((carrier) => carrier.in === "authorization" && !isAmbient(scheme, carrier))) continue;
    const challenge = scheme.challenge?.(call, null) ?? null;
    if (challenge !== null) return challenge;
  }
  return sessionChallenge(call);
}
