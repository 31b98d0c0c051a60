/**
 * Returns a path of this service as a link. The caller may have chosen the path, and browsers read `//host` and
 * `/\host` as addresses of other sites (URL standard §4.4). They read `/.//host` as a path.
 */
export function linkTo(path: string): string {
  const plain = path.replaceAll("\\", "%5C");
  return plain.startsWith("//") ? `/.${plain}` : plain;
}

// A host that does not exist. It distinguishes a path from a full address.
const placeholderOrigin = "http://here.invalid";

/**
 * Returns the path and query of an address of this service. Returns null for every other address, so that no link or
 * redirect leads to another site. `origin` is the service's own; without it, only paths are accepted.
 */
export function findOwnPath(text: string | null | undefined, origin: string | null = null): string | null {
  const url = typeof text === "string" ? URL.parse(text, placeholderOrigin) : null;
  if (url === null || (url.origin !== placeholderOrigin && url.origin !== origin)) return null;
  // `/.//evil.example` is a path, but `URL` removes the dot, and a browser would read the rest as another host. The
  // path of `blob:http://…` is a whole address.
  return /^\/(?!\/)/.test(url.pathname) ? url.pathname + url.search : null;
}
