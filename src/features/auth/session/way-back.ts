import type { Call } from "../../../core/call/call.ts";
import type { Context } from "../../../http/exchange.ts";

/**
 * Returns the page to show after a form: the page in the form, otherwise the page that it came from, otherwise the start page. It is always
 * a path of this service. Otherwise, an attacker could make a link to this service that leads to another site.
 */
export function wayBack(context: Context, named: string | null): string {
  const { call } = context;
  return pathHere(call, named) ?? pathHere(call, call.header("referer") ?? null) ?? context.at("/");
}

// A host that does not exist. It distinguishes a path without a host from a full address.
const nowhere = "http://here.invalid";

function pathHere({ client }: Call, text: string | null): string | null {
  const url = text === null ? null : URL.parse(text, nowhere);
  if (url === null || (url.origin !== nowhere && url.origin !== client.origin)) return null;
  // `/.//evil.example` is a path, but parsed again without its dot, it would be another host. The path of `blob:http://…` is a whole
  // address.
  return /^\/(?!\/)/.test(url.pathname) ? url.pathname + url.search : null;
}
