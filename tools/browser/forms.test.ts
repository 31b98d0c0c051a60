import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { anyone, dateTime, defineResource, enumeration, mount, nobody, reference, text } from "../../src/door/index.ts";
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

const notes = defineResource({ name: "note", fields: { tag_id: reference(tags), line: text({ optional: true }) } });

let browser: Browser;
let service: ObservedService;

before(async () => {
  const mounts = [
    mount(tags, { permission: anyone }),
    mount(drawers, { permission: { create: anyone, read: anyone, list: nobody } }),
    mount(posts, { permission: anyone }),
    mount(notes, { permission: anyone }),
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

test("chooses and removes several records by their names", async () => {
  await using opened = await open("/posts?form=new");
  const { page, complaints } = opened;
  await page.getByLabel("Title", { exact: true }).fill("First");
  const tagged = page.getByRole("group", { name: "Tags" });
  for (const name of ["Paper", "<b>Linen</b>"]) await tagged.getByLabel(name).press("Space");
  await page.getByRole("group", { name: "Days" }).getByLabel("Wed").check();
  await page.getByRole("button", { name: "Add post" }).press("Enter");
  await page.getByRole("heading", { name: "First" }).waitFor();
  assert.deepEqual((await send("GET", "/posts/1")).tags.toSorted(), [2, 3]);
  assert.deepEqual((await send("GET", "/posts/1")).days, ["wed"]);

  await page.getByRole("link", { name: "Edit" }).click();
  for (const name of ["Paper", "<b>Linen</b>"]) await tagged.getByLabel(name).uncheck();
  await page.getByRole("button", { name: "Save changes" }).press("Enter");
  await page.getByRole("heading", { name: "First", exact: true }).waitFor();
  assert.deepEqual((await send("GET", "/posts/1")).tags, []);
  assert.equal((await send("GET", "/posts/1")).title, "First");
  assert.deepEqual(omitExpected(complaints), []);
});

test("keeps line breaks in a field with several lines", async () => {
  const { id } = await send("POST", "/posts", { title: "Lines", body: "a\r\n  b" });
  await using opened = await open(`/posts/${id}?form=edit`);
  const { page, complaints } = opened;

  await page.getByLabel(/^Body/).focus();
  await page.keyboard.press("Control+End");
  await page.keyboard.press("Enter");
  await page.keyboard.type("c");
  await page.getByLabel(/^Summary/).fill("three");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Lines", exact: true }).waitFor();
  const { body, summary } = await send("GET", `/posts/${id}`);
  assert.deepEqual([body, summary], ["a\n  b\nc", "three"]);
  assert.deepEqual(omitExpected(complaints), []);
});

for (const javaScriptEnabled of [true, false])
  test(`shows everything typed again after a mistake, ${javaScriptEnabled ? "with" : "without"} a script`, async () => {
    await using opened = await open("/posts?form=new", { javaScriptEnabled });
    const { page } = opened;

    await page.getByLabel(/^Body/).fill("\nfirst\n\nlast\n");
    await page.getByRole("group", { name: "Tags" }).getByLabel("Ink").check();
    await page.getByRole("group", { name: "Days" }).getByLabel("Mon").check();
    await page.getByLabel(/^Drawer/).fill("99999");
    await page.getByRole("button", { name: "Add post" }).click();
    await page.getByRole("alert").waitFor();

    assert.equal(await page.getByLabel(/^Body/).inputValue(), "\nfirst\n\nlast\n");
    assert.equal(await page.getByLabel("Ink").isChecked(), true);
    assert.equal(await page.getByLabel("Mon").isChecked(), true);
    assert.equal(await page.getByLabel(/^Drawer/).inputValue(), "99999");
    await page.getByLabel(/^Drawer/).fill("");
    await page.getByLabel("Title", { exact: true }).fill("Mended");
    await page.getByRole("button", { name: "Add post" }).click();
    await page.getByRole("heading", { name: "Mended" }).waitFor();
    assert.match(await page.locator(".kv").first().innerText(), /first\n\nlast/);
  });

test("finds a record beyond the first fifty by a part of its name, with and without a script", async () => {
  for (let at = 1; at <= 50; at += 1) await send("POST", "/tags", { name: `Bulk ${at}` });
  await using opened = await open("/notes?form=new");
  await opened.page.getByRole("combobox", { name: "Tag" }).fill("Paper");
  await opened.page.getByRole("option", { name: "Paper" }).click();
  await opened.page.getByRole("button", { name: "Add note" }).click();
  await opened.page.getByRole("link", { name: "Paper" }).waitFor();

  await using plain = await open("/notes?form=new", { javaScriptEnabled: false });
  await plain.page.getByLabel("Another Tag, by a part of its name").fill("Paper");
  await plain.page.getByRole("button", { name: "Add note" }).click();
  await plain.page.getByRole("alert").waitFor();
  await plain.page.getByRole("button", { name: "Add note" }).click();
  await plain.page.getByRole("link", { name: "Paper" }).waitFor();
});

test("shows the caller by a separate request on a page that is served without authentication", async () => {
  await using opened = await open("/nothing");
  await opened.page.getByRole("link", { name: "Log in" }).waitFor();
  await using plain = await open("/nothing", { javaScriptEnabled: false });
  await plain.page.getByRole("link", { name: "Who you are" }).waitFor();
});

test("filters by a time in the zone of the reader", async () => {
  const calls = defineResource({
    name: "call",
    fields: { whom: text(), at: dateTime() },
    filters: { at: ["gte", "lte"] },
  });
  await using own = await startObservedService({}, { mounts: [mount(calls, { permission: anyone })] });
  const context = await browser.newContext({ timezoneId: "Europe/Berlin" });
  const page = await context.newPage();

  await page.goto(`${own.address}/calls?at[gte]=2026-12-24T09:30:00Z`);
  await page.locator("summary", { hasText: "Filter" }).click();
  const [from, until] = [page.getByLabel("At from", { exact: true }), page.getByLabel("At until", { exact: true })];
  const shown = await from.inputValue();
  await until.fill("2026-12-25T00:00");
  await page.getByRole("button", { name: "Show" }).click();
  await page.waitForURL(/lte/);

  assert.equal(shown, "2026-12-24T10:30");
  const { searchParams } = new URL(page.url());
  assert.equal(searchParams.get("at[gte]"), "2026-12-24T09:30:00.000Z");
  assert.equal(searchParams.get("at[lte]"), "2026-12-24T23:00:00.000Z");
  await context.close();
});
