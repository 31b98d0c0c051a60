/** Runs a command with variables, in the same words on every system: `node tools/with.ts NAME=value … command argument …`. */
import { spawn } from "node:child_process";

const given = process.argv.slice(2);
const first = given.findIndex((each) => !/^[A-Z_]+=/.test(each));
const [command, ...args] = first === -1 ? [] : given.slice(first);
if (command === undefined) throw new Error("Write: node tools/with.ts NAME=value … command argument …");

const variables = given.slice(0, first).map((pair) => {
  const equals = pair.indexOf("=");
  return [pair.slice(0, equals), pair.slice(equals + 1)] as const;
});
const child = spawn(command === "node" ? process.execPath : command, args, {
  env: { ...process.env, ...Object.fromEntries(variables) },
  stdio: "inherit",
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
child.on("exit", (status, signal) => {
  process.exitCode = status ?? (signal === null ? 0 : 1);
});
