import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from "playwright-core";
import { anyone, defineResource, mount, reference, text } from "../../src/door/index.ts";
import { references } from "../../src/door/resources.ts";
import { findings } from "./axe.ts";
import { startBrowser, turnOnKeys } from "./browser.ts";
import { startObservedService, type ObservedService } from "./observed-service.ts";

let browser: Browser;
let service: ObservedService;

const shelves = defineResource({ name: "shelf", plural: "shelves", id: "uuid", fields: { title: text() } });
const books = defineResource({
  name: "book",
  fields: {
    title: text({ maxLength: 200 }),
    shelf_id: reference(shelves, { optional: true }),
    shelves: references(shelves),
  },
  filters: { title: ["eq", "starts"] },
  sorts: ["title"],
});
const signs = defineResource({ name: "sign", fields: { title: text({ maxLength: 20_000 }) } });
const mounts = [shelves, books, signs].map((each) => mount(each, { permission: anyone }));

before(async () => {
  [browser, service] = await Promise.all([startBrowser(), startObservedService({}, { mounts })]);
  const ids: string[] = [];
  for (const title of ["Upper shelf", "W".repeat(200), "مكتب الشحن", "Last"])
    ids.push(((await (await send("/shelves", { title })).json()) as { id: string }).id);
  await send("/books", { title: "W".repeat(200), shelf_id: ids[1], shelves: ids });
  await send("/books", { title: "Emma", shelf_id: ids[0], shelves: [ids[0]] });
  const [, ...others] = [
    "",
    "<script>alert(1)</script>",
    "مكتب الشحن",
    "W".repeat(200),
    `"><img src=x onerror=alert(1)>`,
  ];
  for (const [at, name] of others.entries()) await send("/users", { name, email: `u${at}@example.com` });
  for (let count = 0; count < 3; count++) await send("/orders", {});
  await send("/orders/1/items", { product: "Ink", quantity: 1, unit_price: "9.95" });
});

after(async () => {
  await browser?.close();
  await service?.[Symbol.asyncDispose]();
});

async function send(path: string, body: object, method = "POST"): Promise<Response> {
  const authorization = `Basic ${Buffer.from(`admin:${service.password}`).toString("base64")}`;
  const headers = { authorization, "content-type": "application/json" };
  const init: RequestInit = { method, headers, body: JSON.stringify(body) };
  const answer = await fetch(service.address + path, init);
  assert.ok(answer.ok, `${path} ${answer.status}`);
  return answer;
}

/** Opens a page and collects the complaints of the browser: errors, warnings and dialogs. */
async function open(
  options: BrowserContextOptions = {},
): Promise<{ context: BrowserContext; page: Page; complaints: string[] } & AsyncDisposable> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    // The browser also logs each response with an error status. Such a response is expected here.
    if (["error", "warning"].includes(message.type()) && !/Failed to load resource/.test(message.text()))
      complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { context, page, complaints, [Symbol.asyncDispose]: () => context.close() };
}

async function logIn(page: Page, path = "/"): Promise<void> {
  await page.goto(`${service.address}/api/session/`);
  await page.getByLabel("E-mail or username").fill("admin");
  await page.getByLabel("Password", { exact: true }).fill(service.password);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.waitForURL(`${service.address}/`);
  if (path !== "/") await page.goto(service.address + path);
}

const addresses = [
  "/",
  "/books?sort=-title",
  "/books/1",
  "/books?form=new",
  "/books/1?form=edit",
  "/books?title=nothing",
  "/users",
  "/users/2",
  "/orders?status=open&sort=-id",
  "/orders?status=cancelled",
  "/orders/1",
  "/orders/1/items",
  "/api/session/",
  "/console/why?of=/orders/1",
  "/users/999",
  "/users?nonsense=1",
  "/problems",
  "/problems/taken",
  "/users/1/account",
  "/users/2/account",
  "/users/1/keys",
  "/docs",
  "/docs/createOrderItem",
  "/docs/queryUsers",
];

for (const [width, colorScheme] of [
  [1280, "light"],
  [1280, "dark"],
  [390, "light"],
  [390, "dark"],
] as const) {
  test(`passes axe at ${width} pixels in ${colorScheme}, without overflow`, async () => {
    await using opened = await open({ viewport: { width, height: 900 }, colorScheme });
    const { page, complaints } = opened;
    await page.goto(`${service.address}/orders`);
    assert.deepEqual(await findings(page), [], "401");
    await logIn(page);

    for (const address of addresses) {
      await page.goto(service.address + address);
      assert.deepEqual(await findings(page), [], `${address}, folded`);
      for (const menu of await page.locator("details").all())
        await menu.evaluate((each) => each.setAttribute("open", ""));
      assert.deepEqual(await findings(page), [], address);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width, address);
      const sticking = await page.evaluate(() => {
        return [...document.querySelectorAll(".clip > *")].flatMap((cell) =>
          cell.scrollWidth > cell.clientWidth + 1 ? [cell.textContent.slice(0, 40)] : [],
        );
      });
      assert.deepEqual(sticking, [], address);
    }
    assert.deepEqual(complaints, []);
  });
}

test("shows every button and every opened menu of a list and of a record on the narrowest screen", async () => {
  await using opened = await open({ viewport: { width: 320, height: 900 } });
  const { page } = opened;
  await logIn(page);
  const reach = (element: Locator) =>
    element.evaluate((each) => [each.getBoundingClientRect().left, each.getBoundingClientRect().right]);

  for (const address of ["/books?sort=-title", "/books/1", "/users/2", "/users/1/account"]) {
    await page.goto(service.address + address);
    const opens = page.locator("details.menu > summary");
    const cut: string[] = [];
    const look = async (part: Locator): Promise<void> => {
      const [left = 0, right = 0] = await reach(part);
      if (left < 0 || right > 320) cut.push(`${await part.innerText()} from ${left} to ${right}`);
    };
    for (const part of await page.locator("button:visible:not(td *)").all()) await look(part);
    for (const summary of await opens.all()) {
      await look(summary);
      await summary.click();
      await look(summary.locator("xpath=following-sibling::div"));
      await summary.click();
    }
    assert.deepEqual(cut, [], address);
  }
});

test("shows names of 10,000 letters, right to left and of markup as text, without sideways scrolling", async () => {
  for (const title of ["W".repeat(10_000), "مكتب الشحن ".repeat(20), "<b>bold</b><script>alert(1)</script>"]) {
    const { id } = (await (await send("/signs", { title })).json()) as { id: number };
    await using opened = await open({ viewport: { width: 320, height: 900 } });
    const { page, complaints } = opened;
    await logIn(page);
    for (const address of ["/signs", `/signs/${id}`, `/signs/${id}?form=edit`, "/signs?form=new"]) {
      await page.goto(service.address + address);
      assert.equal(
        await page.evaluate(() => document.documentElement.scrollWidth),
        320,
        `${address} ${title.slice(0, 9)}`,
      );
    }
    await page.goto(`${service.address}/signs/${id}`);
    assert.ok((await page.locator("h1").innerText()).startsWith(title.trim().slice(0, 100)));
    assert.deepEqual(complaints, []);
  }
});

test("reads, filters, logs in and logs out without a script", async () => {
  await using opened = await open({ javaScriptEnabled: false });
  const { page } = opened;

  await page.goto(`${service.address}/orders?status=open`);
  await page.getByLabel("E-mail or username").fill("admin");
  await page.getByLabel("Password", { exact: true }).fill("wrong");
  await page.getByRole("button", { name: "Log in" }).click();
  assert.equal(await page.getByLabel("E-mail or username").inputValue(), "admin");
  await page.getByLabel("Password", { exact: true }).fill(service.password);
  await page.getByRole("button", { name: "Log in" }).click();

  assert.equal(page.url(), `${service.address}/orders?status=open`);
  await page.locator("summary", { hasText: "Filter" }).click();
  await page.getByLabel("Paid").check();
  await page.getByRole("button", { name: "Show" }).click();
  await page.waitForURL(/paid/);

  await page.locator(".who > summary").click();
  await page.getByRole("button", { name: "Log out" }).click();
  await page.waitForURL(`${service.address}/`);
  await page.goto(`${service.address}/orders`);
  await page.getByRole("heading", { name: "Log in" }).waitFor();
});

test("creates, changes and deletes a record by keyboard alone", async () => {
  await using opened = await open();
  const { page, complaints } = opened;
  await logIn(page, "/orders");
  await turnOnKeys(page);

  await page.keyboard.press("n");
  await page.getByLabel("Status").focus();
  await page.keyboard.type("paid");
  await page.getByRole("button", { name: "Add order" }).press("Enter");
  await page.waitForURL(/\/orders\/\d+$/);
  assert.equal(await page.locator(".meta .tag").innerText(), "Paid");

  const address = page.url();
  await page.keyboard.press("e");
  await page.getByLabel("Status").focus();
  await page.keyboard.type("open");
  await page.getByRole("button", { name: "Save changes" }).press("Enter");
  await page.locator(".meta .tag", { hasText: "Open" }).waitFor();

  await page.getByRole("button", { name: "Delete" }).press("Enter");
  await page.getByRole("button", { name: "Delete it" }).press("Enter");
  await page.waitForURL(`${service.address}/orders`);
  assert.equal((await page.goto(address))!.status(), 404);
  await page.getByRole("link", { name: "All orders" }).waitFor();
  assert.deepEqual(complaints, []);
});

test("shows mistakes at their fields, keeps the typed text, and succeeds at the second try", async () => {
  await using opened = await open();
  const { page, complaints } = opened;
  await logIn(page, "/orders/1/items?form=new");

  await page.getByLabel("Product").fill(`<b>"Linen"</b>`);
  await page.getByLabel("Quantity").fill("0");
  await page.getByLabel("Unit price").fill("12.505");
  await page.getByRole("button", { name: "Add item" }).click();
  await page.getByRole("alert").waitFor();
  assert.equal(await page.locator(".wrong").count(), 2);
  assert.equal(await page.getByLabel("Product").inputValue(), `<b>"Linen"</b>`);
  assert.equal(await page.getByRole("alert").evaluate((each) => each === document.activeElement), true);
  assert.deepEqual(await findings(page), []);
  await page.getByRole("alert").getByRole("link", { name: "Quantity" }).click();
  assert.equal(await page.getByLabel("Quantity").evaluate((each) => each === document.activeElement), true);

  await page.getByLabel("Quantity").fill("3");
  await page.getByLabel("Unit price").fill("12.50");
  await page.getByRole("button", { name: "Add item" }).click();
  await page.getByRole("heading", { name: `<b>"Linen"</b>` }).waitFor();
  assert.deepEqual(complaints, []);
});

test("lets the second of two users who change one record choose a value, and keeps all other values", async () => {
  await using opened = await open();
  const { page, complaints } = opened;
  await logIn(page, "/users/3?form=edit");
  const email = await page.getByLabel("E-mail").inputValue();

  await page.getByLabel("Name", { exact: true }).fill("Mine");
  await send("/users/3", { name: "Theirs" }, "PATCH");
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByRole("heading", { name: "Someone saved before you" }).waitFor();
  assert.deepEqual(await findings(page), []);
  assert.equal(await page.getByLabel("Mine").isChecked(), true);
  await page.getByRole("button", { name: "Save my choice" }).click();
  await page.getByRole("heading", { name: "Mine" }).waitFor();

  const saved = (await (await send("/users/3", {}, "PATCH")).json()) as { name: string; email: string };
  assert.deepEqual([saved.name, saved.email], ["Mine", email]);
  assert.deepEqual(complaints, []);
});

test("keeps the typed text if the login ends while the user types", async () => {
  await using opened = await open();
  const { page, context } = opened;
  await logIn(page, "/orders/1/items?form=new");

  await page.getByLabel("Product").fill("A long text");
  await context.clearCookies();
  await page.getByRole("button", { name: "Add item" }).click();
  await page.getByRole("heading", { name: "Log in" }).waitFor();
  await page.getByLabel("E-mail or username").fill("admin");
  await page.getByLabel("Password", { exact: true }).fill(service.password);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("heading", { name: "New item" }).waitFor();

  assert.equal(await page.getByLabel("Product").inputValue(), "A long text");
});

test("sends a request with a typed credential without the session cookie, and ends the session at logout", async () => {
  await using opened = await open();
  const { page } = opened;
  await logIn(page, "/api/session/");

  await page.getByPlaceholder("Token …").fill("Token nonsense");
  await page.getByRole("button", { name: "Send one request" }).first().click();
  await page.getByText("401").first().waitFor();
  assert.match(await page.locator("#answer-0").innerText(), /"code": "invalid_token"/);

  await page.locator(".who > summary").click();
  await page.getByRole("button", { name: "Log out" }).click();
  await page.waitForURL(`${service.address}/`);
  assert.ok(await page.getByRole("banner").getByRole("link", { name: "Log in" }).isVisible());
});

test("requests a page again before Back shows it, so that it shows nothing of a user who has logged out", async (t) => {
  const keeping = await startBrowser({ keepsPages: true });
  t.after(() => keeping.close());
  const page = await keeping.newPage();
  await logIn(page, "/users/1");
  // The mark is lost when the browser requests the page again.
  const isMarked = (): Promise<boolean> => page.evaluate(() => "mark" in document.body.dataset);
  await page.evaluate(() => (document.body.dataset["mark"] = "kept"));
  await page.locator(".who > summary").click();
  await page.getByRole("button", { name: "Log out" }).click();
  await page.waitForURL(`${service.address}/`);

  await page.goBack({ waitUntil: "commit" });
  await page.getByRole("heading", { name: "Log in" }).waitFor();

  assert.equal(page.url(), `${service.address}/users/1`);
  assert.equal(await isMarked(), false);
  assert.doesNotMatch(await page.content(), /admin@example\.invalid/);
});
