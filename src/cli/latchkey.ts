#!/usr/bin/env node
const args = process.argv.slice(2);

// The commands are loaded only for those who give one: a service has no use for them, and starts without.
if (args.length === 0 || (args.length === 1 && args[0] === "serve")) {
  const { serve } = await import("./serve.ts");
  await serve(process.env);
} else {
  const { run } = await import("./program.ts");
  process.exitCode = await run(args);
}
