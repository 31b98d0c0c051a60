import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { libraryConfig, membersWithoutAddresses } from "../../tests/harness/library.ts";
import { findings } from "./axe.ts";
import { openPage, startBrowser, turnOnKeys } from "./browser.ts";
import { startObservedService, type ObservedService } from "./observed-service.ts";

// A librarian lists, reads, renames, expands and chooses members with a mouse, and then with a keyboard. No response
// that the browser receives contains the address of a member.

const password = "copper teapot 17";
let browser: Browser;
let service: ObservedService;

before(async () => {
  [browser, service] = await Promise.all([
    startBrowser(),
    startObservedService({}, libraryConfig(membersWithoutAddresses)),
  ]);
  for (const name of ["Lea", "Ben", "Cleo"])
    await send("POST", "/users", { name, email: `${name.toLowerCase()}@example.com`, password });
  await send("PATCH", "/users/2/account", { role: "librarian" });
  await send("POST", "/loans", { title: "Emma", member_id: 3 });
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
  return answer.json();
}

/** Removes the expected complaints: pages that were left before they were read. */
const omitExpected = (complaints: readonly string[]) => complaints.filter((each) => !/ERR_ABORTED/.test(each));

/** Opens the service as Lea. Collects the complaints of the browser and the texts that it receives. */
async function openAsLea() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const { page, complaints } = await openPage(context, `${service.address}/api/session/`);
  const received: Promise<string>[] = [];
  page.on("response", (response) => received.push(response.text().catch(() => "")));
  await page.getByLabel("E-mail or username").fill("lea@example.com");
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByLabel("Password", { exact: true }).press("Enter");
  await page.waitForURL(`${service.address}/`);
  // The page that asks for the login is a refusal (401).
  complaints.length = 0;
  return {
    page,
    complaints,
    received: () => Promise.all(received),
    [Symbol.asyncDispose]: () => context.close(),
  };
}

const inputs = (page: Page) =>
  page
    .locator("form[data-method=PATCH] :is(input, select, textarea)[name]")
    .evaluateAll((all) => all.map((each) => each.getAttribute("name")));
const options = (page: Page) =>
  page.locator("datalist option").evaluateAll((all) => all.map((each) => (each as HTMLOptionElement).label));

async function assertNoAddress(received: () => Promise<readonly string[]>): Promise<void> {
  const texts = await received();
  assert.ok(texts.some((text) => text.includes("Ben")));
  for (const text of texts) assert.doesNotMatch(text, /(?:ben|cleo)@example/);
}

test("lets a librarian list, read, rename, expand and choose members with a mouse", async () => {
  await using opened = await openAsLea();
  const { page, complaints, received } = opened;

  await page.getByRole("main").locator('a[href="/users"]').first().click();
  await page.getByRole("heading", { name: "Users" }).waitFor();
  assert.deepEqual(await page.locator("thead th").allInnerTexts(), ["id", "name"]);
  await page.locator("tr", { hasText: "Ben" }).getByRole("link").click();
  await page.getByRole("heading", { name: "User 3" }).waitFor();
  assert.deepEqual(await inputs(page), ["name"]);
  assert.deepEqual(await findings(page), []);
  await page.getByLabel("name", { exact: true }).fill("Benjamin");
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.locator(".facts-list", { hasText: "Benjamin" }).waitFor();
  await page.getByLabel("name", { exact: true }).fill("Benno");
  const [whole] = await Promise.all([
    page.waitForRequest((request) => request.method() === "PUT"),
    page.getByRole("button", { name: "Replace all" }).click(),
  ]);
  assert.deepEqual(whole.postDataJSON(), { name: "Benno" });
  await page.locator(".facts-list", { hasText: "Benno" }).waitFor();
  assert.deepEqual(await send("GET", "/users/3"), { id: 3, name: "Benno", email: "ben@example.com" });

  await page.goto(`${service.address}/loans`);
  await page.getByRole("link", { name: "Benno" }).waitFor();
  await page.locator("summary", { hasText: "View" }).click();
  await page.getByRole("link", { name: "With member" }).click();
  await page.waitForURL(/expand=member/);
  assert.match(await page.locator("tbody").innerText(), /Benno/);
  await page.getByRole("link", { name: "New loan" }).click();
  await page.getByLabel("title", { exact: true }).fill("Ulysses");
  await page.getByLabel(/^member_id/).click();
  await page.locator("datalist option").nth(3).waitFor({ state: "attached" });
  assert.deepEqual((await options(page)).slice(1), ["2 Lea", "3 Benno", "4 Cleo"]);
  await page.getByLabel(/^member_id/).fill("4");
  await page.getByRole("button", { name: "Add loan" }).click();
  await page.waitForURL(/\/loans\/\d+$/);
  await page.locator(".facts-list").getByRole("link", { name: "Cleo" }).click();
  await page.getByRole("heading", { name: "User 4" }).waitFor();
  await assertNoAddress(received);
  assert.deepEqual(omitExpected(complaints), []);
});

test("lets a librarian find, rename and choose members with a keyboard", async () => {
  await using opened = await openAsLea();
  const { page, complaints, received } = opened;

  await page.goto(`${service.address}/users`);
  await turnOnKeys(page);
  await page.keyboard.press("/");
  await page.keyboard.type("cle");
  await page.keyboard.press("Enter");
  await page.waitForURL(/search=cle/);
  assert.match(await page.locator("tbody").innerText(), /^4\s+Cleo$/);
  await page.locator("tbody").getByRole("link").press("Enter");
  await page.getByRole("heading", { name: "User 4" }).waitFor();
  await page.keyboard.press("e");
  await page.keyboard.press("Tab");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("Cleopatra");
  await page.keyboard.press("Enter");
  await page.locator(".facts-list", { hasText: "Cleopatra" }).waitFor();

  await page.goto(`${service.address}/loans`);
  await page.keyboard.press("n");
  await page.keyboard.press("Tab");
  await page.keyboard.type("Persuasion");
  await page.keyboard.press("Tab");
  await page.keyboard.type("cleo");
  await page
    .locator('datalist:not(:has(option[value="2"])) option[label="4 Cleopatra"]')
    .waitFor({ state: "attached" });
  assert.deepEqual(await options(page), ["4 Cleopatra"]);
  // Chromium without a screen opens no list of suggestions, so the id of the one suggestion is typed.
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("4");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/loans\/\d+$/);
  await page.locator(".facts-list").getByRole("link", { name: "Cleopatra" }).waitFor();
  await assertNoAddress(received);
  assert.deepEqual(omitExpected(complaints), []);
});
