import { html, type PageContent } from "../../../core/html/markup.ts";
import type { View } from "../../../http/request/view.ts";

/**
 * Returns a hidden field with the caller's username for a form with a password, so that a password manager stores the
 * password under this name. Returns nothing on the pages of another user. The field has no name, so the browser does
 * not send it.
 */
export function writeUsernameField({ identity, place }: Pick<View, "identity" | "place">): PageContent {
  const user = place?.params["id"];
  if (identity === null || (user !== undefined && user !== identity.id)) return "";
  return writeHiddenUsername(identity.username);
}

/** Returns a hidden field with a username for a password manager. It has no name, so the browser does not send it. */
export function writeHiddenUsername(username: string): PageContent {
  return html`<input type="text" autocomplete="username" value="${username}" readonly hidden />`;
}
