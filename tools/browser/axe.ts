import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const axeSource = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/**
 * Returns the findings of axe. The policy of the page blocks foreign scripts, so Playwright evaluates axe in the page.
 */
export async function findings(page: Page): Promise<string[]> {
  await page.evaluate(await source());
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } };
    const { violations } = await axe.run();
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
  });
}

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

async function source(): Promise<string> {
  const { readFile } = await import("node:fs/promises");
  return readFile(axeSource, "utf8");
}
