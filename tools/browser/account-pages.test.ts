import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { defineFeature } from "../../src/door/index.ts";
import { findings } from "./axe.ts";
import { startBrowser } from "./browser.ts";
import { startObservedService, type ObservedService } from "./observed-service.ts";

let browser: Browser;
let service: ObservedService;
const mails = mkdtempSync(path.join(tmpdir(), "mails-"));
const company = defineFeature({
  name: "company",
  setUp: () => ({ offer: null, loginLinks: [{ title: "Company", href: "/api/login/company/start" }] }),
});

before(async () => {
  const settings = {
    LATCHKEY_MAIL_URL: `file:${mails}`,
    LATCHKEY_MAIL_FROM: "no-reply@example.com",
    LATCHKEY_REGISTRATION: "verified",
    LATCHKEY_LOGIN_CODES: "on",
  };
  [browser, service] = await Promise.all([startBrowser(), startObservedService(settings, { features: [company] })]);
});

after(async () => {
  await browser?.close();
  await service?.[Symbol.asyncDispose]();
  rmSync(mails, { recursive: true, force: true });
});

const addresses = [
  "/login?next=/orders",
  "/login?done=password",
  "/login?code=1",
  "/login?code=1&email=ann@example.com",
  "/login?token=a-token",
  "/login/factor",
  "/signup",
  "/forgot",
  "/reset",
  "/reset?email=ann@example.com",
  "/reset?token=a-token",
  "/verify",
  "/verify?email=ann@example.com",
  "/verify?token=a-token",
];

async function logIn(page: Page, password = service.password): Promise<void> {
  await page.getByLabel("E-mail or username").fill("admin");
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
}

for (const [width, colorScheme] of [
  [1280, "light"],
  [390, "light"],
  [1280, "dark"],
  [390, "dark"],
] as const)
  test(`passes axe on the pages of accounts at ${width} pixels in ${colorScheme}, without overflow`, async () => {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
    const page = await context.newPage();
    const address = service.address.replace("127.0.0.1", "localhost");
    const look = async (where: string): Promise<void> => {
      for (const menu of await page.locator("details").all())
        await menu.evaluate((each) => each.setAttribute("open", ""));
      assert.deepEqual(await findings(page), [], where);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width, where);
    };
    for (const each of addresses) {
      await page.goto(address + each);
      await look(each);
    }

    await page.goto(`${address}/verify?token=a-token`);
    await page.getByLabel("Password", { exact: true }).fill("quartz lantern 42");
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByRole("heading", { name: "This link no longer works" }).waitFor();
    await look("a wrong link");
    await page.goto(`${address}/reset?email=ann@example.com`);
    await page.getByLabel("Code from the mail").fill("00000000");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("alert").waitFor();
    await look("a wrong code");
    await page.goto(`${address}/login?next=/users/1/account`);
    await logIn(page, "wrong");
    await page.getByText("Wrong name or password.").waitFor();
    await look("a wrong password");
    await logIn(page);
    await page.waitForURL(`${address}/users/1/account`);
    await look("the account");
    await page.getByRole("button", { name: "Add the passkey" }).click();
    await page.getByRole("button", { name: "Create the passkey" }).waitFor();
    await look("a new passkey");
    assert.equal(await page.locator("[data-said]").textContent(), "", "The work only starts.");
    await page.goto(`${address}/users/1/account`);
    await page.setViewportSize({ width, height: 600 });
    await page.locator("summary", { hasText: "Set it up" }).click();
    await page.getByRole("button", { name: "Set it up" }).click();
    await page.getByRole("button", { name: "Turn on two-step login" }).waitFor();
    assert.equal(await page.locator(".bar, .api").count(), 0, "A card has neither a bar nor the fold for developers.");
    const code = await page.locator(".qr").boundingBox();
    assert.ok(code!.y >= 0 && code!.y + code!.height <= 600, "The QR code is on the screen.");
    await look("a new app");
    assert.equal(await page.locator("[data-said]").textContent(), "", "The work only starts.");
    await context.close();
  });

test("logs in by keyboard alone, in the order of the page", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${service.address.replace("127.0.0.1", "localhost")}/login`);
  const order: string[] = [];
  for (let steps = 0; steps < 9; steps++) {
    order.push(
      await page.evaluate(() => {
        const { activeElement } = document;
        return activeElement?.id !== "" ? String(activeElement?.id) : String(activeElement.textContent).trim();
      }),
    );
    await page.keyboard.press("Tab");
  }
  assert.deepEqual(order, [
    "username",
    "password",
    "Show password",
    "Forgot your password?",
    "Log in",
    "Use a passkey",
    "CContinue with Company",
    "Get a code by mail",
    "Sign up",
  ]);
  await page.locator("#username").focus();
  await page.keyboard.type("admin");
  await page.keyboard.press("Tab");
  await page.keyboard.type(service.password);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Latchkey", level: 1 }).waitFor();
  await context.close();
});

test("shows every form without JavaScript, and logs in", async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  for (const each of addresses) {
    await page.goto(service.address + each);
    // Without a waiting login, that page has only the link to the login.
    const action = each === "/login/factor" ? "main a.btn.main" : "main form .btn.main";
    assert.ok(await page.locator(action).first().isVisible(), each);
  }
  await page.goto(`${service.address}/login?next=/orders`);
  await logIn(page);
  await page.waitForURL(`${service.address}/orders`);
  await context.close();
});
