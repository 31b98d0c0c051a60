import { readFileSync } from "node:fs";
import { parseSync, type Statement } from "oxc-parser";
import { exportedNames } from "../../tools/names.ts";

/** A parameter of an exported function, from its first signature. */
export interface Parameter {
  readonly name: string;
  /**
   * The name of the type, without type arguments. For `Only<O, TextOptions>`, it is `TextOptions`. Empty if no type is
   * written.
   */
  readonly type: string;
}

/** A function that the package exports. */
export interface Signature {
  readonly name: string;
  readonly parameters: readonly Parameter[];
}

/** Returns all exported functions with their parameters. */
export function signatures(): readonly Signature[] {
  return [...exportedNames().values()]
    .flat()
    .filter(({ kind }) => kind === "function")
    .map(({ name, file }) => ({ name, parameters: readParameters(name, file) }));
}

function readParameters(name: string, file: string): readonly Parameter[] {
  const text = readFileSync(file, "utf8");
  const declared = parseSync(file, text).program.body.flatMap((statement: Statement) =>
    statement.type === "ExportNamedDeclaration" ? (statement.declaration ?? []) : [],
  );
  for (const each of declared)
    if ((each.type === "FunctionDeclaration" || each.type === "TSDeclareFunction") && each.id?.name === name)
      return each.params.map((parameter) => readParameter(text.slice(parameter.start, parameter.end)));
  return [];
}

/** Reads a parameter such as `options: Only<O, TextOptions> = {}`. */
function readParameter(written: string): Parameter {
  const [, name = written, type = ""] =
    /^(?:\.\.\.)?(\{.*\}|[\w$]+)\??\s*:\s*(.*?)(?:\s*=\s*[^>].*)?$/s.exec(written) ?? [];
  return { name, type: /^Only<\w+,\s*(\w+)/.exec(type)?.[1] ?? /^(\w+)/.exec(type)?.[1] ?? type };
}

/** Returns the position of a function's options. -1 if it has none. */
export function placeOfOptions({ parameters }: Signature): number {
  return parameters.findIndex(
    ({ name, type }) =>
      type !== "[]" && (name === "options" || /(?:Options|Declaration|Definition|Sketch|Config)$/.test(type)),
  );
}
