import { isObject } from "../../../core/checking/members.ts";
import { html, type PageContent } from "../../../core/html/markup.ts";
import type { View } from "../../../http/formats/view.ts";
import { loginFormOf } from "../forms/login-form.ts";
import type { Drawing, Drawn, Site } from "../site.ts";

/** Draws the page to log in: every way that is on, with the focus in the first field. */
export async function drawLoginPage({ site, view }: Drawing): Promise<Drawn> {
  return draw(await loginFormOf(site, view, { isSubject: true }));
}

/** Draws the page to log in after a wrong password, or a passkey that was not accepted. */
export async function drawLoginAgain(site: Site, view: View): Promise<Drawn> {
  const byPassword = !isObject(view.sent) || view.sent["credential"] === undefined;
  const reason = byPassword ? "Wrong name or password." : WRONG_PASSKEY;
  return draw(await loginFormOf(site, view, { isSubject: true, wrong: { reason, byPassword } }));
}

/** The same for every reason, so that it does not say which passkeys exist. */
export const WRONG_PASSKEY = "This passkey was not accepted. Choose another way.";

function draw(form: PageContent): Drawn {
  const main = html`<div class="head">
      <div><h1 tabindex="-1">Log in</h1></div>
    </div>
    ${form}`;
  return { title: "Log in", main, narrow: true };
}
