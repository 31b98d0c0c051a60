import { createHmac } from "node:crypto";

/** How long a code is valid, in seconds (RFC 6238, the default of every authenticator app). */
const STEP_SECONDS = 30;
const DIGITS = 6;

/**
 * The number of steps before and after the current one whose codes are accepted, because clocks differ (RFC 6238 §5.2).
 */
const LEEWAY_STEPS = 1;

/** Returns the step of a time in milliseconds since the epoch. */
export function computeStep(now: number): number {
  return Math.floor(now / 1000 / STEP_SECONDS);
}

/** Returns the code of a step: HOTP with SHA-1 (RFC 4226 §5.3). */
export function computeCode(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const offset = mac.at(-1)! & 0x0f;
  const number = (mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** DIGITS;
  return String(number).padStart(DIGITS, "0");
}

/**
 * Returns the step that has this code. Returns null if no accepted step has this code, or if the step is not later than
 * `lastStep`. So a code works once, and it also ends the codes of earlier steps.
 */
export function findStep(secret: Uint8Array, code: string, now: number, lastStep: number): number | null {
  const present = computeStep(now);
  let found: number | null = null;
  // Compares every step, so that the response time does not reveal which step matches.
  for (let step = present - LEEWAY_STEPS; step <= present + LEEWAY_STEPS; step++)
    if (computeCode(secret, step) === code && step > lastStep) found ??= step;
  return found;
}

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Writes bytes in Base32 (RFC 4648 §6) without padding, as authenticator apps read it. */
export function formatBase32(bytes: Uint8Array): string {
  let text = "";
  let [bits, held] = [0, 0];
  for (const byte of bytes) {
    bits = (bits << 8) | byte;
    held += 8;
    for (; held >= 5; held -= 5) text += BASE32[(bits >>> (held - 5)) & 31];
    bits &= (1 << held) - 1;
  }
  return held === 0 ? text : text + BASE32[(bits << (5 - held)) & 31];
}
