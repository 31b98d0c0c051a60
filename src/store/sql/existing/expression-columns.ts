/** Literals, quoted names, words, casts and parentheses. A quoted text without an end lasts to the end of the SQL. */
const tokens = /'[^']*'?|"(?:[^"]|"")*"?|`(?:[^`]|``)*`?|\[[^\]]*\]?|[\p{L}\p{N}_$]+|::|[()]/gu;

/**
 * Returns the columns among `names` that SQL expressions read, each once. Literals, functions and types are no columns.
 */
export function columnsIn(expressions: string, names: readonly string[]): readonly string[] {
  const found = new Set<string>();
  const all = expressions.match(tokens) ?? [];
  for (const [at, token] of all.entries()) {
    if (/^['():]/.test(token) || all[at - 1] === "::" || all[at + 1] === "(") continue;
    const word = /^["`[]/.test(token) ? token.slice(1, -1).replaceAll(/(["`])\1/g, "$1") : token;
    const column =
      names.find((each) => each === word) ?? names.find((each) => each.toLowerCase() === word.toLowerCase());
    if (column !== undefined) found.add(column);
  }
  return [...found];
}

/** Returns the expressions of an index: the first list in parentheses of its `CREATE INDEX` statement. */
export function indexedExpressions(statement: string): string {
  let depth = 0;
  let start = 0;
  for (const { 0: token, index } of statement.matchAll(tokens)) {
    if (token === "(" && depth++ === 0) start = index + 1;
    if (token === ")" && --depth === 0) return statement.slice(start, index);
  }
  return "";
}
