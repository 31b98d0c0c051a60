import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page, Response, Route } from "playwright-core";
import { collectComplaints, startBrowser } from "./browser.ts";
import { startObservedService, type ObservedService } from "./observed-service.ts";

/** Waits until the import says that it is done. Throws what the page and the browser say instead. */
async function waitForImport(page: Page, complaints: readonly string[]): Promise<void> {
  const said = page.locator("#imported");
  try {
    await said.filter({ hasText: "Done." }).waitFor();
  } catch (error) {
    const scripts = await page.locator("script").evaluateAll((all) => all.map((each) => each.getAttribute("src")));
    const notes = { said: await said.innerText(), at: page.url(), scripts, complaints };
    throw new Error(`The import is not done: ${JSON.stringify(notes)}`, { cause: error });
  }
}

let browser: Browser;
let service: ObservedService;

before(async () => {
  [browser, service] = await Promise.all([startBrowser(), startObservedService()]);
});

after(async () => {
  await browser?.close();
  await service?.[Symbol.asyncDispose]();
});

async function openAs(username: string, password: string, path: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await page.goto(service.address + path);
  await page.getByLabel("E-mail or username").fill(username);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.waitForURL(service.address + path);
  return page;
}

async function save(page: Page): Promise<void> {
  const isChange = (response: Response): boolean => response.request().method() === "PATCH";
  await Promise.all([page.waitForResponse(isChange), page.getByRole("button", { name: "Save access" }).click()]);
}

test("creates users by a form and from a file, sets a one-time password, and promotes and deactivates users", async () => {
  const page = await openAs("admin", service.password, "/users?form=new");
  const complaints = collectComplaints(page);
  await page.getByLabel("Name", { exact: true }).fill("Ann");
  await page.getByLabel("E-mail", { exact: true }).fill("ann@example.com");
  await page.getByRole("button", { name: "Add user" }).click();
  await page.waitForURL(/\/users\/2$/);

  await page.goto(`${service.address}/users?form=new`);
  await page.getByText("Bring users from a file").click();
  const csv = 'name,email\n"Ben ""B"" O, Jr",ben@example.com\nCleo,no mailbox\n"Dora\nLee",dora@example.com\n';
  const bringIn = async (text: string, said: RegExp): Promise<void> => {
    await page.getByLabel("File").setInputFiles({ name: "users.csv", mimeType: "text/csv", buffer: Buffer.from(text) });
    for (let times = 0; times < 2; times++) {
      await page.getByRole("button", { name: "Bring them in" }).click();
      await waitForImport(page, complaints);
      assert.match(await page.locator("#imported").innerText(), said);
    }
  };
  // A name cannot contain a line break.
  await bringIn(csv, /^1 made, 2 refused\.\nLine 3: .*\/email .*\nLine 4: .*\/name /);
  // A corrected file creates only the missing users. A file with other content starts a new import.
  await bringIn(csv.replace("no mailbox", "cleo@example.com"), /^2 made, 1 refused\.\nLine 4: .*\/name /);
  await bringIn(
    "name,email\nEve,eve@example.com\nFay,fay@example.com,admin\n",
    /^1 made, 1 refused\.\nLine 3: .*\/column_3 /,
  );
  await page.goto(`${service.address}/users?sort=-id`);
  assert.equal(await page.locator("tbody tr").count(), 5);
  await page.getByText('Ben "B" O, Jr').waitFor();

  await page.goto(`${service.address}/users/2`);
  await page.getByRole("link", { name: "Account", exact: true }).click();
  await page.getByText("Give a one-time password").click();
  await page.getByRole("button", { name: "Make a one-time password" }).click();
  const once = await page.locator("#secret-password").innerText();
  assert.equal(once.length, 20);
  await page.getByRole("link", { name: "I have copied it" }).click();
  await page.getByRole("heading", { name: "The account of" }).waitFor();
  assert.ok(!(await page.content()).includes(once));

  const ann = await openAs("ann@example.com", once, "/users/2/account");
  await ann.getByText("Change password").click();
  await ann.getByLabel("New password", { exact: true }).fill("quartz lantern 42");
  await ann.locator("#password-current_password").fill(once);
  await ann.getByRole("button", { name: "Save password" }).click();
  await ann.getByRole("button", { name: "Log in" }).waitFor();
  await ann.getByLabel("E-mail or username").fill("ann@example.com");
  await ann.getByLabel("Password", { exact: true }).fill("quartz lantern 42");
  await ann.getByRole("button", { name: "Log in" }).click();
  await ann.getByRole("heading", { name: "Your account" }).waitFor();

  // Ann's logins have changed her account since this page was opened. They cause no conflict.
  await page.getByText("Change access").click();
  await page.getByLabel("Role").selectOption("admin");
  await save(page);
  await ann.goto(`${service.address}/users`);
  assert.equal(await ann.locator("tbody tr").count(), 5);
  await page.goto(`${service.address}/users/2/account`);
  await page.getByText("Change access").click();
  await page.getByLabel("May log in").selectOption("false");
  await save(page);
  await page.locator(".tag", { hasText: "not active" }).waitFor();
  await ann.goto(`${service.address}/users/2/account`);
  await ann.getByRole("button", { name: "Log in" }).waitFor();
});

test("shows the button of an import once its script is there, because it would send the form itself before", async () => {
  const page = await openAs("admin", service.password, "/users?form=new");
  const button = page.getByRole("button", { name: "Bring them in" });
  const asked = Promise.withResolvers<Route>();
  await page.route(/\/import\./, (route) => asked.resolve(route));

  await page.getByText("Bring users from a file").click();
  const route = await asked.promise;
  const before = await button.count();
  await route.continue();
  await button.waitFor();

  assert.equal(before, 0);
  await page.context().close();
});

test("creates a key and shows it once, revokes it, and ends the other logins", async () => {
  const page = await openAs("admin", service.password, "/users/1/account");
  const other = await openAs("admin", service.password, "/users/1");
  await page.reload();
  await page.locator("summary", { hasText: "Keys for programs" }).click();
  await page.locator("#key-name").fill("nightly");
  await page.getByLabel("read what you may read").check();
  await page.getByRole("button", { name: "Make a key" }).click();
  const key = await page.locator("#secret-key").innerText();
  const fetchUser = (headers: Record<string, string>) => fetch(`${service.address}/users/1`, { headers });
  assert.equal((await fetchUser({ authorization: `Token ${key}` })).status, 200);
  await page.getByRole("link", { name: "I have copied it" }).click();
  const row = page.locator(".lines > li", { hasText: "nightly" });
  await row.waitFor();
  assert.ok(!(await page.content()).includes(key));
  await row.getByRole("button", { name: "Remove nightly" }).click();
  await row.getByRole("button", { name: "Remove it" }).click();
  await row.waitFor({ state: "detached" });
  assert.equal((await fetchUser({ authorization: `Token ${key}` })).status, 401);

  await page.getByRole("button", { name: "Log out everywhere else" }).click();
  await page.getByRole("button", { name: "Log out the others" }).click();
  await page.getByRole("button", { name: "Log out everywhere else" }).waitFor({ state: "detached" });
  await other.reload();
  await other.getByRole("button", { name: "Log in" }).waitFor();
});

test("lets the second of two editors of an account choose a value, and keeps the input in other forms", async () => {
  const { address, password } = service;
  const authorization = `Basic ${Buffer.from(`admin:${password}`).toString("base64")}`;
  const headers = { authorization, "content-type": "application/json" };
  const send = (method: string, path: string, body: object) =>
    fetch(address + path, { method, headers, body: JSON.stringify(body) });
  const made = await send("POST", "/users", { name: "Gus", email: "gus@example.com" });
  const path = `/users/${((await made.json()) as { id: number }).id}`;
  const page = await openAs("admin", password, `${path}/account`);
  const name = page.locator("#profile-name");
  const key = page.locator("#key-name");

  await name.fill("Typed and not sent");
  await page.locator("summary", { hasText: "Keys for programs" }).click();
  await key.fill("not made yet");
  await page.getByText("Change it", { exact: true }).click();
  await page.locator("#login-username").fill("");
  await page.getByRole("button", { name: "Save username" }).click();
  await page.getByRole("alert").first().waitFor();
  await page.getByLabel("Username").fill("gustav");
  await send("PATCH", `${path}/account`, { username: "gus" });
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "Someone saved before you" }).waitFor();
  await page.getByRole("radio", { name: "gustav" }).check();
  await page.getByRole("button", { name: "Save my choice" }).click();
  await page.getByRole("heading", { name: "The account of gustav" }).waitFor();
  assert.equal(await name.inputValue(), "Typed and not sent");
  assert.equal(await key.inputValue(), "not made yet");

  await page.getByText("Change password").click();
  await page.locator("#password-password").fill("amber");
  await page.getByText("Change e-mail").click();
  await page.locator("#email-email").fill("no mailbox");
  await page.getByRole("button", { name: "Save e-mail" }).click();
  await page.getByRole("alert").first().waitFor();
  assert.equal(await page.getByLabel("New e-mail").inputValue(), "no mailbox");
  await page.getByRole("link", { name: "Do not change it" }).click();
  await page.getByRole("heading", { name: "The account of gustav" }).waitFor();
  assert.equal(await name.inputValue(), "Typed and not sent");
  assert.equal(await key.inputValue(), "not made yet");
  assert.equal(await page.locator("#password-password").inputValue(), "amber");
  assert.equal(await page.locator("#email-email").inputValue(), "gus@example.com");
  await page.getByText("Change e-mail").click();
  await page.locator("#email-email").fill("no mailbox");
  await page.getByRole("button", { name: "Save e-mail" }).click();
  await page.getByRole("alert").first().waitFor();
  await page.getByLabel("New e-mail").fill("gustav@example.com");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "The account of gustav" }).waitFor();
  assert.equal(await name.inputValue(), "Typed and not sent");
  await page.getByRole("button", { name: "Make a key" }).click();
  await page.getByRole("link", { name: "I have copied it" }).click();
  await page.locator(".lines > li", { hasText: "not made yet" }).waitFor({ state: "attached" });
  assert.equal(await key.inputValue(), "");
});
