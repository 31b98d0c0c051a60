/**
 * A path of ours as a link. Whoever wrote the request chose it, and to a browser `//host` and `/\host` are other sites
 * (URL standard §4.4); with a dot before it, it is a path whatever stands in it.
 */
export function linkTo(path: string): string {
  const plain = path.replaceAll("\\", "%5C");
  return plain.startsWith("//") ? `/.${plain}` : plain;
}
