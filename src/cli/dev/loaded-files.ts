import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { isOfPackages } from "./package-files.ts";

/**
 * Reports every file of the project that is imported from now on, before it is read, and every imported file that is
 * missing. Does not report files in `node_modules` or files of this package.
 */
export function reportLoadedFiles(report: (file: string) => void): void {
  const reportedFiles = new Set<string>();
  const reportOnce = (url: string): void => {
    const file = ownFile(url);
    if (file === null || reportedFiles.has(file)) return;
    reportedFiles.add(file);
    report(file);
  };
  registerHooks({
    resolve(specifier, context, next) {
      try {
        return next(specifier, context);
      } catch (error) {
        // Also reports a missing file: if it is created later, the service must start again.
        if (/^\.{0,2}\//.test(specifier) && context.parentURL !== undefined)
          reportOnce(new URL(specifier, context.parentURL).href);
        throw error;
      }
    },
    load(url, context, next) {
      reportOnce(url);
      return next(url, context);
    },
  });
}

function ownFile(url: string): string | null {
  if (!url.startsWith("file:")) return null;
  const file = fileURLToPath(url.split(/[?#]/)[0]!);
  return isOfPackages(file) ? null : file;
}
