import { findOwnPath } from "../../../core/html/link.ts";
import type { Context } from "../../../http/request/exchange.ts";

/**
 * Returns the page to show after a form: the page that the form names, otherwise the page of the header `Referer`,
 * otherwise the start page. The result is always a path of this service. Otherwise, an attacker could make a link to
 * this service that leads to another site.
 */
export function wayBack(context: Context, named: string | null): string {
  const { call } = context;
  const { origin } = call.client;
  return findOwnPath(named, origin) ?? findOwnPath(call.header("referer"), origin) ?? context.at("/");
}
