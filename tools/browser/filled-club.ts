import type { Page } from "playwright-core";
import type { ObservedService } from "./observed-service.ts";

// The Harbour Club with its people and records, for pictures of pages.

/** The password of every person of the club. */
export const clubPassword = "copper teapot 17";

/** Sends a body as a user of the club, and throws if it is refused. */
export async function send(service: ObservedService, method: string, target: string, body: object, as = "admin") {
  const secret = as === "admin" ? service.password : clubPassword;
  const name = as === "admin" ? "admin" : `${as}@harbour.example`;
  const authorization = `Basic ${Buffer.from(`${name}:${secret}`).toString("base64")}`;
  const headers = { authorization, "content-type": "application/json" };
  const answer = await fetch(service.address + target, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${target} ${answer.status} ${await answer.text()}`);
}

/** Fills the club with the records of the drawings. */
export async function fill(service: ObservedService): Promise<void> {
  for (const name of ["Ann", "Ben", "Mei"])
    await send(service, "POST", "/users", {
      name,
      email: `${name.toLowerCase()}@harbour.example`,
      password: clubPassword,
    });
  const project = { name: "Summer regatta", state: "under_way", budget: "1250.00", starts: "2027-06-19", public: true };
  await send(service, "POST", "/projects", project, "ann");
  for (const user_id of [3, 4]) await send(service, "POST", "/projects/1/members", { user_id });
  for (const [title, state, due] of [
    ["Buy lemons", "open", "2026-12-05"],
    ["Write to the harbour master about the buoys", "late", "2026-11-20"],
    ["Mend the blue boat before the ice comes, and varnish the oars", "in_work", "2026-12-05"],
  ])
    await send(service, "POST", "/tasks", { title, project_id: 1, state, due, assignee_id: 2 }, "ann");
}

/** Logs in on the page for it. */
export async function logIn(page: Page, service: ObservedService, as: string): Promise<void> {
  await page.goto(`${service.address}/login`);
  await page.getByLabel("E-mail or username").fill(as === "admin" ? "admin" : `${as}@harbour.example`);
  await page.getByLabel("Password", { exact: true }).fill(as === "admin" ? service.password : clubPassword);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.waitForURL(`${service.address}/`);
}
