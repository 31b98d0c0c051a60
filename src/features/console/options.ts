import {
  isObject,
  isText,
  membersMistakes,
  optional,
  joinMistakes,
  text,
  type ValueCheck,
} from "../../core/checking/members.ts";
import type { ChecksOf } from "../../core/checking/options.ts";
import type { FootLink } from "../../core/html/look.ts";
import type { AccountPages } from "../../feature/feature.ts";
import { accountPages } from "./account-pages.ts";
import { anAccent } from "./look/accent.ts";
import { footLinks } from "./look/links.ts";
import type { Template } from "./site.ts";

/** The look and the names of pages. */
export interface ConsoleOptions {
  /** The name of the service. */
  readonly title: string;
  /** One sentence about the service, for its start page. */
  readonly description?: string;
  /** One or two characters next to the title. Default: the first letter of the title. */
  readonly mark?: string;
  /** The URL of an image next to the title, instead of the mark: a path of this service, or `data:`. */
  readonly logo?: string;
  /**
   * The color of links and buttons: `#8a2c0d`, or one for light and one for dark mode, `light-dark(#8a2c0d, #ffb59b)`.
   * Its contrast is checked.
   */
  readonly accent?: string;
  /** Links in the foot of every page: `{ text: "Imprint", href: "/imprint" }`. */
  readonly links?: readonly FootLink[];
  /** Custom colors in CSS notation: `{ bg: "light-dark(#fff, #111)" }`. */
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

/** The colors that can be set: of the page, of its parts, of text, and of success and failure. */
const colorNames = ["bg", "surface", "sunk", "line", "edge", "ink", "dim", "good", "warn", "bad"] as const;

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
  description: optional(text),
  mark: optional((value) =>
    isText(value) && /^\S{1,2}$/u.test(value) && !/\p{Cc}/u.test(value) ? null : "it has to be one or two characters",
  ),
  accent: optional(anAccent),
  links: optional(footLinks),
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
