/** Returns the path in OpenAPI's form: `{name:text}` and `{id:uuid}` become `{name}` and `{id}`. */
export function formatPathTemplate(path: string): string {
  return path.replaceAll(/:(?:text|uuid)\}/g, "}");
}
