#!/usr/bin/env node
const args = process.argv.slice(2);

// Checked before any module is loaded, because an old Node cannot load the others.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 24 || (major === 24 && minor < 12)) {
  process.stderr.write(
    `Latchkey needs Node 24.12 or newer, and this is ${process.versions.node}. Get it from nodejs.org, or in a project with: npm install --save-dev node@26\n`,
  );
  process.exitCode = 1;
}
// The modules of the other commands are not loaded here, so that a service starts faster.
else if (args.length === 0 || (args.length === 1 && args[0] === "serve")) {
  // Listens for signals before other modules are loaded. The system does not stop the first process of a container if
  // it has no listener for the signal.
  const { hearSignals } = await import("./serving/signals.ts");
  const signals = hearSignals();
  const { serve } = await import("./serving/serve.ts");
  await serve(process.env, signals);
}
// `latchkey dev` starts this process. The option is not for users.
else if (args.length === 2 && args[0] === "dev" && args[1] === "--serving") {
  const { serveForDev } = await import("./dev/serving.ts");
  serveForDev();
} else {
  const { run } = await import("./program.ts");
  process.exitCode = await run(args);
}
