/** Runs one benchmark: `npm run bench -- NAME [options]`. Without a name, runs `requests`. */
import { spawn } from "node:child_process";

const files: Readonly<Record<string, string>> = {
  requests: "bench.ts",
  before: "before.ts",
  pages: "pages.ts",
  revocation: "revocation.ts",
  postgres: "postgres.ts",
  scale: "scale.ts",
  writers: "beside-writers.ts",
  lists: "beside-lists.ts",
  hostile: "hostile.ts",
  upkeep: "upkeep.ts",
  expand: "expand.ts",
  data: "data.ts",
  rows: "rows.ts",
  backup: "backup.ts",
  teams: "teams.ts",
};

const [first, ...rest] = process.argv.slice(2);
const hasName = first !== undefined && !first.startsWith("-");
const file = files[hasName ? first : "requests"];
if (file === undefined) {
  process.stderr.write(`There is no benchmark ${first}. The benchmarks are ${Object.keys(files).join(", ")}.\n`);
  process.exit(1);
}
const args = hasName ? rest : process.argv.slice(2);
const child = spawn(process.execPath, [`${import.meta.dirname}/${file}`, ...args], { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
child.on("exit", (status) => {
  process.exitCode = status ?? 1;
});
