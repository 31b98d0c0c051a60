// Loaded with `--import`. Imports of "latchkey" then get the source or the tested build, so that examples and docs need no `dist`.
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { moduleOf } from "./command.ts";

const doors = new Map([
  ["latchkey", hrefOf("door/index")],
  ["latchkey/service", hrefOf("service/service")],
  ["latchkey/testing", hrefOf("testing/testing")],
]);

for (const door of ["resources", "http", "auth", "features", "stores", "ops"])
  doors.set(`latchkey/${door}`, hrefOf(`door/${door}`));

registerHooks({
  resolve: (specifier, context, next) => next(doors.get(specifier) ?? specifier, context),
});

function hrefOf(name: string): string {
  return pathToFileURL(moduleOf(name)).href;
}
