import { html, type PageContent } from "../../../core/html/markup.ts";
import { USERS_PATH } from "../login-methods.ts";
import { recordAddress, type Drawing } from "../site.ts";

/** Names a user as far as the caller may read the name. */
export async function nameUser({ view }: Pick<Drawing, "view">, id: unknown): Promise<PageContent> {
  if (id === view.identity?.id) return "You";
  if (typeof id !== "number") return "Somebody";
  const name = (await view.values(USERS_PATH, [id], "name"))?.get(id);
  const at = recordAddress(view, USERS_PATH, id);
  return typeof name === "string" && at !== null ? html`<a href="${at}" dir="auto">${name}</a>` : "Somebody else";
}
