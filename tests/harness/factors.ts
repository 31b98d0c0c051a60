import assert from "node:assert/strict";
import { computeCode, computeStep } from "../../src/features/auth/totp/codes.ts";
import type { API, Answered } from "./serve.ts";

/** A user with a TOTP factor, with the codes of an authenticator app. */
export interface TOTPUser {
  readonly id: number;
  readonly email: string;
  readonly password: string;
  readonly factor: string;
  readonly recoveryCodes: readonly string[];
  /** The login that added the factor, as request headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** Returns the code of the current time, or of `steps` times 30 seconds later. */
  code(steps?: number): string;
}

/** Decodes Base32 without padding (RFC 4648 §6). */
export function parseBase32(text: string): Buffer {
  const bits = [...text].map((letter) =>
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0"),
  );
  const bytes = bits.join("").match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}

/** Returns the cookies that a response sets, as a request header field. */
export function readCookies(answer: Answered): Readonly<Record<string, string>> {
  return {
    cookie: answer.headers
      .getSetCookie()
      .map((each) => each.split(";")[0]!)
      .join("; "),
  };
}

/** Creates a user who logs in with a session and adds a TOTP factor. Moves the clock one step forward. */
export async function addTOTP(api: API, name: string): Promise<TOTPUser> {
  return addTOTPTo(api, await api.user(name));
}

/** Adds a TOTP factor to a user, through a new session. Moves the clock one step forward. */
export async function addTOTPTo(
  api: API,
  { id, email, password }: Pick<TOTPUser, "id" | "email" | "password">,
): Promise<TOTPUser> {
  const session = readCookies(await api.post("/api/session/", { username: email, password }));
  const made = await api.post(`/users/${id}/factors`, { kind: "totp", label: "Phone" }, session);
  assert.equal(made.status, 201, made.text);
  const secret = parseBase32(made.json.secret);
  const code = (steps = 0): string => computeCode(secret, computeStep(api.clock.now) + steps);
  const confirmed = await api.post(`/users/${id}/factors/${made.json.id}/confirm`, { code: code() }, session);
  assert.equal(confirmed.status, 200, confirmed.text);
  api.clock.turn(30);
  return {
    id,
    email,
    password,
    factor: made.json.id,
    recoveryCodes: confirmed.json.recovery_codes,
    headers: readCookies(confirmed),
    code,
  };
}

/**
 * Sends the password, the first step of a login. The body of the response names the login that waits for the second
 * step.
 */
export async function startLogin(api: API, { email, password }: TOTPUser): Promise<Answered> {
  return api.post("/api/token/", { username: email, password });
}
