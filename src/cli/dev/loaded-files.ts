import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { isOfPackages } from "./package-files.ts";

/**
 * Tells of every file of the project that is imported from now on, before it is read, and of every one that is looked for in vain. What
 * stands in a `node_modules`, and the package itself, is not told.
 */
export function tellLoadedFiles(tell: (file: string) => void): void {
  const told = new Set<string>();
  const tellOnce = (url: string): void => {
    const file = ownFile(url);
    if (file === null || told.has(file)) return;
    told.add(file);
    tell(file);
  };
  registerHooks({
    resolve(specifier, context, next) {
      try {
        return next(specifier, context);
      } catch (error) {
        // It may come, and then the service is to be tried again.
        if (/^\.{0,2}\//.test(specifier) && context.parentURL !== undefined)
          tellOnce(new URL(specifier, context.parentURL).href);
        throw error;
      }
    },
    load(url, context, next) {
      tellOnce(url);
      return next(url, context);
    },
  });
}

function ownFile(url: string): string | null {
  if (!url.startsWith("file:")) return null;
  const file = fileURLToPath(url.split(/[?#]/)[0]!);
  return isOfPackages(file) ? null : file;
}
