// The first module that runs, wherever the package is entered: what comes after it may use what an older Node has not got. Modules are
// linked before any of them runs, so what an older Node cannot even link is not imported statically (`store/sqlite/node-sqlite.ts`).
const { versions } = process;
const [major = 0, minor = 0] = versions.node.split(".").map(Number);
// Others only say which Node they resemble.
const isNode = !("bun" in versions) && !("deno" in versions);
if (isNode && (major < 24 || (major === 24 && minor < 12)))
  throw new Error(
    `Latchkey needs Node 24.12 or newer, and this is ${versions.node}. Get it from nodejs.org, or in a project with: npm install --save-dev node@26`,
  );
