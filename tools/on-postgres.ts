/**
 * Runs test files on PostgreSQL, several in one process and all on one server: `node tools/on-postgres.ts FILE …`. To make a server for each
 * would take a second of a core, and to load the service for each half a second.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { startPostgres } from "../tests/harness/postgres.ts";

const server = await startPostgres(["-c", "max_connections=800"]);
try {
  const env = {
    ...process.env,
    LATCHKEY_TEST_STORE: "postgres",
    LATCHKEY_TEST_DATABASE: await server.makeDatabase(),
  };
  const tests = spawn(process.execPath, ["tools/test.ts", ...process.argv.slice(2)], {
    env,
    stdio: "inherit",
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => tests.kill(signal));
  const [status] = (await once(tests, "exit")) as [number | null];
  process.exitCode = status ?? 1;
} finally {
  await server.stop();
}
