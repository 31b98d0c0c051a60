import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { findings } from "./axe.ts";
import { openPage, startBrowser } from "./browser.ts";
import { startClub, type Club } from "./drawn-pages.ts";
import { clubPassword } from "./filled-club.ts";
import { linkIn, nextMail } from "./mails.ts";

// The owner of a project invites a person, who joins. Neither of them needs an administrator or a program.

let browser: Browser;
let club: Club;

before(async () => {
  [browser, club] = await Promise.all([startBrowser(), startClub()]);
});

after(async () => {
  await browser?.close();
  await club?.[Symbol.asyncDispose]();
});

for (const width of [1280, 390])
  test(`leads an owner from a project to its invitations, and a guest from the mail into the project, at ${width} px`, async () => {
    const { address } = club.service;
    const guest = `guest-${width}@harbour.example`;
    const context = await browser.newContext({ viewport: { width, height: 844 } });
    const { page, complaints } = await openPage(context, `${address}/login?next=/projects/1`);
    await page.getByLabel("E-mail or username").fill("ann@harbour.example");
    await page.getByLabel("Password", { exact: true }).fill(clubPassword);
    await page.getByLabel("Password", { exact: true }).press("Enter");
    await page.waitForURL(`${address}/projects/1`);

    await page.getByRole("link", { name: "Invite" }).click();
    assert.deepEqual(await findings(page), []);
    await page.getByLabel("E-mail").fill("guest");
    await page.getByRole("button", { name: "Send the invitation" }).click();
    await page.getByRole("alert").waitFor();
    assert.deepEqual(await findings(page), []);
    await page.getByLabel("E-mail").fill(guest);
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("rowheader", { name: guest }).waitFor();
    assert.equal(await page.getByLabel("E-mail").inputValue(), "");
    assert.deepEqual(await findings(page), []);
    // Chromium reports the refused form.
    assert.equal(complaints.filter((each) => !/status of 400/.test(each)).length, 0, complaints.join("\n"));

    const visitor = await (await browser.newContext({ viewport: { width, height: 844 } })).newPage();
    await visitor.goto(address + linkIn(await nextMail(club.mails)));
    await visitor.getByLabel("Your name").fill("Guest");
    await visitor.getByLabel("Password", { exact: true }).fill(clubPassword);
    await visitor.getByRole("button", { name: "Join" }).click();
    await visitor.waitForURL(/login/);
    await page.reload();
    await page.getByText("No open invitations.").waitFor();
    await page.getByRole("link", { name: "Members" }).click();
    await page.getByText("Guest").first().waitFor();
    await context.close();
  });
