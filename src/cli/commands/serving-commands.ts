import cluster from "node:cluster";
import type { Command } from "commander";
import { UsageError } from "../output.ts";
import { hearSignals } from "../serving/signals.ts";

interface ServingOptions {
  readonly port?: string;
}

/** Adds `latchkey serve` and `latchkey dev`. */
export function addServingCommands(program: Command): void {
  program
    .command("serve")
    .description("serve until SIGTERM; so does latchkey without a command")
    .option("--port <port>", "the port, instead of LATCHKEY_PORT; 0 picks a free one")
    .action(async ({ port }: ServingOptions) => {
      takePort(port);
      const signals = hearSignals();
      const { serve } = await import("../serving/serve.ts");
      await serve(process.env, signals);
    });
  program
    .command("dev")
    .description("serve during development: restart when a file changes, and log as readable text")
    .option("--port <port>", "the port, instead of LATCHKEY_PORT; 0 picks a free one")
    .action(async ({ port }: ServingOptions) => {
      takePort(port);
      const { dev } = await import("../dev/dev.ts");
      await dev(process.env);
    });
}

/**
 * Sets the port from the argument, which has priority over the settings. Does nothing in a worker: the primary process
 * passes the port to it, which may be a random one.
 */
function takePort(port: string | undefined): void {
  if (port === undefined || !cluster.isPrimary) return;
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    throw new UsageError(`--port ${port} is not a port. Write a number from 0 to 65535.`);
  process.env["LATCHKEY_PORT"] = port;
}
