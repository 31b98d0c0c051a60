import type { TestContext } from "node:test";
import { clubConfig } from "./club.ts";
import { serve, type Answered } from "./serve.ts";

const page = { accept: "text/html", "sec-fetch-site": "same-origin" };

/** Starts the club. Ann owns a project with Ben in it, Lea lends books. */
export async function startClub(t: TestContext) {
  const api = await serve(t, { config: clubConfig() });
  const [ann, ben, lea] = [await api.user("Ann"), await api.user("Ben"), await api.user("Lea")];
  await api.patch(`/users/${lea.id}/account`, { role: "librarian" }, api.admin);
  const body = { name: "Summer regatta", state: "under_way", budget: "1250.00", starts: "2027-06-19", public: true };
  await api.post("/projects", body, ann.headers);
  await api.post("/projects/1/members", { user_id: ben.id }, api.admin);
  for (const [title, state] of [
    ["Buy lemons", "open"],
    ["Book the band", "done"],
  ])
    await api.post("/tasks", { title, project_id: 1, state, due: "2026-12-24" }, ann.headers);
  await api.patch("/tasks/1", { assignee_id: ben.id }, ann.headers);
  return { api, ann, ben, lea, get: (path: string, { headers } = ann) => api.get(path, { ...headers, ...page }) };
}

/** Returns the main part of a page in one line. */
export function mainOf({ text }: Answered): string {
  return /<main[^]*<\/main>/.exec(text)![0].replaceAll(/\s+/g, " ");
}
