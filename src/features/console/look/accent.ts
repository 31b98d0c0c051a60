import {
  LEAST_CONTRAST,
  measureContrast,
  mixColors,
  parseHexColor,
  type HexColor,
} from "../../../core/html/contrast.ts";
import { pageStyle } from "../../../core/html/look.ts";

/** One color for light and one for dark mode. */
interface Pair {
  readonly light: HexColor;
  readonly dark: HexColor;
}

type Mode = keyof Pair;

/**
 * Parses an accent: one color, or `light-dark(#8a2c0d, #ffb59b)`. The dark color of one color is the first lighter one
 * that can be read. Returns null for every other text.
 */
function parseAccent(text: string): Pair | null {
  const [, first = text, second] = /^light-dark\(([^,()]*),([^,()]*)\)$/.exec(text.trim()) ?? [];
  const light = parseHexColor(first);
  const dark = second === undefined && light !== null ? readable(light, "dark") : parseHexColor(second ?? "");
  return light === null || dark === null ? null : { light, dark };
}

/**
 * Returns the mistake in an accent, or null. It must be readable as text on every background of pages, and text must be
 * readable on it, in light and in dark mode.
 */
export function anAccent(value: unknown): string | null {
  const accent = typeof value === "string" ? parseAccent(value) : null;
  if (accent === null) return "it has to be a color like #8a2c0d, or two like light-dark(#8a2c0d, #ffb59b)";
  const mistakes = (["light", "dark"] as const).flatMap((mode) => {
    const color = accent[mode];
    const contrast = measureWorst(color, mode);
    if (contrast >= LEAST_CONTRAST) return [];
    const cure = `Take ${mode === "light" ? "a darker" : "a lighter"} one, like ${readable(color, mode)}`;
    return [`${color} has a contrast of ${floor(contrast)} as text in ${mode} mode, and text needs 4.5. ${cure}`];
  });
  return mistakes.length === 0 ? null : mistakes.join(". ");
}

/** Returns the CSS rule for an accent that was checked: the accent, the text on it, and a background of its tone. */
export function accentRule(text: string): string {
  const accent = parseAccent(text)!;
  const [light, dark] = [withCompanions(accent.light, "light"), withCompanions(accent.dark, "dark")];
  const pair = (name: "color" | "on" | "tint"): string => `light-dark(${light[name]}, ${dark[name]})`;
  return `\n:root { --accent: ${pair("color")}; --on-accent: ${pair("on")}; --tint: ${pair("tint")}; }\n`;
}

/** Returns the color of the mark in the icon of pages. */
export function iconColor(text: string): HexColor {
  return parseAccent(text)!.light;
}

function withCompanions(color: HexColor, mode: Mode): { color: HexColor; on: HexColor; tint: HexColor } {
  const [, background] = backgrounds(mode);
  const tints = [0.12, 0.08, 0.04, 0].map((part) => mixColors(background!, color, part));
  return { color, on: textOn(color), tint: tints.find((tint) => isReadable(color, tint)) ?? background! };
}

/** Returns white or near black: the one that is easier to read on a color. One of them always has a contrast of 4.5. */
function textOn(color: HexColor): HexColor {
  return measureContrast(color, WHITE) >= measureContrast(color, BLACK) ? WHITE : BLACK;
}

const WHITE = "#ffffff";
const BLACK = "#000000";
const STEP = 0.05;

/** Returns the first color towards black, or white in dark mode, that can be read on every background. */
function readable(color: HexColor, mode: Mode): HexColor {
  const end = mode === "light" ? BLACK : WHITE;
  for (let part = 0; part < 1; part += STEP) {
    const mixed = mixColors(color, end, part);
    if (measureWorst(mixed, mode) >= LEAST_CONTRAST) return mixed;
  }
  return end;
}

function measureWorst(color: HexColor, mode: Mode): number {
  return Math.min(...backgrounds(mode).map((each) => measureContrast(color, each)));
}

function isReadable(color: HexColor, background: HexColor): boolean {
  return measureContrast(color, background) >= LEAST_CONTRAST;
}

/** Returns the backgrounds of pages, as the style has them: of the page, of its parts, and of what is set off. */
function backgrounds(mode: Mode): readonly HexColor[] {
  return (found ??= findBackgrounds())[mode];
}

let found: Readonly<Record<Mode, readonly HexColor[]>> | undefined;

function findBackgrounds(): Readonly<Record<Mode, readonly HexColor[]>> {
  const { text } = pageStyle();
  const pairs = ["bg", "surface", "sunk"].map((name) => parseAccentOf(text, name));
  return { light: pairs.map(({ light }) => light), dark: pairs.map(({ dark }) => dark) };
}

function parseAccentOf(style: string, name: string): Pair {
  const [, light = "", dark = ""] = new RegExp(`--${name}: light-dark\\((#\\w+), (#\\w+)\\)`).exec(style) ?? [];
  return { light: parseHexColor(light)!, dark: parseHexColor(dark)! };
}

/** Rounds down, so that a contrast that is too low never reads 4.5. */
function floor(contrast: number): string {
  return (Math.floor(contrast * 10) / 10).toFixed(1);
}
