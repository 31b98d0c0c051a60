/** One link of a `Link` header (RFC 8288): a URI reference, and what it is to this page (`first`, `prev`, `next`). Several are joined by commas. */
export function formatLink(target: string, rel: string): string {
  return `<${OUTSIDE_URI.test(target) ? encodeAll(target) : target}>; rel="${rel}"`;
}

function encodeAll(target: string): string {
  return target.toWellFormed().replace(ALL_OUTSIDE_URI, encodeURIComponent);
}

// What may not stand in a URI (RFC 3986 §2), and would end the link early.
const OUTSIDE_URI = /[\0-\x20<>"\\^`{|}\x7f-\uffff]/;
const ALL_OUTSIDE_URI = new RegExp(`${OUTSIDE_URI.source}+`, "g");
