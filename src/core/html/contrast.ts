/** A color of six hexadecimal digits in lower case: `#8a2c0d`. */
export type HexColor = string;

/** The least contrast of text with its background (WCAG 2.2, 1.4.3). */
export const LEAST_CONTRAST = 4.5;

/** Parses a color of three or six hexadecimal digits. Returns null for every other text. */
export function parseHexColor(text: string): HexColor | null {
  const digits = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(text.trim())?.[1]?.toLowerCase();
  if (digits === undefined) return null;
  return `#${digits.length === 6 ? digits : digits.replaceAll(/./g, "$&$&")}`;
}

/** Returns the contrast of two colors, from 1 to 21 (WCAG 2.2). */
export function measureContrast(one: HexColor, other: HexColor): number {
  const [lighter = 0, darker = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Mixes two colors. `part` is the part of the second one, from 0 to 1. */
export function mixColors(one: HexColor, other: HexColor, part: number): HexColor {
  const [from, to] = [readChannels(one), readChannels(other)];
  const mixed = from.map((value, at) => Math.round(value + (to[at]! - value) * part));
  return `#${mixed.map((each) => each.toString(16).padStart(2, "0")).join("")}`;
}

function luminance(color: HexColor): number {
  const [red = 0, green = 0, blue = 0] = readChannels(color).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function readChannels(color: HexColor): readonly number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
}
