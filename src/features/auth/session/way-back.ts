import type { Call } from "../../../core/call/call.ts";
import type { Context } from "../../../http/exchange.ts";

/**
 * Where a page that sent a form is to be shown again: what the form names, else the page it came from, else the beginning.
 * Always a path of this service: whoever could name another site would have a link to us that leads there.
 */
export function wayBack(context: Context, named: string | null): string {
  const { call } = context;
  return pathHere(call, named) ?? pathHere(call, call.header("referer") ?? null) ?? context.at("/");
}

// A host that no one has, so that a path without one is told from an address somewhere.
const nowhere = "http://here.invalid";

function pathHere({ client }: Call, text: string | null): string | null {
  const url = text === null ? null : URL.parse(text, nowhere);
  if (url === null || (url.origin !== nowhere && url.origin !== client.origin)) return null;
  // `/.//evil.example` is a path, and read again without its dot it would be another host; that of `blob:http://…` is a whole address.
  return /^\/(?!\/)/.test(url.pathname) ? url.pathname + url.search : null;
}
