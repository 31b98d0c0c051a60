import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

/** Makes imports of "latchkey" load the modules at these paths, given their paths in `src` without the ending. */
export function hookDoors(resolvePath: (name: string) => string): void {
  const resolveHref = (name: string): string => pathToFileURL(resolvePath(name)).href;
  const doors = new Map([
    ["latchkey", resolveHref("door/index")],
    ["latchkey/service", resolveHref("service/service")],
    ["latchkey/testing", resolveHref("testing/testing")],
  ]);
  for (const door of ["resources", "http", "auth", "features", "stores", "ops"])
    doors.set(`latchkey/${door}`, resolveHref(`door/${door}`));
  registerHooks({ resolve: (specifier, context, next) => next(doors.get(specifier) ?? specifier, context) });
}
