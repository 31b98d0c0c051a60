import { computeCode, computeStep } from "../features/auth/totp/codes.ts";

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/**
 * Returns the code that an authenticator app shows for a TOTP factor. `secret` is the member of that name from
 * `POST /users/{id}/factors`, in Base32. `now` is the time, in milliseconds since the epoch. Throws a TypeError if the
 * secret is not Base32.
 *
 * @example
 * ```ts
 * import { totpCode } from "latchkey/testing";
 *
 * console.log(totpCode("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", 59_000)); // 287082
 * ```
 */
export function totpCode(secret: string, now: number): string {
  const values = [...secret].map((letter) => BASE32.indexOf(letter));
  if (values.includes(-1))
    throw new TypeError("totpCode: the secret is not Base32. Pass the member `secret` of the new factor.");
  const bits = values.map((value) => value.toString(2).padStart(5, "0")).join("");
  const bytes = bits.match(/.{8}/g) ?? [];
  return computeCode(Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2))), computeStep(now));
}
