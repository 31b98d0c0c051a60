import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Mail } from "../../src/door/features.ts";
import type { BuiltIn } from "../../src/service/built-in.ts";
import { createLatchkey } from "../../src/service/latchkey.ts";
import type { ConfigFile } from "../../src/service/settings/config-file/config-file.ts";
import { readSettings } from "../../src/service/settings/settings.ts";
import { adminPassword, basicHeader } from "./serve.ts";
import { emptyDatabase } from "./test-store.ts";

// The pages of the ready-made service with mail, as a browser without JavaScript uses them.

/** The headers of a browser. */
export const browser = {
  accept: "text/html,application/xhtml+xml,*/*;q=0.8",
  host: "127.0.0.1:8000",
  "sec-fetch-site": "same-origin",
};
export const password = "difference-engine";

/** A response to a browser. */
export interface Page {
  readonly status: number;
  /** In one line, without the line breaks of its source. */
  readonly text: string;
  readonly headers: Headers;
}

/** A service whose mails a test reads. */
export interface MailedPages {
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Page>;
  /** Sends the first form in the main part of a page that has these fields, like a browser without JavaScript. */
  submit(
    page: Page,
    fields: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Page>;
  json(method: string, path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Page>;
  /** Delivers the queued mails, and returns the link and the code of the last one. */
  mailed(): Promise<{ readonly to: string; readonly link: string; readonly code: string }>;
}

/** Starts the ready-made service with mail. */
export async function startMailedPages(
  t: TestContext,
  environment: Readonly<Record<string, string>> = {},
  config: ConfigFile = {},
): Promise<MailedPages> {
  const mails: Mail[] = [];
  const found: BuiltIn[] = [];
  const latchkey = await createLatchkey({
    settings: readSettings({
      LATCHKEY_DATABASE: await emptyDatabase(t),
      LATCHKEY_SECRET: "a secret that all processes of the service know",
      LATCHKEY_ADMIN_PASSWORD: adminPassword,
      LATCHKEY_MAIL_URL: "file:mails",
      LATCHKEY_MAIL_FROM: "no-reply@example.com",
      ...environment,
    }),
    config: { ...config, features: (builtIn) => (found.push(builtIn), []) },
    overMail: () => async (each) => void mails.push(each),
  });
  t.after(() => latchkey.close());
  const { outbox } = found[0]!;
  const ask = async (path: string, init: RequestInit): Promise<Page> => {
    const response = await latchkey.fetch(new Request(`http://127.0.0.1:8000${path}`, init), { peer: "127.0.0.1" });
    const text = (await response.text()).replaceAll(/\s+/g, " ");
    return { status: response.status, text, headers: response.headers };
  };
  return {
    get: (path, headers = {}) => ask(path, { headers: { ...browser, ...headers } }),
    submit({ text }, fields, headers = {}) {
      const forms = [
        ...text.slice(text.indexOf("<main")).matchAll(/<form[^>]* method="post" action="([^"]*)"[^>]*>(.*?)<\/form>/g),
      ];
      const named = Object.keys(fields);
      const [, action = "", content = ""] =
        forms.find(([, , each = ""]) => named.every((name) => each.includes(`name="${name}"`))) ?? [];
      assert.notEqual(action, "", text);
      const hidden = [...content.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(
        ([, name = "", value = ""]) => [name, value.replaceAll("&amp;", "&")] as const,
      );
      const type = { "content-type": "application/x-www-form-urlencoded" };
      const body = new URLSearchParams([...hidden, ...Object.entries(fields)].map(([name, value]) => [name, value]));
      return ask(action, { method: "POST", headers: { ...browser, ...type, ...headers }, body: body.toString() });
    },
    json(method, path, body, as = basicHeader("admin", adminPassword)) {
      const headers = { "content-type": "application/json", ...as };
      return ask(path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    },
    async mailed() {
      await latchkey.use(outbox).deliverDue();
      const last = mails.at(-1)!;
      const link = /^http:\/\/[^/]+(\/\S+)$/m.exec(last.text)?.[1] ?? "";
      return { to: last.to, link, code: /^\d{8}$/m.exec(last.text)?.[0] ?? "" };
    },
  };
}
