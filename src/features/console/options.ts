import {
  isObject,
  isText,
  membersMistakes,
  optional,
  text,
  together,
  type Check,
} from "../../core/checking/members.ts";
import type { ChecksOf } from "../../core/checking/options.ts";
import type { Template } from "./site.ts";

/** How pages look and what they are called. */
export interface ConsoleOptions {
  /** What the service is called. */
  readonly title: string;
  /** The address of an image that stands beside the title: a path of this service, or `data:`. */
  readonly logo?: string;
  /** Colours of one's own, as CSS has them: `{ accent: "light-dark(#3a4bbd, #a9b4ff)" }`. */
  readonly colors?: Readonly<Partial<Record<(typeof colorNames)[number], string>>>;
  /** Draws the answers of some paths in its own way, by the path as it is declared: `/orders/{id}`. */
  readonly templates?: Readonly<Record<string, Template>>;
}

/** The colours that can be set: of the page, of what lies on it, of text, of what can be clicked, and of what went well or wrong. */
const colorNames = [
  "bg",
  "surface",
  "sunk",
  "line",
  "edge",
  "ink",
  "dim",
  "accent",
  "on-accent",
  "tint",
  "good",
  "warn",
  "bad",
] as const;

/** What could end a declaration, or load something, is no colour. */
const COLOR = /^[a-z0-9#(),.%/ -]{3,100}$/i;

const aColor: Check = (value) =>
  isText(value) && COLOR.test(value) && !/url/i.test(value)
    ? null
    : "it has to be a colour as CSS has them, like #3a4bbd";

/** What each option has to be. */
export const consoleOptions: ChecksOf<ConsoleOptions> = {
  title: text,
  logo: optional((value) =>
    isText(value) && /^(?:\/(?!\/)|data:image\/)[\x21-\x7e]*$/.test(value)
      ? null
      : "it has to be a path of this service or data:image/…",
  ),
  colors: optional((value) =>
    isObject(value)
      ? together(membersMistakes(value, Object.fromEntries(colorNames.map((name) => [name, optional(aColor)]))))
      : `it has to be colours as CSS has them, of ${colorNames.join(", ")}`,
  ),
  templates: optional((value) =>
    isObject(value) && Object.values(value).every((each) => typeof each === "function")
      ? null
      : "it has to be functions by path",
  ),
};

/** The rule that sets them, behind those of the style sheet. */
export function colorRule(colors: Readonly<Record<string, string>>): string {
  const rules = Object.entries(colors).map(([name, color]) => `--${name}: ${color};`);
  return rules.length === 0 ? "" : `\n:root { ${rules.join(" ")} }\n`;
}
