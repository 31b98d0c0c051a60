import { readFileSync } from "node:fs";
import path from "node:path";

const page = readFileSync(path.join(import.meta.dirname, "../../docs/proxies.md"), "utf8");
const blocks = new Map(
  [...page.matchAll(/^```(\S+ \S+)\n(.*?)^```$/gms)].map(([, name = "", text = ""]) => [name, text]),
);

/** A configuration of docs/proxies.md, by its program and the name that stands behind that. */
export function blockOf(program: "nginx" | "haproxy", name: string): string {
  const text = blocks.get(`${program} ${name}`);
  if (text === undefined) throw new Error(`docs/proxies.md has no block of ${program} that is called ${name}.`);
  return text;
}
