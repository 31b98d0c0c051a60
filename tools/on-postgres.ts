/**
 * Runs test files on PostgreSQL: `node tools/on-postgres.ts [--again] [FILE …]`. Without file names, it runs every test
 * file that takes its store from the harness. All tests use one server, because each start of a server costs a second
 * of CPU time. Several files share a process, because each load of the service costs half a second.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { startPostgres } from "../tests/harness/postgres.ts";

let exitCode = 1;
const server = await startPostgres(["-c", "max_connections=800"]);
try {
  const env = {
    ...process.env,
    LATCHKEY_TEST_STORE: "postgres",
    LATCHKEY_TEST_DATABASE: await server.makeDatabase(),
  };
  const parameters = process.argv.slice(2);
  const hasFiles = parameters.some((each) => !each.startsWith("-"));
  const tests = spawn(process.execPath, ["tools/test.ts", ...parameters, ...(hasFiles ? [] : ["--served"])], {
    env,
    stdio: "inherit",
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    // The package of the server would stop it while the tests still use it, and end this process.
    process.removeAllListeners(signal);
    process.on(signal, () => tests.kill(signal));
  }
  const [status] = (await once(tests, "exit")) as [number | null];
  exitCode = status ?? 1;
} finally {
  await server.stop();
}
// The package of the server installs an exit hook that replaces the exit code by 0.
process.exit(exitCode);
