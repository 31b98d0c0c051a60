import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { clubConfig } from "../../tests/harness/club.ts";
import { startBrowser } from "./browser.ts";
import { fill, logIn, send } from "./filled-club.ts";
import { startObservedService, type ObservedService } from "./observed-service.ts";

/*
 * Takes a picture of each drawn page and of the same page of the service, and writes a page with both beside each
 * other: node tools/browser/pictures.ts DRAWINGS OUT
 * Pictures are not committed.
 */

const [drawings, out] = process.argv.slice(2);
if (drawings === undefined || out === undefined)
  throw new Error("Name the folder of the drawings and a folder for the pictures.");

/** The drawn pages of data, and the address of each in the service. */
const pages: readonly (readonly [drawing: string, address: string, as: "ann" | "admin" | "nobody"])[] = [
  ["root", "/", "ann"],
  ["root-visitor", "/", "nobody"],
  ["root-developer", "/", "admin"],
  ["list", "/tasks?state[in]=open&state[in]=in_work&state[in]=late&sort=due", "ann"],
  ["list-empty", "/books", "admin"],
  ["record", "/projects/1", "ann"],
  ["form", "/tasks?form=new", "ann"],
  ["form-errors", "/tasks?form=new", "ann"],
  ["problem-403", "/projects/1/budgets", "ann"],
  ["problem-404", "/tasks/88", "ann"],
  ["problem-412", "/tasks/1?form=edit", "ann"],
  ["why", "/console/why?of=/projects/1", "ann"],
  ["docs", "/docs/createTask", "admin"],
];
const looks = [
  ["desktop", "light", 1280],
  ["desktop", "dark", 1280],
  ["phone", "light", 390],
  ["phone", "dark", 390],
] as const;

/** Does on a form what the drawing shows: a mistake, or a change that comes too late. */
async function act(page: Page, service: ObservedService, drawing: string): Promise<void> {
  if (drawing === "form-errors") {
    await page.getByLabel("Hours planned").fill("a few");
    await page.getByRole("button", { name: "Add task" }).click();
    await page.getByRole("alert").waitFor();
  }
  if (drawing === "problem-412") {
    await page.getByLabel(/^Due/).fill("2026-12-12");
    const due = `2026-12-${String((Date.now() % 20) + 1).padStart(2, "0")}`;
    await send(service, "PATCH", "/tasks/1", { due }, "ann");
    await page.getByRole("button", { name: "Save changes" }).click();
    await page.getByRole("heading", { name: "Someone saved before you" }).waitFor();
  }
}

async function takeAll(browser: Browser, service: ObservedService, drawn: string, folder: string): Promise<string> {
  const rows: string[] = [];
  for (const [device, colorScheme, width] of looks)
    for (const [drawing, address, as] of pages) {
      const context = await browser.newContext({ colorScheme, viewport: { width, height: 844 } });
      const page = await context.newPage();
      const name = `${drawing}-${device}-${colorScheme}`;
      await page.goto(pathToFileURL(path.resolve(drawn, `${drawing}.html`)).href);
      await page.screenshot({ path: path.join(folder, `${name}-drawn.png`), fullPage: true });
      if (as !== "nobody") await logIn(page, service, as);
      await page.goto(service.address + address);
      await act(page, service, drawing);
      await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage: true });
      await context.close();
      const both = [`${name}-drawn.png`, `${name}.png`].map((file) => `<td><img src="${file}" width="420"></td>`);
      rows.push(`<tr><th>${drawing}<br>${device}, ${colorScheme}</th>${both.join("")}</tr>`);
    }
  return `<!doctype html><title>Drawn and served</title><table><tr><th></th><th>Drawn</th><th>Served</th></tr>${rows.join("\n")}</table>`;
}

mkdirSync(out, { recursive: true });
await using service = await startObservedService({}, clubConfig());
await fill(service);
const browser = await startBrowser();
try {
  writeFileSync(path.join(out, "index.html"), await takeAll(browser, service, drawings, out));
} finally {
  await browser.close();
}
