/** A parameter of a path. */
export interface PathParameter {
  readonly name: string;
  /** An id (1 to 2^53-1); otherwise one segment of text. */
  readonly isId: boolean;
}

/** The parameters of a path as endpoints declare it: `{id}`, `{name:text}`. */
export function parametersOf(path: string): readonly PathParameter[] {
  return [...path.matchAll(/\{([a-z_]+)(:text)?\}/g)].map(([, name = "", isText]) => ({
    name,
    isId: isText === undefined,
  }));
}

/** The path as OpenAPI writes it: `{name:text}` is `{name}`. */
export function templateOf(path: string): string {
  return path.replaceAll(":text}", "}");
}

/** A path answers the same with and without a final slash. */
export function withoutFinalSlash(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}
