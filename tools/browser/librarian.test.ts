import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { clubConfig } from "../../tests/harness/club.ts";
import { findings } from "./axe.ts";
import { openPage, startBrowser, turnOnKeys } from "./browser.ts";
import { startObservedService, type ObservedService } from "./observed-service.ts";

// A librarian finds a book, lends it to a member by name, and takes it back, with a keyboard alone. No page shows an
// id, a path or null, and no response that the browser receives contains the address of a member.

const password = "copper teapot 17";
let browser: Browser;
let service: ObservedService;

before(async () => {
  [browser, service] = await Promise.all([startBrowser(), startObservedService({}, clubConfig())]);
  for (const name of ["Lea", "Ben", "Cleo"])
    await send("POST", "/users", { name, email: `${name.toLowerCase()}@example.com`, password });
  await send("PATCH", "/users/2/account", { role: "librarian" });
  for (const title of ["The tide tables of the north coast", "Knots", "Weather at sea"])
    await send("POST", "/books", { title });
});

after(async () => {
  await browser?.close();
  await service?.[Symbol.asyncDispose]();
});

// oxlint-disable-next-line typescript/no-explicit-any -- a test reads into it and asserts what it finds
async function send(method: string, path: string, body?: object): Promise<any> {
  const authorization = `Basic ${Buffer.from(`admin:${service.password}`).toString("base64")}`;
  const headers = { authorization, "content-type": "application/json" };
  const init: RequestInit = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const answer = await fetch(service.address + path, init);
  assert.ok(answer.ok, `${method} ${path} ${answer.status}`);
  return answer.status === 204 ? null : answer.json();
}

/** Opens the service as Lea. Collects the complaints of the browser and the texts that it receives. */
async function openAsLea(width = 1280) {
  const context = await browser.newContext({ viewport: { width, height: 900 } });
  const { page, complaints } = await openPage(context, `${service.address}/login`);
  const received: Promise<string>[] = [];
  page.on("response", (response) => received.push(response.text().catch(() => "")));
  await page.getByLabel("E-mail or username").fill("lea@example.com");
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByLabel("Password", { exact: true }).press("Enter");
  await page.waitForURL(`${service.address}/`);
  return { page, complaints, received: () => Promise.all(received), [Symbol.asyncDispose]: () => context.close() };
}

/** Asserts that a person reads neither an id, a path nor null in what is unfolded. */
async function assertReadable(page: Page): Promise<void> {
  const shown = await page.locator("main").innerText();
  assert.doesNotMatch(shown, /\bnull\b|\bundefined\b|_id\b|\/(?:books|loans|users)\b|\b(?:id|ID)\b/, page.url());
  assert.deepEqual(await findings(page), [], page.url());
}

test("lets a librarian find a book, lend it to a member by name and take it back, with a keyboard alone", async () => {
  await using opened = await openAsLea();
  const { page, complaints, received } = opened;
  await assertReadable(page);
  await turnOnKeys(page);

  await page.getByRole("navigation", { name: "Contents" }).getByRole("link", { name: "Books" }).press("Enter");
  await page.getByRole("heading", { name: "Books", level: 1 }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("tide");
  await page.keyboard.press("Enter");
  await page.waitForURL(/search=tide/);
  await assertReadable(page);
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "The tide tables of the north coast" }).waitFor();
  await assertReadable(page);

  await page.getByRole("navigation", { name: "Contents" }).getByRole("link", { name: "Loans" }).press("Enter");
  await page.getByRole("heading", { name: "No loans yet" }).waitFor();
  await assertReadable(page);
  await page.keyboard.press("n");
  await page.getByRole("heading", { name: "New loan" }).waitFor();
  await assertReadable(page);
  await page.getByRole("combobox", { name: "Book" }).focus();
  await page.keyboard.type("tide");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await page.keyboard.type("cleo");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await page.getByRole("button", { name: "Add loan" }).press("Enter");
  await page.getByRole("heading", { name: "The tide tables of the north coast" }).waitFor();
  await page.getByRole("link", { name: "Cleo" }).waitFor();
  await assertReadable(page);
  assert.deepEqual((await send("GET", "/loans"))[0].member_id, 4);

  await page.getByRole("button", { name: "Delete" }).press("Enter");
  await page.getByRole("button", { name: "Delete it" }).press("Enter");
  await page.waitForURL(`${service.address}/loans`);
  await page.getByRole("heading", { name: "No loans yet" }).waitFor();
  assert.deepEqual(await send("GET", "/loans"), []);

  const texts = await received();
  assert.ok(texts.some((text) => text.includes("Cleo")));
  for (const text of texts) assert.doesNotMatch(text, /(?:ben|cleo)@example/);
  assert.deepEqual(
    complaints.filter((each) => !/ERR_ABORTED/.test(each)),
    [],
  );
});

test("lends a book without a script too", async () => {
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } });
  const page = await context.newPage();
  await page.goto(`${service.address}/login?next=/loans?form=new`);
  await page.getByLabel("E-mail or username").fill("lea@example.com");
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("heading", { name: "New loan" }).waitFor();
  await page.getByLabel("Book", { exact: true }).selectOption("Knots");
  await page.getByLabel("Member", { exact: true }).selectOption("Ben");
  await page.getByLabel("Until").fill("2026-01-31");
  await page.getByRole("button", { name: "Add loan" }).click();
  await page.getByRole("heading", { name: "Knots" }).waitFor();

  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByLabel("Until").fill("");
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByRole("heading", { name: "Knots", exact: true }).waitFor();

  const [loan] = await send("GET", "/loans");
  assert.deepEqual([loan.book_id, loan.member_id, loan.until], [2, 3, null]);
  await send("DELETE", `/loans/${loan.id}`);
  await context.close();
});
