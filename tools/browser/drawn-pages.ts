import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { computeCode, computeStep } from "../../src/features/auth/totp/codes.ts";
import { clubConfig } from "../../tests/harness/club.ts";
import { parseBase32 } from "../../tests/harness/factors.ts";
import { freePort } from "../../tests/harness/free-port.ts";
import { clientId, clientSecret, startIssuer, type Issuer } from "../../tests/harness/openid-issuer.ts";
import { clubPassword, fill, logIn, send } from "./filled-club.ts";
import { codeIn, linkIn, nextMail } from "./mails.ts";
import { startObservedService, type ObservedService } from "./observed-service.ts";

// Each drawn page, and the way to the same page of the service.

/** The Harbour Club with mail, two companies and filled lists. */
export interface Club extends AsyncDisposable {
  readonly service: ObservedService;
  readonly mails: string;
  readonly issuer: Issuer;
}

/** Starts the club at `localhost`, because passkeys need a host name. */
export async function startClub(): Promise<Club> {
  const folder = mkdtempSync(path.join(tmpdir(), "club-"));
  const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true })];
  const issuer = await startIssuer({ after: (end) => void ends.push(end as () => unknown) }, Date.now);
  issuer.user = { sub: "ann", email: "ann@council.example", email_verified: true };
  const company = { issuer: issuer.issuer, client_id: clientId, client_secret: clientSecret };
  const providers = path.join(folder, "providers.json");
  const both = [
    { id: "council", title: "Harbour Council", ...company },
    { id: "works", title: "Example Works", ...company, issuer: issuer.issuer.replace("127.0.0.1", "[::1]") },
  ];
  writeFileSync(providers, JSON.stringify(both), { mode: 0o600 });
  const port = await freePort();
  const settings = {
    LATCHKEY_PUBLIC_URL: `http://localhost:${port}`,
    LATCHKEY_MAIL_URL: `file:${folder}`,
    LATCHKEY_MAIL_FROM: "no-reply@harbour.example",
    LATCHKEY_REGISTRATION: "verified",
    LATCHKEY_IDENTITY_PROVIDERS: providers,
  };
  const started = await startObservedService(settings, clubConfig(true), port);
  const service = { ...started, address: `http://localhost:${port}` };
  await fill(service);
  return {
    service,
    mails: folder,
    issuer,
    async [Symbol.asyncDispose]() {
      await started[Symbol.asyncDispose]();
      for (const end of ends) await end();
    },
  };
}

/** A page of the service on its way to what a drawing shows. */
interface Stage extends Club {
  readonly page: Page;
  /** Opens a path of the service. */
  open(at: string): Promise<void>;
  press(name: string | RegExp): Promise<void>;
  /** The key of Ann's app. */
  readonly key: string;
}

type DrawnPage = readonly [drawing: string, as: "ann" | "admin" | "nobody" | "anew", show: (stage: Stage) => unknown];

const at =
  (address: string) =>
  ({ open }: Stage) =>
    open(address);

/** The pages in the order of their pictures: a later one needs what an earlier one did. */
export const drawnPages: readonly DrawnPage[] = [
  ["root-visitor", "nobody", at("/")],
  ["login", "nobody", at("/login?next=/tasks")],
  ["login-wrong", "nobody", showWrongLogin],
  ["signup", "nobody", at("/signup")],
  ["forgot", "nobody", at("/forgot")],
  ["mailbox", "nobody", signUp],
  ["verify", "nobody", async ({ open, mails }) => open(linkIn(await nextMail(mails)))],
  ["reset", "nobody", showReset],
  ["link-expired", "nobody", at("/reset?token=a-token")],
  ["company-unknown", "nobody", showUnknownCompany],
  ["invitation", "nobody", showInvitation],
  ["list-empty", "admin", at("/books")],
  ["docs", "admin", at("/docs/createTask")],
  ["problem-409", "admin", showLentBook],
  // The browser keeps the strip open from here on.
  ["root-developer", "admin", showDeveloper],
  ["root", "ann", at("/")],
  ["list", "ann", at("/tasks?state[in]=open&state[in]=in_work&state[in]=late&sort=due")],
  ["record", "ann", at("/projects/1")],
  ["form", "ann", at("/tasks?form=new")],
  ["form-errors", "ann", showMistakes],
  ["problem-403", "ann", at("/projects/1/budgets")],
  ["problem-404", "ann", at("/tasks/88")],
  ["problem-412", "ann", showConflict],
  ["why", "ann", at("/console/why?of=/projects/1")],
  ["account-new", "ann", at("/users/2/account")],
  ["totp", "ann", showNewApp],
  ["recovery-codes", "ann", showRecoveryCodes],
  ["account", "ann", showAccount],
  ["factor", "anew", showFactor],
  ["recovery", "anew", showRecovery],
  ["confirm", "ann", showConfirm],
];

/** Opens the pages of one look. Each person has one browser context, so that Ann is logged in once. */
export function openPages(club: Club, newContext: () => Promise<BrowserContext>) {
  const contexts = new Map<string, BrowserContext>();
  let key = "";
  let shown: Page | null = null;
  return async function open([drawing, as, show]: DrawnPage): Promise<Page> {
    const known = contexts.get(as);
    const context = known ?? (await newContext());
    if (as !== "anew") contexts.set(as, context);
    // The codes follow on the page of the app.
    const page = drawing === "recovery-codes" ? shown! : await context.newPage();
    shown = page;
    if (known === undefined && (as === "ann" || as === "admin")) await logIn(page, club.service, as);
    await show({
      ...club,
      page,
      open: async (target) => void (await page.goto(club.service.address + target)),
      press: (name) => page.getByRole("main").getByRole("button", { name }).first().click(),
      key,
    });
    if (drawing === "totp") key = (await page.locator("#key").innerText()).replaceAll(/\s/g, "");
    return page;
  };
}

async function showWrongLogin({ page, open, press }: Stage): Promise<void> {
  await open("/login?next=/tasks");
  await page.getByLabel("E-mail or username").fill("ann@harbour.example");
  await page.getByLabel("Password", { exact: true }).fill("wrong");
  await press("Log in");
  await page.getByRole("alert").waitFor();
}

async function signUp({ page, open, press }: Stage): Promise<void> {
  await open("/signup");
  await page.getByLabel("Your name").fill("Eve");
  await page.getByLabel("E-mail").fill("eve@harbour.example");
  await press("Sign up");
  await page.waitForURL(/verify/);
}

async function showReset({ page, open, press, mails }: Stage): Promise<void> {
  await open("/forgot");
  await page.getByLabel("E-mail").fill("ann@harbour.example");
  await press("Send the mail");
  await page.waitForURL(/reset/);
  await page.getByLabel("Code from the mail").fill(codeIn(await nextMail(mails)));
  await press("Continue");
  await page.getByLabel("New password", { exact: true }).waitFor();
}

async function showUnknownCompany({ page, service, issuer, open }: Stage): Promise<void> {
  const start = `${service.address}/api/login/council/start`;
  const started = await page.request.get(start, { maxRedirects: 0 });
  const { location = "" } = started.headers();
  const callback = await issuer.authorize(location);
  await open(callback.pathname + callback.search);
}

async function showInvitation({ service, open, mails }: Stage): Promise<void> {
  const invited = { email: `guest-${Date.now()}@harbour.example`, role: "member" };
  await send(service, "POST", "/projects/1/members/invitations", invited, "ann");
  await open(linkIn(await nextMail(mails)));
}

async function showDeveloper({ page, open }: Stage): Promise<void> {
  await open("/");
  await page.locator("summary", { hasText: "API" }).click();
}

async function showMistakes({ page, open, press }: Stage): Promise<void> {
  await open("/tasks/1?form=edit");
  await page.getByLabel("Title").fill("");
  await page.getByLabel("Hours planned").fill("a few");
  await press("Save changes");
  await page.getByRole("alert").waitFor();
}

async function showLentBook({ page, open, press, service }: Stage): Promise<void> {
  await send(service, "POST", "/books", { title: "The tide tables of the north coast" });
  await send(service, "POST", "/loans", { book_id: 1, member_id: 3, until: "2026-12-04" });
  await open("/books/1");
  await press("Delete");
  await press("Delete it");
  await page.locator(".problem").waitFor();
}

async function showConflict({ page, open, press, service }: Stage): Promise<void> {
  await open("/tasks/1?form=edit");
  await page.getByLabel(/^Due/).fill("2026-12-12");
  await page.getByLabel("Hours planned").fill("3");
  await send(service, "PATCH", "/tasks/1", { due: "2026-12-11", hours: 2 }, "ann");
  await press("Save changes");
  await page.getByRole("heading", { name: "Someone saved before you" }).waitFor();
}

async function showNewApp({ page, open, press }: Stage): Promise<void> {
  await open("/users/2/account");
  await page.locator("summary", { hasText: "Set it up" }).click();
  await press("Set it up");
  await page.locator("#key").waitFor();
}

async function showRecoveryCodes({ page, press, key }: Stage): Promise<void> {
  await page.locator("input[name=code]").fill(computeCode(parseBase32(key), computeStep(Date.now())));
  await press("Turn on two-step login");
  await page.getByRole("heading", { name: "Your recovery codes" }).waitFor();
}

/** Adds a passkey to Ann's account, which has an app already. */
async function showAccount({ page, open, press }: Stage): Promise<void> {
  await open("/users/2/account");
  const tools = await page.context().newCDPSession(page);
  await tools.send("WebAuthn.enable");
  const options = { protocol: "ctap2", transport: "internal", hasResidentKey: true, isUserVerified: true } as const;
  await tools.send("WebAuthn.addVirtualAuthenticator", {
    options: { ...options, hasUserVerification: true, automaticPresenceSimulation: true },
  });
  await page.locator("summary", { hasText: "Add a passkey" }).click();
  await page.locator("#passkey-label").fill("Phone");
  await press("Add the passkey");
  await press("Create the passkey");
  await page.getByRole("link", { name: "To your account" }).click();
  await page.getByRole("button", { name: "Remove Phone" }).waitFor();
}

async function showFactor({ page, open, press }: Stage): Promise<void> {
  await open("/login?next=/");
  await page.getByLabel("E-mail or username").fill("ann@harbour.example");
  await page.getByLabel("Password", { exact: true }).fill(clubPassword);
  await press("Log in");
  await page.getByRole("heading", { name: "Enter your code" }).waitFor();
}

async function showRecovery(stage: Stage): Promise<void> {
  await showFactor(stage);
  await stage.page.getByRole("link", { name: "Use a recovery code" }).click();
  await stage.page.getByRole("heading", { name: "Use a recovery code" }).waitFor();
}

async function showConfirm({ page, open, press, service }: Stage): Promise<void> {
  await open("/users/2/account");
  service.turn(601);
  await page.getByText("Change e-mail").click();
  await page.locator("#email-email").fill("ann@club.example");
  await press("Send the mail");
  await press("Confirm");
  await page.getByText("We ask again").waitFor();
}
