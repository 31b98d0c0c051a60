import { readFileSync } from "node:fs";
import path from "node:path";

const pages = ["proxies.md", "scaling.md"].map((name) =>
  readFileSync(path.join(import.meta.dirname, "../../docs", name), "utf8"),
);
const blocks = new Map(
  [...pages.join("\n").matchAll(/^```(\S+ \S+)\n(.*?)^```$/gms)].map(([, name = "", text = ""]) => [name, text]),
);

/**
 * Returns a code block of docs/proxies.md or docs/scaling.md. The line that opens the block has the program and the
 * name.
 */
export function requireBlock(program: "nginx" | "haproxy" | "ini", name: string): string {
  const text = blocks.get(`${program} ${name}`);
  if (text === undefined) throw new Error(`The docs have no block of ${program} that is called ${name}.`);
  return text;
}
