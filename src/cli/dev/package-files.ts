import { existsSync } from "node:fs";
import path from "node:path";

const code = codeDirectory(import.meta.dirname);

/** Returns true if a file belongs to this package or to another package, and not to the project that uses them. */
export function isOfPackages(file: string): boolean {
  return file.startsWith(code + path.sep) || file.split(path.sep).includes("node_modules");
}

/** Returns the directory with the code of this package: `dist`, or `src` if it runs from its source. */
function codeDirectory(start: string): string {
  let directory = start;
  while (!existsSync(path.join(path.dirname(directory), "package.json")) && directory !== path.dirname(directory))
    directory = path.dirname(directory);
  return directory;
}
