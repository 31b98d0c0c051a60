// Loaded with `--import`: what imports "latchkey" then gets the source, so that examples and docs need no build.
import { registerHooks } from "node:module";

const doors = new Map([
  ["latchkey", new URL("../src/door/index.ts", import.meta.url).href],
  ["latchkey/service", new URL("../src/service/service.ts", import.meta.url).href],
  ["latchkey/testing", new URL("../src/testing/testing.ts", import.meta.url).href],
]);

for (const door of ["resources", "http", "auth", "features", "stores", "ops"])
  doors.set(`latchkey/${door}`, new URL(`../src/door/${door}.ts`, import.meta.url).href);

registerHooks({
  resolve: (specifier, context, next) => next(doors.get(specifier) ?? specifier, context),
});
