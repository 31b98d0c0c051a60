import { hash } from "node:crypto";
import { readFileSync } from "node:fs";

/** A file for pages. It is next to this module. In a build, it is next to the chunk that contains this module. */
export interface Asset {
  readonly text: string;
  /** The file name in its address: `page.0123456789ab.css`. */
  readonly name: string;
  readonly type: string;
}

/** The look of a service's pages, and the name of the service. */
export interface Look {
  readonly title: string;
  /** The address of the logo next to the title. Default: a key. */
  readonly logo?: string;
  readonly style: Asset;
}

/** Returns the style of pages, for light and dark mode. Custom rules come last. */
export function pageStyle(rules = ""): Asset {
  style ??= read("page.css");
  return rules === "" ? style : buildAsset("page", "css", style.text + rules);
}

/**
 * Returns the script of pages: copying, relative times, keys, and the methods that forms lack. Pages also work without
 * it.
 */
export function pageScript(): Asset {
  return (script ??= read("page.js"));
}

/** Returns the script that uses passkeys. It needs the script of pages. */
export function passkeyScript(): Asset {
  return (passkeys ??= read("passkeys.js"));
}

// Read on first use, because a service that only programs use never needs them.
let style: Asset | null = null;
let script: Asset | null = null;
let passkeys: Asset | null = null;

function read(file: "page.css" | "page.js" | "passkeys.js"): Asset {
  const text = readFileSync(new URL(`./${file}`, import.meta.url), "utf8");
  const [name = "", kind] = file.split(".");
  return buildAsset(name, kind === "css" ? "css" : "js", text);
}

/** Names a file after its content. A changed file gets a different name, so caches may keep each file for a year. */
function buildAsset(name: string, kind: "css" | "js", text: string): Asset {
  const type = kind === "css" ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8";
  return { name: `${name}.${hash("sha256", text, "hex").slice(0, 12)}.${kind}`, type, text };
}
