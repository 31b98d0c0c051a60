/** The path as OpenAPI writes it: `{name:text}` and `{id:uuid}` are `{name}` and `{id}`. */
export function templateOf(path: string): string {
  return path.replaceAll(/:(?:text|uuid)\}/g, "}");
}

/** A path answers the same with and without a final slash. */
export function withoutFinalSlash(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}
