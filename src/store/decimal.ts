import type { Column } from "./store.ts";

const largest = 2n ** 63n - 1n;
// The length of the largest value with its sign. A longer text is refused before it is parsed, because the time for
// parsing grows with the square of the length.
const maxLength = 20;

/**
 * Parses a decimal into an integer that is scaled by 10 to the power of `scale`: `"12.5"` at scale 2 is 1250. Returns
 * null if the text is not a decimal or would be rounded.
 */
export function parseDecimal(text: string, scale: number): number | bigint | null {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  if (match === null) return null;
  const fraction = withoutFinalZeros(match[3] ?? "");
  if (fraction.length > scale) return null;
  const digits = match[1]! + (match[2]!.replace(/^0+/, "") + fraction.padEnd(scale, "0") || "0");
  // A double is exact for every integer of up to 15 digits.
  if (digits.length <= 15) return Number(digits) + 0;
  if (digits.length > maxLength) return null;
  const exact = BigInt(digits);
  return exact > largest || exact < -largest ? null : exact;
}

/**
 * Parses the value of a decimal column: a text, or also a number if the column has `number`. Returns null if the value
 * is not a decimal or would be rounded.
 */
export function readDecimal({ scale = 0, number }: Column, value: unknown): number | bigint | null {
  const text = number === true && typeof value === "number" ? formatFixed(value, scale) : value;
  return typeof text === "string" ? parseDecimal(text, scale) : null;
}

/** Returns the text of a number with `scale` decimal places. Returns null if the number has more decimal places. */
function formatFixed(value: number, scale: number): string | null {
  const text = value === 0 ? "0" : value.toFixed(scale);
  return Number(text) === value ? text : null;
}

function withoutFinalZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === "0") end--;
  return digits.slice(0, end);
}

/** Formats a scaled number as a decimal: `"1250"` at scale 2 is `"12.50"`. */
export function formatDecimal(digits: string, scale: number): string {
  if (scale === 0) return digits;
  const sign = digits.startsWith("-") ? "-" : "";
  const padded = digits.slice(sign.length).padStart(scale + 1, "0");
  return `${sign}${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
}
