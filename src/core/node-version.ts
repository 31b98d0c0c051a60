// The first module that runs, for every entry point of the package, because later code may use features that an older
// Node does not have. All statically imported modules are linked before any of them runs. So a module that an older
// Node cannot link is not imported statically (`store/sqlite/connection/node-sqlite.ts`).
const { versions } = process;
const [major = 0, minor = 0] = versions.node.split(".").map(Number);
// Other runtimes report the Node version that they are compatible with.
const isNode = !("bun" in versions) && !("deno" in versions);
if (isNode && (major < 24 || (major === 24 && minor < 12)))
  throw new Error(
    `Latchkey needs Node 24.12 or newer, and this is ${versions.node}. Get it from nodejs.org, or in a project with: npm install --save-dev node@26`,
  );
