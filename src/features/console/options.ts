import {
  isObject,
  isText,
  membersMistakes,
  optional,
  text,
  joinMistakes,
  type ValueCheck,
} from "../../core/checking/members.ts";
import type { ChecksOf } from "../../core/checking/options.ts";
import type { AccountPages } from "../../feature/feature.ts";
import { accountPages } from "./account-pages.ts";
import type { Template } from "./site.ts";

/** The look and the names of pages. */
export interface ConsoleOptions {
  /** The name of the service. */
  readonly title: string;
  /** The URL of an image next to the title: a path of this service, or `data:`. */
  readonly logo?: string;
  /** Custom colors in CSS notation: `{ accent: "light-dark(#3a4bbd, #a9b4ff)" }`. */
  readonly colors?: Readonly<Partial<Record<(typeof colorNames)[number], string>>>;
  /**
   * Other paths for the pages on which people log in and manage their accounts. Default: `/login`, `/login/factor`,
   * `/signup`, `/forgot`, `/reset`, `/verify` and `/invitation`.
   */
  readonly pages?: Readonly<Partial<AccountPages>>;
  /** True to open the fold for developers for administrators. `latchkey dev` sets it. Default: false. */
  readonly opensAPI?: boolean;
  /** Draws the responses of some paths in a custom way, by declared path: `/orders/{id}`. */
  readonly templates?: Readonly<Record<string, Template>>;
}

/** The colors that can be set: of the page, of its parts, of text, of links and buttons, and of success and failure. */
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

/** Excludes texts that could end the CSS declaration or load a resource. */
const COLOR = /^[a-z0-9#(),.%/ -]{3,100}$/i;

const aColor: ValueCheck = (value) =>
  isText(value) && COLOR.test(value) && !/url/i.test(value) ? null : "it has to be a color of CSS, like #3a4bbd";

const pageNames = Object.keys(accountPages);

/** A declared path without parameters. */
const aPage: ValueCheck = (value) =>
  isText(value) && /^(?:\/[a-z0-9][a-z0-9._~-]*)+$/i.test(value) ? null : "it has to be a path, like /people/login";

/** The check of each option. */
export const consoleOptions: ChecksOf<ConsoleOptions> = {
  title: text,
  logo: optional((value) =>
    isText(value) && /^(?:\/(?!\/)|data:image\/)[\x21-\x7e]*$/.test(value)
      ? null
      : "it has to be a path of this service or data:image/…",
  ),
  colors: optional((value) =>
    isObject(value)
      ? joinMistakes(membersMistakes(value, Object.fromEntries(colorNames.map((name) => [name, optional(aColor)]))))
      : `it has to be colors of CSS, for ${colorNames.join(", ")}`,
  ),
  pages: optional((value) =>
    isObject(value)
      ? joinMistakes(membersMistakes(value, Object.fromEntries(pageNames.map((name) => [name, optional(aPage)]))))
      : `it has to be paths of pages, of ${pageNames.join(", ")}`,
  ),
  opensAPI: optional((value) => (typeof value === "boolean" ? null : "it has to be true or false")),
  templates: optional((value) =>
    isObject(value) && Object.values(value).every((each) => typeof each === "function")
      ? null
      : "it has to be functions by path",
  ),
};

/** Returns the CSS rule that sets the colors, for use after the style sheet. */
export function colorRule(colors: Readonly<Record<string, string>>): string {
  const rules = Object.entries(colors).map(([name, color]) => `--${name}: ${color};`);
  return rules.length === 0 ? "" : `\n:root { ${rules.join(" ")} }\n`;
}
