import type { Reply } from "../../../core/call/call.ts";
import { Problem } from "../../../core/problem/problem.ts";
import type { Context } from "../../../http/request/exchange.ts";

/**
 * Returns the redirect of a browser to the page that asks for the second factor, for a problem that this page shows. A
 * page that exists only as the response of a form is lost when a phone restores the tab, and after Back. `page` is the
 * path of the page without the base path, or null if the service has no such page. Throws every other error again.
 */
export function redirectToFactorPage(
  context: Context,
  page: string | null,
  error: unknown,
  query: { readonly next: string; readonly wrong?: "code"; readonly way?: "recovery" },
): Reply {
  if (!(error instanceof Problem) || page === null) throw error;
  if (error.code !== (query.wrong === undefined ? "factor_required" : "invalid_credentials")) throw error;
  const cookies = error.headers.filter(([name]) => name === "Set-Cookie");
  const location = `${context.at(page)}?${new URLSearchParams({ ...query }).toString()}`;
  return { status: 303, cache: "no-store", headers: [...cookies, ["Location", location]] };
}
