/**
 * Formats one link of a `Link` header field (RFC 8288): a URI reference and its relation, for example `next`. The
 * calling code joins several links with commas.
 */
export function formatLink(target: string, rel: string): string {
  return `<${OUTSIDE_URI.test(target) ? encodeAll(target) : target}>; rel="${rel}"`;
}

function encodeAll(target: string): string {
  return target.toWellFormed().replace(ALL_OUTSIDE_URI, encodeURIComponent);
}

// Characters that a URI must not contain (RFC 3986 §2). They would end the link early.
const OUTSIDE_URI = /[\0-\x20<>"\\^`{|}\x7f-\uffff]/;
const ALL_OUTSIDE_URI = new RegExp(`${OUTSIDE_URI.source}+`, "g");
