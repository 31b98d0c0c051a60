/**
 * Returns a path of this service as a link. The sender of the request chose the path, and for a browser, `//host` and `/\host` are other
 * sites (URL standard §4.4). With a dot before it, it is always a path.
 */
export function linkTo(path: string): string {
  const plain = path.replaceAll("\\", "%5C");
  return plain.startsWith("//") ? `/.${plain}` : plain;
}
