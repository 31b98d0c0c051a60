import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { startBrowser } from "./browser.ts";
import { drawnDifferences } from "./drawn-differences.ts";
import { drawnPages, openPages, startClub } from "./drawn-pages.ts";

/*
 * Takes a picture of each drawn page and of the same page of the service, and writes a page with both beside each
 * other and their named differences: node tools/browser/pictures.ts DRAWINGS
 */

const looks = [
  ["desktop", "light", 1280],
  ["desktop", "dark", 1280],
  ["phone", "light", 390],
  ["phone", "dark", 390],
] as const;

const [drawings] = process.argv.slice(2);
if (drawings === undefined) throw new Error("Name the folder of the drawings.");
const forgotten = findForgotten(drawings);
if (forgotten.length > 0) throw new Error(forgotten.join("\n"));
const folder = mkdtempSync(path.join(tmpdir(), "pictures-"));
const index = path.join(folder, "index.html");
for (const look of looks) {
  const browser = await startBrowser();
  try {
    await takeLook(browser, drawings, look);
  } finally {
    await browser.close();
  }
}
writeFileSync(index, writeIndex());
process.stdout.write(`${index}\n`);

/** Returns the drawings without a page or without a list of differences, and the pages and lists without a drawing. */
function findForgotten(from: string): readonly string[] {
  const drawn = readdirSync(from)
    .filter((name) => name.endsWith(".html"))
    .map((name) => name.slice(0, -".html".length));
  const places = {
    "drawn-pages.ts": drawnPages.map(([drawing]) => drawing),
    "drawn-differences.ts": Object.keys(drawnDifferences),
  };
  return Object.entries(places).flatMap(([file, names]) => [
    ...drawn.filter((name) => !names.includes(name)).map((name) => `Add ${name} to tools/browser/${file}.`),
    ...names.filter((name) => !drawn.includes(name)).map((name) => `Remove ${name} from tools/browser/${file}.`),
  ]);
}

/** Takes the pictures of one look, with a separate club. */
async function takeLook(on: Browser, from: string, [device, colorScheme, width]: (typeof looks)[number]) {
  await using club = await startClub();
  const newContext = () => on.newContext({ colorScheme, viewport: { width, height: 844 } });
  const open = openPages(club, newContext);
  const drawn = await (await newContext()).newPage();
  for (const page of drawnPages) {
    const file = path.join(folder, `${page[0]}-${device}-${colorScheme}`);
    await drawn.goto(pathToFileURL(path.resolve(from, `${page[0]}.html`)).href);
    await drawn.screenshot({ path: `${file}-drawn.png`, fullPage: true });
    await (await open(page)).screenshot({ path: `${file}.png`, fullPage: true });
  }
}

/** Writes the table: each page in all looks, with its differences above. */
function writeIndex(): string {
  const rows = drawnPages.flatMap(([drawing]) => [
    `<tr><th colspan="3">${drawing}<ul>${(drawnDifferences[drawing] ?? []).map((each) => `<li>${each}`).join("")}</ul></th></tr>`,
    ...looks.map(([device, colors]) => {
      const file = `${drawing}-${device}-${colors}`;
      const pictures = [`${file}-drawn.png`, `${file}.png`].map((name) => `<td><img src="${name}" width="480"></td>`);
      return `<tr><td>${device}, ${colors}</td>${pictures.join("")}</tr>`;
    }),
  ]);
  return `<!doctype html><meta charset="utf-8"><title>Drawn and served</title>
<style>table{font:15px sans-serif}th,td{text-align:start;vertical-align:top}th{font-weight:normal;padding-top:2em}</style>
<table><tr><td></td><td>Drawn</td><td>Served</td></tr>${rows.join("\n")}</table>`;
}
