import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Locator, Page } from "playwright-core";
import {
  anyone,
  authenticated,
  defineEndpoint,
  defineFeature,
  defineResource,
  integer,
  mount,
  text,
} from "../../src/door/index.ts";
import { totpCode } from "../../src/testing/totp-code.ts";
import { startBrowser } from "./browser.ts";
import { startObservedService, type ObservedService } from "./observed-service.ts";

let browser: Browser;

before(async () => {
  browser = await startBrowser();
});

after(() => browser?.close());

const books = defineResource({
  name: "book",
  fields: { title: text({ maxLength: 100 }), pages: integer({ minimum: 1, optional: true }) },
  filters: { title: ["eq", "starts"] },
  sorts: ["title"],
});
const lend = {
  permission: authenticated,
  body: { to: text({ maxLength: 50 }) },
  answer: { lent_to: text() },
  handle: ({ draft }: { readonly draft: { readonly to: string } }) => ({ answer: { lent_to: draft.to } }),
};
const library = defineFeature({
  name: "library",
  setUp: () => ({ offer: null, mounts: [mount(books, { permission: authenticated, actions: { lend } })] }),
});

/** A way to operate the page: with the mouse, or by keyboard. */
interface Hand {
  type(field: Locator, text: string): Promise<void>;
  choose(button: Locator): Promise<void>;
}

const mouse = (page: Page): Hand => ({
  async type(field, words) {
    await field.click();
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.insertText(words);
  },
  choose: (button) => button.click(),
});

const keyboard = (page: Page): Hand => {
  const reach = async (target: Locator): Promise<void> => {
    for (let count = await target.evaluate(tabsTo); count > 0; count--) await page.keyboard.press("Tab");
    for (let count = 0; count < 20; count++) {
      if (await target.evaluate((each) => each === document.activeElement)) return;
      await page.keyboard.press("Tab");
    }
    assert.fail(`nobody comes to ${String(target)} by keyboard`);
  };
  return {
    async type(field, words) {
      await reach(field);
      await page.keyboard.press("ControlOrMeta+A");
      await page.keyboard.insertText(words);
    },
    async choose(button) {
      await reach(button);
      await page.keyboard.press("Enter");
    },
  };
};

/**
 * Returns how many times `reach` presses Tab before it checks the focus again, because a check takes longer than a
 * press.
 */
function tabsTo(target: Element): number {
  const stops = [
    ...document.querySelectorAll<HTMLElement>("a[href], button, input, select, textarea, summary, [tabindex='0']"),
  ];
  const seen = stops.filter((each) => each.checkVisibility() && !each.matches(":disabled, [type=hidden]"));
  return Math.max(0, seen.indexOf(target as HTMLElement) - seen.indexOf(document.activeElement as HTMLElement) - 1);
}

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
}

async function readOperations({ address }: ObservedService): Promise<readonly Operation[]> {
  const { paths } = (await (await fetch(`${address}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, Record<string, never>>>;
  };
  return Object.entries(paths).flatMap(([path, { "x-oai-additionalOperations": more = {}, ...methods }]) =>
    Object.entries({ ...methods, ...more }).map(([method, { operationId = "" }]) => ({ method, path, operationId })),
  );
}

/** Sorts operations so that records are created before they are read, and deleted last. */
function inOrder(operations: readonly Operation[]): readonly Operation[] {
  const weight = ({ method, path }: Operation): number => {
    const isNested = path.split("/").length;
    if (path === "/api/session/end/" || (path.startsWith("/api") && method === "delete")) return 100;
    // After a factor is added, later logins ask for it.
    if (path.startsWith("/users/{id}/factors") && method !== "get") return factorOrder(path, method);
    if (method === "delete") return 50 - isNested;
    // The confirmation returns the waiting login that the next login completes.
    if (path === "/api/login/confirm/") return 0;
    return method === "post" ? isNested : 20;
  };
  return operations.toSorted((one, other) => weight(one) - weight(other));
}

function factorOrder(path: string, method: string): number {
  const steps = [
    "post /users/{id}/factors",
    "post /users/{id}/factors/{factor_id}/confirm",
    "post /users/{id}/factors/recovery",
  ];
  const at = steps.indexOf(`${method} ${path}`);
  return 60 + (at === -1 ? steps.length : at);
}

const missing = /^404 [^]*"not_found"/;

/** The expected refusals: the service sends no mail, and the user has no login that waits for a step. */
const refused: Readonly<Record<string, RegExp>> = {
  getApiLogin: /^401 [^]*"login_expired"/,
  postApiLoginFactors: /^401 [^]*"login_expired"/,
  getForgot: missing,
  getReset: missing,
  getVerify: missing,
};

/** Values from earlier responses, by the name that later operations need. */
type Known = Record<"key" | "session" | "refresh" | "access" | "file" | "pending" | "factor" | "secret", string>;

/** Returns the values to type into a form, if the examples in the form name no existing record. */
function filledFor(
  { operationId, path }: Operation,
  earlierValues: Known,
  { password }: ObservedService,
): Readonly<Record<string, string>> {
  const login = JSON.stringify({ username: "admin", password });
  const own: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    postApiSession: { body: login },
    postApiToken: { body: login },
    postApiTokenAuth: { body: login },
    postApiTokenRefresh: { body: JSON.stringify({ refresh: earlierValues.refresh }) },
    postApiTokenVerify: { body: JSON.stringify({ token: earlierValues.access }) },
    postApiLogin: { body: JSON.stringify({ pending: earlierValues.pending, factor: "password", password }) },
    postApiLoginFactors: { body: JSON.stringify({ pending: earlierValues.pending, kind: "totp" }) },
    getUsersIdFactors: { id: "1" },
    postUsersIdFactors: { id: "1", body: '{"kind":"totp"}' },
    postUsersIdFactorsRecovery: { id: "1", body: "{}" },
    postUsersIdFactorsFactorIdConfirm: {
      id: "1",
      factor_id: earlierValues.factor,
      body: JSON.stringify({ code: earlierValues.secret === "" ? "" : totpCode(earlierValues.secret, Date.now()) }),
    },
    deleteUsersIdFactorsFactorId: { id: "1", factor_id: earlierValues.factor, body: "{}" },
    deleteApiToken: { body: JSON.stringify({ refresh: earlierValues.refresh }) },
    getConsoleWhy: { of: "/users" },
    getDocsPage: { page: "listUsers" },
    getProblemsCode: { code: "taken" },
    getConsoleFile: { file: earlierValues.file },
    postUsersIdKeys: { id: "1", body: '{"name":"program"}' },
    getUsersIdKeys: { id: "1" },
    getUsersIdSessions: { id: "1" },
    patchUsersIdAccount: { id: "2", body: '{"role":"admin"}' },
    updateOrders: { body: '[{"id":1,"status":"paid"}]' },
    updateOrderItems: { body: '[{"id":1,"quantity":2}]' },
    lendBook: { body: '{"to":"Ann"}' },
  };
  if (own[operationId] !== undefined) return own[operationId];
  if (path.includes("{key_id}")) return { id: "1", key_id: earlierValues.key };
  if (path.includes("{session_id}")) return { id: "1", session_id: earlierValues.session };
  return path.startsWith("/users/{id}") ? { id: "2" } : {};
}

/** Stores the values of a response that other operations need. */
function learn(earlierValues: Known, { operationId }: Operation, body: string): void {
  const said = /^[[{]/.test(body) ? JSON.parse(body) : {};
  if (operationId === "postUsersIdKeys") earlierValues.key = said.id;
  if (operationId === "postApiLoginConfirm") earlierValues.pending = said.pending;
  if (operationId === "postUsersIdFactors") Object.assign(earlierValues, { factor: said.id, secret: said.secret });
  if (operationId === "getUsersIdSessions")
    earlierValues.session = said.find((each: { current: boolean }) => !each.current)?.id;
  if (/^postApiToken(?:Refresh)?$/.test(operationId))
    Object.assign(earlierValues, { access: said.access, refresh: said.refresh });
}

for (const [name, handOf] of [
  ["the mouse", mouse],
  ["the keyboard", keyboard],
] as const)
  test(`runs every operation of the API in the docs by ${name}`, async () => {
    await using service = await startObservedService({}, { features: [library] });
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    const complaints: string[] = [];
    const hand = handOf(page);
    await page.goto(`${service.address}/api/session/`);
    await hand.type(page.getByLabel("E-mail or username"), "admin");
    await hand.type(page.getByLabel("Password", { exact: true }), service.password);
    await hand.choose(page.getByRole("button", { name: "Log in" }));
    await page.waitForURL(`${service.address}/`);
    // Listens only now, because the browser has logged the 401 of the login page.
    page.on("console", (message) => void (message.type() === "error" && complaints.push(message.text())));
    page.on("pageerror", (error) => void complaints.push(String(error)));
    const earlierValues: Known = {
      key: "",
      session: "",
      refresh: "",
      access: "",
      file: "",
      pending: "",
      factor: "",
      secret: "",
    };
    const other = await browser.newContext();
    await other.request.post(`${service.address}/api/session/`, {
      data: { username: "admin", password: service.password },
    });
    const operations = inOrder(await readOperations(service));

    for (const operation of operations) {
      await page.goto(`${service.address}/docs/${operation.operationId}`);
      earlierValues.file ||= (await page.locator("link[rel=stylesheet]").getAttribute("href"))!.split("/").at(-1)!;
      for (const [field, words] of Object.entries(filledFor(operation, earlierValues, service)))
        await hand.type(page.locator(field === "body" ? "#body" : `[data-in][name="${field}"]`), words);
      await hand.choose(page.getByRole("button", { name: "Send" }));
      const answer = page.locator("#answer");
      await answer.filter({ hasText: /^\d{3} |^No answer/ }).waitFor();
      const said = await answer.innerText();
      assert.match(
        said,
        refused[operation.operationId] ?? /^2\d\d /,
        `${operation.operationId}: ${said.slice(0, 800)}`,
      );
      learn(earlierValues, operation, said.split("\n\n").slice(1).join("\n\n").trim());
    }

    assert.ok(operations.length > 60);
    // The browser logs each refusal itself.
    const isRefusal = (complaint: string): boolean => complaint.startsWith("Failed to load resource: ");
    assert.equal(complaints.filter(isRefusal).length, Object.keys(refused).length);
    assert.deepEqual(
      complaints.filter((each) => !isRefusal(each)),
      [],
    );
    await context.close();
    await other.close();
  });

test("sends each member in the form of a custom endpoint as its schema requires", async () => {
  const properties = {
    weight: { type: "number" },
    count: { type: "integer" },
    fragile: { type: "boolean" },
    note: { type: "string" },
    box: { type: "object" },
  };
  const endpoint = (method: "GET" | "POST") =>
    defineEndpoint({
      method,
      path: "/parcels",
      access: anyone,
      ...(method === "GET" ? {} : { consumes: ["application/json"] }),
      documentation: { summary: "Send a parcel", request: { type: "object", properties } },
      handle: () => ({ status: 200, body: { kind: "data", value: { sent: true }, element: "parcel" } }),
    });
  await using service = await startObservedService({}, { endpoints: [endpoint("GET"), endpoint("POST")] });
  const page = await browser.newPage();
  await page.goto(`${service.address}/parcels`);

  for (const [name, words] of Object.entries({ weight: "1.5", count: "2", note: "3", box: '{"a":4}' }))
    await page.getByLabel(name).fill(words);
  await page.getByLabel("fragile").selectOption("true");
  const [sent] = await Promise.all([
    page.waitForRequest((request) => request.method() === "POST"),
    page.getByRole("button", { name: "Send" }).click(),
  ]);

  assert.deepEqual(sent.postDataJSON(), { weight: 1.5, count: 2, fragile: true, note: "3", box: { a: 4 } });
  await page.close();
});
