import { mkdirSync } from "node:fs";
import path from "node:path";
import { clubConfig } from "../../tests/harness/club.ts";
import { startBrowser } from "./browser.ts";
import { fill, logIn } from "./filled-club.ts";
import { startObservedService } from "./observed-service.ts";

/*
 * Takes the two pictures of README.md from the running service, into docs/images:
 * node tools/browser/readme-pictures.ts
 */

const folder = path.join(import.meta.dirname, "../../docs/images");
const pictures = [
  ["page.png", "/tasks?sort=due", "ann", 660],
  ["api.png", "/docs/createTask", "admin", 800],
] as const;

mkdirSync(folder, { recursive: true });
await using service = await startObservedService({}, clubConfig());
await fill(service);
const browser = await startBrowser();
try {
  for (const [file, address, as, height] of pictures) {
    const context = await browser.newContext({ colorScheme: "light", viewport: { width: 1280, height } });
    const page = await context.newPage();
    await logIn(page, service, as);
    await page.goto(service.address + address);
    await page.screenshot({ path: path.join(folder, file) });
    await context.close();
  }
} finally {
  await browser.close();
}
