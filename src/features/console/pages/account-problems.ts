import { html } from "../../../core/html/markup.ts";
import type { ProblemDocument } from "../../../http/request/format.ts";
import type { View } from "../../../http/request/view.ts";
import { drawCardHead, wideLink } from "../forms/card-parts.ts";
import { canSignUp, companyName } from "../forms/login-form.ts";
import { LOGIN_PATH, SESSION_PATH } from "../login-methods.ts";
import { resolveAddress, type Drawn, type Site } from "../site.ts";

/**
 * Draws a problem that a person meets while logging in, with the next step. Returns null for every other problem, and if
 * the page has a better one.
 */
export async function drawAccountProblem(site: Site, view: View, document: ProblemDocument): Promise<Drawn | null> {
  const path = view.place?.path ?? "";
  const isAccount =
    Object.values(site.pages).includes(path) || path.startsWith(LOGIN_PATH) || path === `${SESSION_PATH}end/`;
  if (!isAccount || document.status >= 500) return null;
  if (document.code === "identity_not_bound") return drawUnknownCompany(site, view, document);
  const { title, detail } = document;
  const login = wideLink(resolveAddress(view, site.pages.login), "Log in another way", "main");
  const main = html`${drawCardHead(title, detail)}
<div class="buttons">${login}</div>`;
  return { title, main, card: {} };
}

/** Draws the page for an account of a company that is not connected with an account here. */
async function drawUnknownCompany(site: Site, view: View, { detail }: ProblemDocument): Promise<Drawn> {
  const provider = String(view.place?.params["provider"] ?? "");
  const link = site.facts().loginLinks.find(({ href }) => href === `${LOGIN_PATH}${provider}/start`);
  const company = link === undefined ? "the company" : companyName(link.title);
  const title = "No account here yet";
  const signUp = (await canSignUp(site, view)) ? wideLink(resolveAddress(view, site.pages.signup), "Sign up") : "";
  const main = html`${drawCardHead(title, detail)}
<div class="buttons">
${wideLink(resolveAddress(view, site.pages.login), "Log in another way", "main")}
${signUp}</div>
<p class="small dim">Have an account? Log in with your password, then connect ${company} under “Company logins” in your account.</p>`;
  return { title, main, card: {} };
}
