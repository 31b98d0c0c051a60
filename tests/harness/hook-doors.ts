import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

/** Makes imports of "latchkey" load the modules at these paths, given their paths in `src` without the ending. */
export function hookDoors(pathOf: (name: string) => string): void {
  const hrefOf = (name: string): string => pathToFileURL(pathOf(name)).href;
  const doors = new Map([
    ["latchkey", hrefOf("door/index")],
    ["latchkey/service", hrefOf("service/service")],
    ["latchkey/testing", hrefOf("testing/testing")],
  ]);
  for (const door of ["resources", "http", "auth", "features", "stores", "ops"])
    doors.set(`latchkey/${door}`, hrefOf(`door/${door}`));
  registerHooks({ resolve: (specifier, context, next) => next(doors.get(specifier) ?? specifier, context) });
}
