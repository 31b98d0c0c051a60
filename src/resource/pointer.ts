/** Returns a JSON pointer to a member of the document (RFC 6901 §3). */
export function pointerTo(name: string): string {
  return `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
