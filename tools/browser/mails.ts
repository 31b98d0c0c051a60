import { readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";

/** Waits for the next mail in a folder, removes it, and returns its text. */
export async function nextMail(folder: string): Promise<string> {
  for (let tries = 0; tries < 200; tries++) {
    const [first] = readdirSync(folder).filter((name) => name.endsWith(".eml"));
    if (first !== undefined) {
      const content = readFileSync(path.join(folder, first), "utf8");
      rmSync(path.join(folder, first));
      return content.replaceAll("=\r\n", "").replaceAll("=3D", "=");
    }
    await wait(100);
  }
  throw new Error("No mail came.");
}

/** Returns the path of the link in a mail. */
export function linkIn(mail: string): string {
  const [link = ""] = /http:\/\/\S+token=[\w.-]+/.exec(mail) ?? [];
  const { pathname, search } = new URL(link);
  return pathname + search;
}

/** Returns the code in a mail. */
export function codeIn(mail: string): string {
  return /\b\d{8}\b/.exec(mail)?.[0] ?? "";
}
