import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, CDPSession, Page } from "playwright-core";
import { anyone, confirmed, defineResource, mount, text } from "../../src/door/index.ts";
import { startBrowser } from "./browser.ts";
import { startObservedService, type ObservedService } from "./observed-service.ts";

let browser: Browser;
let service: ObservedService;

before(async () => {
  [browser, service] = await Promise.all([startBrowser(), startObservedService()]);
});

after(async () => {
  await browser?.close();
  await service?.[Symbol.asyncDispose]();
});

/** Passkeys are bound to a host name, so the browser opens `localhost`. */
function here({ address }: ObservedService): string {
  return address.replace("127.0.0.1", "localhost");
}

interface Opened extends AsyncDisposable {
  readonly page: Page;
  readonly complaints: string[];
  /** Makes the authenticator fail to verify its user. */
  refusesUser(): Promise<void>;
}

/** Opens a page in Chromium, which simulates an authenticator that is part of the machine. */
async function open(path: string, of = service): Promise<Opened> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" && !/Failed to load resource/.test(message.text())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  const tools: CDPSession = await context.newCDPSession(page);
  await tools.send("WebAuthn.enable");
  const { authenticatorId } = await tools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  await page.goto(here(of) + path);
  return {
    page,
    complaints,
    async refusesUser() {
      await tools.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
    },
    [Symbol.asyncDispose]: () => context.close(),
  };
}

async function logInByPassword(page: Page, username: string, password: string): Promise<void> {
  await page.getByLabel("E-mail or username").fill(username);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
}

async function logOut(page: Page): Promise<void> {
  await page.locator("details.menu.end > summary").click();
  await page.getByRole("button", { name: "Log out" }).click();
  await page.waitForURL(`${new URL(page.url()).origin}/`);
}

/** Creates a user. Returns the e-mail address and the path of the account. */
async function makeUser(name: string): Promise<{ readonly email: string; readonly account: string }> {
  const authorization = `Basic ${Buffer.from(`admin:${service.password}`).toString("base64")}`;
  const email = `${name.toLowerCase()}@example.com`;
  const made = await fetch(`${service.address}/users`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify({ name, email, password: PASSWORD }),
  });
  return { email, account: `/users/${((await made.json()) as { id: number }).id}/account` };
}

const PASSWORD = "quartz lantern 42";

/** Logs in by password, adds a passkey on the account page, and ends at that page. */
async function addPasskey(page: Page, email: string, account: string): Promise<void> {
  await logInByPassword(page, email, PASSWORD);
  await page.getByRole("heading", { name: "Your account" }).waitFor();
  await page.locator("summary", { hasText: "Add a passkey" }).click();
  await page.locator("#passkey-label").fill("Laptop");
  await page.getByRole("button", { name: "Add the passkey" }).click();
  await page.getByRole("button", { name: "Create the passkey" }).click();
  await page.getByRole("heading", { name: "Your recovery codes" }).waitFor();
  assert.equal((await page.locator("#codes").innerText()).trim().split("\n").length, 10);
  await page.getByRole("link", { name: "I have stored them" }).click();
  await page.waitForURL(here(service) + account);
  await page.locator(".lines > li", { hasText: "Laptop" }).waitFor();
}

const session = (page: Page) =>
  page.evaluate(async () => {
    const reply = await fetch("/api/session/", { headers: { Accept: "application/json" } });
    return (await reply.json()) as { username: string; amr: string[]; level: number };
  });

test("adds a passkey on the account page, and logs in with it without a username", async () => {
  const ann = await makeUser("Ann");
  await using opened = await open(`/login?next=${ann.account}`);
  const { page, complaints } = opened;
  assert.equal(await page.evaluate(() => document.activeElement?.id), "username");
  await addPasskey(page, ann.email, ann.account);

  await logOut(page);
  await page.goto(`${here(service)}/login?next=/orders?status=open`);
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.waitForURL(`${here(service)}/orders?status=open`);
  assert.deepEqual((await session(page)).amr, ["hwk"]);
  assert.equal((await session(page)).level, 2);
  // The login loads the whole page again, even if the address stays the same.
  await logOut(page);
  await page.goto(`${here(service)}/orders`);
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.locator("details.menu.end", { hasText: "ann@example.com" }).waitFor();
  assert.deepEqual(complaints, []);
});

test("asks for the passkey after the password, and then opens the requested page", async () => {
  const ben = await makeUser("Ben");
  await using opened = await open(`/login?next=${ben.account}`);
  const { page, complaints } = opened;
  await addPasskey(page, ben.email, ben.account);
  await logOut(page);

  await page.goto(`${here(service)}/login?next=/orders`);
  await logInByPassword(page, ben.email, PASSWORD);
  await page.getByRole("heading", { name: "Use your passkey" }).waitFor();
  await page.goto(`${here(service)}/login/factor?next=/orders`);
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.waitForURL(`${here(service)}/orders`);
  assert.deepEqual((await session(page)).amr, ["pwd", "hwk"]);
  assert.deepEqual(complaints, []);
});

test("says why a passkey does not work, and offers the other ways to log in", async () => {
  const cleo = await makeUser("Cleo");
  await using opened = await open(`/login?next=${cleo.account}`);
  const { page, complaints, refusesUser } = opened;
  const alert = page.getByRole("alert");
  await page.getByRole("button", { name: "Use a passkey" }).click();
  assert.match(await alert.innerText(), /The passkey was not used/);
  assert.ok(await alert.evaluate((each) => each === document.activeElement));

  await addPasskey(page, cleo.email, cleo.account);
  await page.getByRole("button", { name: "Remove Laptop" }).click();
  await page.getByRole("button", { name: "Remove it" }).click();
  await page.locator(".lines > li", { hasText: "Laptop" }).waitFor({ state: "detached" });
  await logOut(page);
  await page.goto(`${here(service)}/login`);
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.getByText("This passkey was not accepted").waitFor();
  await refusesUser();
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.getByText("The passkey was not used").waitFor();
  await logInByPassword(page, cleo.email, PASSWORD);
  await page.waitForURL(`${here(service)}/`);
  assert.deepEqual(complaints, []);
});

test("asks for a passkey when a form needs a recent login, and then sends the typed values", async () => {
  const dora = await makeUser("Dora");
  await using opened = await open(`/login?next=${dora.account}`);
  const { page, complaints } = opened;
  await addPasskey(page, dora.email, dora.account);
  service.turn(601);
  await page.reload();

  await page.locator("summary", { hasText: "Keys for programs" }).click();
  await page.locator("#key-name").fill("typed and not sent");
  await page.getByText("Change password").click();
  await page.locator("#password-password").fill("amber lantern 43");
  await page.getByRole("button", { name: "Save password" }).click();
  await page.getByRole("heading", { name: "Confirm that it is you" }).waitFor();
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.getByRole("button", { name: "Log in", exact: true }).waitFor();
  assert.deepEqual(service.answers.filter((each) => /^(?:PATCH|POST \/api\/login\/)/.test(each)).slice(-4), [
    `PATCH ${dora.account.replace("/account", "")} 401 confirmation_required`,
    "POST /api/login/confirm/ 200",
    "POST /api/login/ 201",
    `PATCH ${dora.account.replace("/account", "")} 200`,
  ]);
  // A changed password ends every login.
  await logInByPassword(page, dora.email, "amber lantern 43");
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.locator("#profile-name").waitFor();
  assert.deepEqual(complaints, []);
});

test("keeps the typed values while the user confirms with a password", async () => {
  const books = defineResource({ name: "book", fields: { title: text(), isbn: text({ maxLength: 13 }) } });
  const mounts = [
    mount(books, { permission: { list: anyone, read: anyone, create: confirmed({ within: 60 }), update: anyone } }),
  ];
  await using own = await startObservedService({}, { mounts });
  await using opened = await open("/login?next=/books?form=new", own);
  const { page, complaints } = opened;
  await logInByPassword(page, "admin", own.password);
  await page.waitForURL(`${here(own)}/books?form=new`);
  own.turn(61);
  await page.getByLabel("Title").fill("Emma");
  await page.getByLabel("Isbn").fill("9780141439587");
  await page.getByRole("button", { name: /^Add/ }).click();
  await page.getByRole("button", { name: "Confirm" }).click();
  await page.getByLabel("Password", { exact: true }).fill("wrong");
  await page.getByRole("button", { name: "Confirm" }).click();
  await page.getByText("Wrong password.").waitFor();
  await page.getByLabel("Password", { exact: true }).fill(own.password);
  await page.getByRole("button", { name: "Confirm" }).click();
  await page.waitForURL(`${here(own)}/books?form=new`);
  assert.equal(await page.getByLabel("Title").inputValue(), "Emma");
  await page.getByRole("button", { name: /^Add/ }).click();
  await page.waitForURL(`${here(own)}/books/1`);
  await page.getByText("9780141439587").first().waitFor();
  assert.deepEqual(complaints, []);
});

test("lets an administrator without the required factor add a passkey during the login", async () => {
  await using strict = await startObservedService({ LATCHKEY_SECOND_FACTOR: "admins" });
  await using opened = await open("/login?next=/orders", strict);
  const { page, complaints } = opened;
  await logInByPassword(page, "admin", strict.password);
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("button", { name: "Create the passkey" }).click();
  await page.getByRole("heading", { name: "Your recovery codes" }).waitFor();
  await page.getByRole("link", { name: "I have stored them" }).click();
  await page.waitForURL(`${here(strict)}/orders`);
  assert.equal((await session(page)).level, 2);
  assert.deepEqual(complaints, []);
});

test("links from a loopback address to localhost for a login with a passkey", async () => {
  const page = await (await browser.newContext()).newPage();
  await page.goto(`${service.address}/login?next=/orders`);
  assert.equal(await page.getByRole("button", { name: "Use a passkey" }).count(), 0);
  await page.getByRole("link", { name: "Use a passkey at localhost" }).click();
  await page.waitForURL(`${here(service)}/login?next=%2Forders`);
  await page.getByRole("button", { name: "Use a passkey" }).waitFor();
  await page.context().close();
});
