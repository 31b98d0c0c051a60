import { hash } from "node:crypto";
import { readFileSync } from "node:fs";

/** A file for pages. It is next to this module. In a build, it is next to the chunk that contains this module. */
export interface Asset {
  readonly text: string;
  /** The file name in its address: `console.0123456789ab.css`. */
  readonly name: string;
  readonly type: string;
}

/** A link in the foot of every page. */
export interface FootLink {
  readonly text: string;
  /** A path of the service, without its base path, or the address of a page elsewhere. */
  readonly href: string;
}

/** The look of a service's pages, and the name of the service. */
export interface Look {
  readonly title: string;
  /** The characters next to the title. Default: the first letter of the title. */
  readonly mark?: string;
  /** The address of the logo next to the title, instead of the mark. */
  readonly logo?: string;
  /** The color of the icon: `#3a4bbd`. */
  readonly color?: string;
  readonly links?: readonly FootLink[];
  readonly style: Asset;
}

/** The files of pages. */
const files = {
  /** The style of every page, for light and dark mode. */
  style: "console.css",
  /** The style of what a programmer reads. It needs the style of every page. */
  developerStyle: "developer.css",
  /** The script of every page: times, copying, choices by name, the remembered fold, and keys. */
  script: "console.js",
  /** The script that sends forms with methods and content that browsers lack. It needs the script of every page. */
  forms: "forms.js",
  /** The script that sends a file of records. It needs the script of every page. */
  import: "import.js",
  /** The script that uses passkeys. It needs the script of every page. */
  passkeys: "passkeys.js",
  /** The script that tries requests. It needs the script of every page. */
  developer: "developer.js",
} as const;

/** Returns a file of pages. */
export function pageAsset(file: keyof typeof files): Asset {
  const found = assets.get(file) ?? read(files[file]);
  assets.set(file, found);
  return found;
}

/** Returns the style of every page. Custom rules come last. */
export function pageStyle(rules = ""): Asset {
  const style = pageAsset("style");
  return rules === "" ? style : buildAsset("console", "css", style.text + rules);
}

// Read on first use, because a service that only programs use never needs them.
const assets = new Map<keyof typeof files, Asset>();

function read(file: string): Asset {
  const text = readFileSync(new URL(`./${file}`, import.meta.url), "utf8");
  const [name = "", kind] = file.split(".");
  return buildAsset(name, kind === "css" ? "css" : "js", withoutComments(text));
}

/** Removes indents, and comments that fill their lines: a browser needs neither. */
function withoutComments(text: string): string {
  return text.replaceAll(/^[ \t]*(?:\/\/.*|\/\*(?:(?!\*\/)[^])*\*\/)?[ \t]*(?:\n|$)|^[ \t]+/gm, "");
}

/** Names a file after its content. A changed file gets a different name, so caches may keep each file for a year. */
function buildAsset(name: string, kind: "css" | "js", text: string): Asset {
  const type = kind === "css" ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8";
  return { name: `${name}.${hash("sha256", text, "hex").slice(0, 12)}.${kind}`, type, text };
}
