/** The path as OpenAPI writes it: `{name:text}` and `{id:uuid}` are `{name}` and `{id}`. */
export function templateOf(path: string): string {
  return path.replaceAll(/:(?:text|uuid)\}/g, "}");
}
