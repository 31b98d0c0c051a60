import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { anyone, defineResource, enumeration, mount, nobody, reference, text } from "../../src/door/index.ts";
import { array, references } from "../../src/door/resources.ts";
import { openPage, startBrowser } from "./browser.ts";
import { startObservedService, type ObservedService } from "./observed-service.ts";

const tags = defineResource({ name: "tag", fields: { name: text() }, search: ["name"] });
const drawers = defineResource({ name: "drawer", fields: { name: text() } });
const posts = defineResource({
  name: "post",
  fields: {
    title: text({ maxLength: 200 }),
    summary: text({ maxLength: 500, optional: true }),
    body: text({ multiline: true, optional: true }),
    drawer_id: reference(drawers, { optional: true }),
    tags: references(tags, { default: [] }),
    days: array(enumeration(["mon", "tue", "wed"]), { optional: true }),
  },
});

let browser: Browser;
let service: ObservedService;

before(async () => {
  const mounts = [
    mount(tags, { permission: anyone }),
    mount(drawers, { permission: { create: anyone, read: anyone, list: nobody } }),
    mount(posts, { permission: anyone }),
  ];
  [browser, service] = await Promise.all([startBrowser(), startObservedService({}, { mounts })]);
  for (const name of ["Ink", "Paper", "<b>Linen</b>", ...Array.from({ length: 9 }, (_, at) => `More ${at}`)])
    await send("POST", "/tags", { name });
  await send("POST", "/drawers", { name: "Upper" });
});

after(async () => {
  await browser?.close();
  await service?.[Symbol.asyncDispose]();
});

// oxlint-disable-next-line typescript/no-explicit-any -- a test reads into it and asserts what it finds
async function send(method: string, path: string, body?: object): Promise<any> {
  const headers = { "content-type": "application/json" };
  const init: RequestInit = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const answer = await fetch(service.address + path, init);
  assert.ok(answer.ok, `${method} ${path} ${answer.status}`);
  return answer.json();
}

async function open(path: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const opened = await openPage(context, service.address + path);
  return { ...opened, [Symbol.asyncDispose]: () => context.close() };
}

/**
 * Removes the expected complaints: responses that are refused on purpose, and responses that the page stopped reading
 * when it continued.
 */
const omitExpected = (complaints: readonly string[]) =>
  complaints.filter((each) => !/status of 400|ERR_ABORTED/.test(each));
const saved = (page: Page) => page.locator("[data-said]", { hasText: "Done." }).waitFor();

test("chooses, types and removes several ids with the keyboard, and shows their names", async () => {
  await using opened = await open("/posts");
  const { page, complaints } = opened;
  await page.getByLabel("title", { exact: true }).fill("First");
  const line = page.getByLabel("Another of tags");
  await line.focus();
  await page.locator("datalist option").nth(2).waitFor({ state: "attached" });
  await line.fill("2");
  await page.keyboard.press("Tab");
  await page.getByLabel("2 Paper").waitFor();
  await line.fill("3, 1");
  await page.getByRole("group", { name: "days" }).getByLabel("wed").check();
  await page.getByRole("button", { name: "Add post" }).press("Enter");
  await page.waitForURL(/\/posts\/1$/);
  assert.deepEqual((await send("GET", "/posts/1")).tags, [2, 3, 1]);
  assert.deepEqual((await send("GET", "/posts/1")).days, ["wed"]);

  await page.getByLabel("3 <b>Linen</b>").uncheck();
  const [change] = await Promise.all([
    page.waitForRequest((request) => request.method() === "PATCH"),
    page.getByRole("button", { name: "Save changes" }).press("Enter"),
  ]);
  assert.deepEqual(change.postDataJSON(), { tags: [2, 1] });
  await saved(page);
  for (const tag of ["2 Paper", "1 Ink"]) await page.getByLabel(tag).uncheck();
  await page.getByRole("button", { name: "Save changes" }).press("Enter");
  await saved(page);
  assert.deepEqual((await send("GET", "/posts/1")).tags, []);
  assert.deepEqual(omitExpected(complaints), []);
});

test("accepts a typed id of a resource that may not be listed, without a request for names", async () => {
  await using opened = await open("/posts");
  const { page, complaints } = opened;

  await page.getByLabel(/^drawer_id/).fill("1");
  await page.getByLabel(/^drawer_id/).press("Tab");
  await page.waitForTimeout(400);

  assert.deepEqual(omitExpected(complaints), []);
});

test("keeps line breaks in a field with several lines, and allows none in a field with one line", async () => {
  const { id } = await send("POST", "/posts", { title: "Lines", body: "a\r\n  b" });
  await using opened = await open(`/posts/${id}`);
  const { page, complaints } = opened;

  await page.getByLabel(/^summary/).fill("one\n two");
  const [change] = await Promise.all([
    page.waitForRequest((request) => request.method() === "PATCH"),
    page.getByRole("button", { name: "Save changes" }).click(),
  ]);
  assert.deepEqual(change.postDataJSON(), { summary: "one two" });
  await saved(page);
  await page.getByLabel(/^body/).focus();
  await page.keyboard.press("Control+End");
  await page.keyboard.press("Enter");
  await page.keyboard.type("c");
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByText("b\nc").first().waitFor();
  assert.equal((await send("GET", `/posts/${id}`)).body, "a\n  b\nc");
  await page.getByLabel(/^summary/).fill("three");
  const [sent] = await Promise.all([
    page.waitForRequest((request) => request.method() === "PATCH"),
    page.keyboard.press("Enter"),
  ]);
  assert.deepEqual(sent.postDataJSON(), { summary: "three" });
  assert.deepEqual(omitExpected(complaints), []);
});

test("shows the typed values again after a mistake: checkboxes, invalid ids, and lines", async () => {
  await using opened = await open("/posts");
  const { page } = opened;

  await page.getByLabel(/^body/).fill("\nfirst\n\nlast\n");
  await page.getByLabel("Another of tags").fill("1 99999");
  await page.getByRole("group", { name: "days" }).getByLabel("mon").check();
  await page.getByRole("button", { name: "Add post" }).click();
  await page.getByRole("alert").waitFor();

  assert.equal(await page.getByLabel(/^body/).inputValue(), "\nfirst\n\nlast\n");
  assert.equal(await page.getByLabel("1 Ink").isChecked(), true);
  assert.equal(await page.getByLabel("99999").isChecked(), true);
  assert.equal(await page.getByLabel("mon").isChecked(), true);
  await page.getByLabel("99999").uncheck();
  await page.getByLabel("title", { exact: true }).fill("Mended");
  await page.getByRole("button", { name: "Send again" }).click();
  await page.waitForURL(/\/posts\/\d+$/);
  assert.match(await page.locator(".facts-list").innerText(), /first\n\nlast/);
});

test("shows the caller by a separate request on a page that is served without authentication", async () => {
  await using opened = await open("/nothing");
  await opened.page.getByRole("link", { name: "Log in" }).waitFor();
  await using plain = await open("/nothing", { javaScriptEnabled: false });
  await plain.page.getByRole("link", { name: "Who you are" }).waitFor();
});

test("sends JSON in the typed form, and keeps it after a refusal", async () => {
  await using opened = await open("/posts");
  const { page, complaints } = opened;
  await page.getByText("Send JSON").click();
  const body = page.getByLabel("Body", { exact: true });
  const key = page.getByLabel("Idempotency-Key");
  assert.equal(await body.inputValue(), '{\n  "title": ""\n}');
  const first = await key.inputValue();
  assert.match(first, /^[0-9a-f]{32}$/);

  await body.fill('{"title": "Raw", "nonsense": 1}');
  await page.getByRole("button", { name: "Send POST" }).press("Enter");
  await page.getByRole("form", { name: "Send JSON" }).getByRole("alert").waitFor();
  assert.match(await page.getByRole("alert").innerText(), /nonsense/);
  assert.equal(await body.inputValue(), '{"title": "Raw", "nonsense": 1}');
  assert.notEqual(await key.inputValue(), first);
  await body.fill('{"title": "Raw"');
  await page.getByRole("button", { name: "Send POST" }).click();
  await page.getByText(/JSON/).nth(1).waitFor();
  await body.fill('{"title": "Raw"}');
  await page.getByRole("button", { name: "Send POST" }).click();
  await page.waitForURL(/\/posts\/\d+$/);

  await page.getByText("Send JSON").click();
  const tag = await page.getByLabel("If-Match").inputValue();
  assert.match(tag, /^"[^"]+"$/);
  await body.fill('{"summary": "short"}');
  const [sent] = await Promise.all([
    page.waitForRequest((request) => request.method() === "PATCH"),
    page.getByRole("button", { name: "Send PATCH" }).click(),
  ]);
  assert.deepEqual([await sent.headerValue("if-match"), sent.postData()], [tag, '{"summary": "short"}']);
  await saved(page);
  assert.match(await page.locator(".facts-list").innerText(), /short/);
  assert.deepEqual(omitExpected(complaints), []);
});
