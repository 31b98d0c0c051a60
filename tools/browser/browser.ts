import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";

/** The path of Chromium on Debian. */
const executablePath = "/usr/bin/chromium";

const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts Chromium, which sends no background requests. With `keepsPages`, its back/forward cache is on. */
export async function startBrowser({ keepsPages = false } = {}): Promise<Browser> {
  if (!existsSync(executablePath))
    throw new Error(
      "Chromium is not installed. Install it: apt-get update && apt-get install -y --no-install-recommends chromium",
    );
  const ignoreDefaultArgs = keepsPages ? ["--disable-back-forward-cache"] : [];
  return chromium.launch({ executablePath, headless: true, args, ignoreDefaultArgs });
}

/** Opens a page, and collects all complaints of the browser. */
export async function openPage(
  context: BrowserContext,
  address: string,
): Promise<{ readonly page: Page; readonly complaints: string[] }> {
  const page = await context.newPage();
  const complaints = collectComplaints(page);
  await page.goto(address);
  return { page, complaints };
}

/** Collects all complaints of the browser about a page, from now on. */
export function collectComplaints(page: Page): string[] {
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("requestfailed", (request) => complaints.push(`${request.url()}: ${request.failure()?.errorText}`));
  return complaints;
}

/** Turns on the keys of pages, which are off until a user wants them. Uses the keyboard only. */
export async function turnOnKeys(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Keyboard" }).press("Enter");
  await page.getByLabel("Use these keys").press("Space");
  await page.getByRole("button", { name: "Close" }).press("Enter");
}

/** The result of a page's `fetch`. */
export interface Fetched {
  /** Null if the browser gave the page no response. */
  readonly status: number | null;
  readonly type: string;
  readonly body: string;
  readonly etag: string | null;
}

/** The options of a page's `fetch`. */
export interface Fetching {
  readonly method?: string;
  readonly mode?: "no-cors";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Calls `fetch` in a page, as a script of the page would. */
export function fetchFrom(page: Page, url: string, init: Fetching = {}): Promise<Fetched> {
  return page.evaluate(
    async ([target, options]) => {
      try {
        const response = await fetch(target, { credentials: "include", ...options });
        return {
          status: response.status,
          type: response.type,
          body: await response.text(),
          etag: response.headers.get("etag"),
        };
      } catch {
        return { status: null, type: "error", body: "", etag: null };
      }
    },
    [url, init] as const,
  );
}

/** Starts another site: an empty page at every path. */
export async function startSite(): Promise<{ readonly port: number; close(): void }> {
  const server = createServer((_, response) => {
    response
      .writeHead(200, { "Content-Type": "text/html" })
      .end("<!doctype html><title>A page</title><link rel=icon href='data:,'>");
  });
  return listening(server);
}

/** Starts a proxy that adds header fields to every request. A real proxy does so after it has identified the caller. */
export function startProxy(
  address: string,
  added: Readonly<Record<string, string>>,
): Promise<{ readonly port: number; close(): void }> {
  const { hostname, port } = new URL(address);
  const server = createServer((incoming, response) => {
    const { method, url, headers } = incoming;
    const outgoing = request({ hostname, port, method, path: url, headers: { ...headers, ...added } }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(outgoing);
  });
  return listening(server);
}

async function listening(server: Server): Promise<{ readonly port: number; close(): void }> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { port: (server.address() as AddressInfo).port, close };
}
