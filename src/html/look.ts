import { hash } from "node:crypto";
import { readFileSync } from "node:fs";

/** A file that pages bring along. It stands beside this module, and in a build beside its chunk. */
export interface Asset {
  readonly text: string;
  /** As a Content-Security-Policy names it where it stands in the page itself (CSP 3 §2.3.1). */
  readonly source: string;
  /** Of its text: what has changed has another name. */
  readonly version: string;
}

/** How pages look, in light and in dark; with rules of one's own behind the others. */
export function pageStyle(rules = ""): Asset {
  style ??= read("page.css");
  return rules === "" ? style : assetOf(style.text + rules);
}

/** Copying, relative times, keys, and the methods that forms lack. Pages are read without it. */
export function pageScript(): Asset {
  return (script ??= read("page.js"));
}

// A service that only programs talk to never reads them.
let style: Asset | null = null;
let script: Asset | null = null;

function read(file: string): Asset {
  return assetOf(readFileSync(new URL(`./${file}`, import.meta.url), "utf8"));
}

function assetOf(text: string): Asset {
  const source = `'sha256-${hash("sha256", text, "base64")}'`;
  return { text, source, version: hash("sha256", text, "hex").slice(0, 12) };
}
