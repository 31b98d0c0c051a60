import { isUnsafe } from "../../../core/call/cross-site.ts";
import { isObject } from "../../../core/checking/members.ts";
import { linkTo } from "../../../core/html/link.ts";
import { html, type PageContent } from "../../../core/html/markup.ts";
import type { Endpoint } from "../../../http/endpoint/endpoint.ts";
import { formType } from "../../../http/formats/form.ts";
import type { View } from "../../../http/formats/view.ts";
import { targetOf } from "../addresses.ts";
import { SESSION_PATH } from "../frame.ts";
import { addressOf, type Site } from "../site.ts";

/** Returns the login form, if there is one. It works without the script: the response redirects to this page. */
export function loginFormOf(site: Site, view: View): PageContent {
  if (!hasLoginForm(site)) return "";
  const { username = "", next } = sentTo(view);
  return html`<form class="panel form" method="post" action="${addressOf(view, SESSION_PATH)}" aria-label="Log in">
    <input type="hidden" name="next" value="${next}" />
    <p class="field">
      <label for="username">Username or e-mail</label>
      <input
        id="username"
        name="username"
        value="${username}"
        autocomplete="username"
        autocapitalize="none"
        spellcheck="false"
        required
      />
    </p>
    <p class="field">
      <label for="password">Password</label>
      <input id="password" name="password" type="password" autocomplete="current-password" required />
    </p>
    <div class="row"><button class="btn main">Log in</button></div>
  </form>`;
}

/** Returns true if people can log in on a page: a feature may have replaced the login by one that takes no form, or asks for something else. */
export function hasLoginForm(site: Site): boolean {
  const login = site.facts().endpoints.find(({ path, method }) => path === SESSION_PATH && method === "POST");
  if (login === undefined || login.consumes?.includes(formType) !== true) return false;
  const asked = fieldsAsked(login);
  return asked === null || ["username", "password"].every((name) => asked.includes(name));
}

/** The names of the fields that a login declares. Null if it declares none. */
function fieldsAsked({ body, documentation }: Endpoint): readonly string[] | null {
  const shape = documentation?.request ?? body;
  if (!isObject(shape)) return null;
  const fields = shape["fields"] ?? shape["properties"];
  return isObject(fields) ? Object.keys(fields) : null;
}

/** Returns the values of the last attempt, never the password. The next page is this one, except on the login page. */
function sentTo({ sent, call, query, basePath }: View): { readonly username?: string; readonly next: string } {
  if (isObject(sent) && call.method === "POST") {
    const { username, next } = sent;
    return {
      ...(typeof username === "string" ? { username } : {}),
      next: typeof next === "string" ? next : `${basePath}/`,
    };
  }
  const isHere = call.path.replace(/\/$/, "") === basePath + SESSION_PATH.slice(0, -1);
  if (isHere || isUnsafe(call.method)) return { next: `${basePath}/` };
  return { next: linkTo(targetOf({ call, query })) };
}
