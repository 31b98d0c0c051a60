import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { chromium, type Browser, type Page } from "playwright-core";
import { authenticated, boolean, dateTime, defineResource, enumeration, mount, text } from "../../src/door/index.ts";
import { computeCode, computeStep } from "../../src/features/auth/totp/codes.ts";
import { parseBase32 } from "../../tests/harness/factors.ts";
import { codeIn, linkIn, nextMail } from "./mails.ts";
import { startObservedService, type ObservedService } from "./observed-service.ts";

// Everything that people do, with JavaScript off. The host is not localhost and has no TLS, so that browsers treat the
// pages as untrusted: they send neither Sec-Fetch-Site nor, with the policy of other responses, an Origin.

const tasks = defineResource({
  name: "task",
  label: { one: "Task", many: "Tasks" },
  fields: {
    title: text({ maxLength: 200 }),
    state: enumeration(["open", "done"], { default: "open", labels: { open: "Open", done: "Done" } }),
    urgent: boolean({ default: false }),
    remind_at: dateTime({ optional: true }),
    notes: text({ multiline: true, optional: true }),
  },
  filters: { state: ["eq", "in"] },
  sorts: ["title"],
});

const mails = mkdtempSync(path.join(tmpdir(), "mails-"));
const password = "quartz lantern 42";
let browser: Browser;
let service: ObservedService;
let address: string;

before(async () => {
  const settings = {
    LATCHKEY_MAIL_URL: `file:${mails}`,
    LATCHKEY_MAIL_FROM: "no-reply@example.com",
    LATCHKEY_REGISTRATION: "verified",
  };
  service = await startObservedService(settings, { mounts: [mount(tasks, { permission: authenticated })] });
  address = service.address.replace("127.0.0.1", "club.example");
  browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP club.example 127.0.0.1"],
  });
});

after(async () => {
  await browser?.close();
  await service?.[Symbol.asyncDispose]();
  rmSync(mails, { recursive: true, force: true });
});

async function openWithoutScript(at: string): Promise<Page> {
  const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
  await page.goto(address + at);
  return page;
}

async function press(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name, exact: true }).click();
}

async function logIn(page: Page, username: string, secret: string): Promise<void> {
  await page.getByLabel("E-mail or username").fill(username);
  await page.getByLabel("Password", { exact: true }).fill(secret);
  await press(page, "Log in");
}

test("signs up, confirms the address, resets the password, and turns on two-step login", async () => {
  const page = await openWithoutScript("/signup");
  await page.getByLabel("Name").fill("Ann");
  await page.getByLabel("E-mail").fill("ann@example.com");
  await press(page, "Sign up");
  assert.equal(new URL(page.url()).pathname, "/verify");

  await page.goto(address + linkIn(await nextMail(mails)));
  await page.getByLabel("Password", { exact: true }).fill("a first lantern 1");
  await press(page, "Create account");
  assert.equal(new URL(page.url()).pathname, "/login");

  await page.goto(`${address}/forgot`);
  await page.getByLabel("E-mail").fill("ann@example.com");
  await page.getByRole("main").getByRole("button").click();
  await page.getByLabel("Code from the mail").fill(codeIn(await nextMail(mails)));
  await press(page, "Continue");
  await page.getByLabel("New password", { exact: true }).fill(password);
  await page
    .getByRole("main")
    .getByRole("button", { name: /password/i })
    .last()
    .click();
  assert.equal(new URL(page.url()).pathname, "/login");

  await logIn(page, "ann@example.com", password);
  await page.goto(`${address}/users/2/account`);
  await page.locator("summary", { hasText: "Set it up" }).click();
  await press(page, "Set it up");
  const key = parseBase32((await page.locator("#key").innerText()).replaceAll(/\s/g, ""));
  await page.locator("input[name=code]").fill(computeCode(key, computeStep(Date.now())));
  await press(page, "Turn on two-step login");
  await page.getByRole("heading", { name: "Your recovery codes" }).waitFor();
  assert.equal(await page.locator("#codes li").count(), 10);
  await page.getByRole("link", { name: "I have stored them" }).click();

  const other = await openWithoutScript("/login");
  await logIn(other, "ann@example.com", password);
  assert.equal(new URL(other.url()).pathname, "/login/factor");
  service.turn(30);
  await other.locator("input[name=code]").fill(computeCode(key, computeStep(Date.now() + 30_000)));
  await other.locator("main button.main").click();
  await other.goto(`${address}/api/session/`);
  assert.match(await other.content(), /ann@example\.com/);

  await page.goto(`${address}/users/2/account`);
  assert.equal(await page.locator("section[aria-labelledby=where] li").count(), 2);
  await page.locator("section[aria-labelledby=where] li form button").click();
  assert.equal(new URL(page.url()).pathname, "/users/2/account");
  assert.equal(await page.locator("section[aria-labelledby=where] li").count(), 1);
});

test("creates, finds, changes, loses a conflict over, and deletes a record", async () => {
  const page = await openWithoutScript("/login?next=/tasks");
  await logIn(page, "admin", service.password);

  await page.goto(`${address}/tasks?form=new`);
  await press(page, "Add task");
  await page.getByRole("alert").waitFor();
  await page.getByRole("link", { name: /Title/ }).click();
  assert.ok(page.url().endsWith("#field-title"));
  await page.getByLabel("Title").fill("Buy lemons");
  await page.getByLabel("Urgent").check();
  await page.getByLabel("Remind at").fill("2026-12-24T10:00");
  await press(page, "Add task");
  assert.equal(page.url(), `${address}/tasks/1`);

  await page.goto(`${address}/tasks?form=new`);
  await page.getByLabel("Title").fill("Mow the lawn");
  await page.getByLabel("State").selectOption("Done");
  await press(page, "Add task");

  await page.goto(`${address}/tasks`);
  await page.locator("summary", { hasText: "Filter" }).click();
  await page.getByLabel("Done").check();
  await press(page, "Show");
  await page.getByText("Mow the lawn").first().waitFor();
  assert.equal(await page.getByText("Buy lemons").count(), 0);

  await page.goto(`${address}/tasks/1?form=edit`);
  assert.ok(await page.getByLabel("Urgent").isChecked());
  await page.getByLabel("Urgent").uncheck();
  await press(page, "Save changes");
  assert.equal(page.url(), `${address}/tasks/1`);
  assert.deepEqual(await readTask(1), ["Buy lemons", false, "2026-12-24T10:00:00.000Z"]);

  await page.goto(`${address}/tasks/1?form=edit`);
  await page.getByLabel("Title").fill("Buy limes and salt");
  await send("PATCH", "/tasks/1", { title: "Buy limes" });
  await press(page, "Save changes");
  await page.getByRole("heading", { name: "Someone saved before you" }).waitFor();
  await page.getByLabel(/Buy limes and salt/).check();
  await press(page, "Save my choice");
  assert.equal(page.url(), `${address}/tasks/1`);
  assert.equal((await readTask(1))[0], "Buy limes and salt");

  await press(page, "Delete");
  await press(page, "Delete it");
  assert.equal(page.url(), `${address}/tasks`);
  await page.getByText("Mow the lawn").first().waitFor();
  assert.equal(await page.getByText("Buy limes").count(), 0);
});

async function send(method: string, at: string, body?: object): Promise<Record<string, unknown>> {
  const authorization = `Basic ${Buffer.from(`admin:${service.password}`).toString("base64")}`;
  const headers = { authorization, "content-type": "application/json" };
  const init: RequestInit = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const answer = await fetch(service.address + at, init);
  assert.ok(answer.ok, `${method} ${at} ${answer.status}`);
  return (await answer.json()) as Record<string, unknown>;
}

async function readTask(id: number): Promise<readonly unknown[]> {
  const { title, urgent, remind_at } = await send("GET", `/tasks/${id}`);
  return [title, urgent, remind_at];
}
