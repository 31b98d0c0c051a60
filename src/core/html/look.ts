import { hash } from "node:crypto";
import { readFileSync } from "node:fs";

/** A file that pages bring along. It stands beside this module, and in a build beside its chunk. */
export interface Asset {
  readonly text: string;
  /** What it is asked for by: `page.0123456789ab.css`. */
  readonly name: string;
  readonly type: string;
}

/** How the pages of one service look, and what it is called there. */
export interface Look {
  readonly title: string;
  /** The address of an image that stands beside the title; a key where it is left out. */
  readonly logo?: string;
  readonly style: Asset;
}

/** How pages look, in light and in dark; with rules of one's own behind the others. */
export function pageStyle(rules = ""): Asset {
  style ??= read("page.css");
  return rules === "" ? style : assetOf("css", style.text + rules);
}

/** Copying, relative times, keys, and the methods that forms lack. Pages are read without it. */
export function pageScript(): Asset {
  return (script ??= read("page.js"));
}

// A service that only programs talk to never reads them.
let style: Asset | null = null;
let script: Asset | null = null;

function read(file: "page.css" | "page.js"): Asset {
  const text = readFileSync(new URL(`./${file}`, import.meta.url), "utf8");
  return assetOf(file === "page.css" ? "css" : "js", text);
}

/** What has changed has another name, so that each is kept for a year. */
function assetOf(kind: "css" | "js", text: string): Asset {
  const type = kind === "css" ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8";
  return { name: `page.${hash("sha256", text, "hex").slice(0, 12)}.${kind}`, type, text };
}
