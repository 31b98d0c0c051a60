// The first module that runs, for every entry point of the package. Later code may use features that an older Node lacks. Modules are
// linked before any of them runs, so modules that an older Node cannot link are not imported statically (`store/sqlite/node-sqlite.ts`).
const { versions } = process;
const [major = 0, minor = 0] = versions.node.split(".").map(Number);
// Other runtimes only report the Node version that they resemble.
const isNode = !("bun" in versions) && !("deno" in versions);
if (isNode && (major < 24 || (major === 24 && minor < 12)))
  throw new Error(
    `Latchkey needs Node 24.12 or newer, and this is ${versions.node}. Get it from nodejs.org, or in a project with: npm install --save-dev node@26`,
  );
