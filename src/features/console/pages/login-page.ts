import { html } from "../../../core/html/markup.ts";
import type { View } from "../../../http/formats/view.ts";
import { loginFormOf } from "../forms/login-form.ts";
import type { Drawing, Drawn, Site } from "../site.ts";

/** Draws the page to log in: every way that is on, with the focus in the first field. */
export async function drawLoginPage({ site, view }: Drawing): Promise<Drawn> {
  return drawLoginAgain(site, view);
}

/** Draws the page to log in, with the reason why the last attempt failed. */
export async function drawLoginAgain(site: Site, view: View, wrong?: string): Promise<Drawn> {
  const form = await loginFormOf(site, view, { isSubject: true, ...(wrong === undefined ? {} : { wrong }) });
  const main = html`<div class="head">
      <div><h1 tabindex="-1">Log in</h1></div>
    </div>
    ${form}`;
  return { title: "Log in", main, narrow: true };
}
