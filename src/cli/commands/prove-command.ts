import type { Command } from "commander";
import { UsageError } from "../output.ts";

interface ProveFlags {
  readonly json?: boolean;
  readonly strict?: boolean;
  readonly lock?: boolean;
  readonly check?: boolean;
  readonly serve?: string;
}

/** Adds `latchkey prove`, which tries every permission of the configured service. It needs no database. */
export function addProveCommand(program: Command): void {
  program
    .command("prove")
    .description("try every declared permission on a service in memory, and report what it does not hold")
    .option("--strict", "fail too if something could not be tried")
    .option("--lock", "write permissions.lock: who may do what, one sentence in each line")
    .option("--check", "compare the permissions with permissions.lock; exit status 1 if they differ")
    .option("--serve <port>", "keep the world running on this port, so that the commands can be sent")
    .option("--json", "print JSON")
    .action(async ({ lock = false, check = false, serve, ...flags }: ProveFlags) => {
      if (lock || check) {
        const { checkLock, writeLock } = await import("../prove/lock/lock.ts");
        return check ? checkLock(process.cwd(), flags) : writeLock(process.cwd(), flags);
      }
      const { proveFolder } = await import("../prove/prove.ts");
      process.exitCode = await proveFolder(process.cwd(), process.env, {
        ...flags,
        ...(serve === undefined ? {} : { serve: parsePort(serve) }),
      });
    });
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) > 0 && Number(text) < 65_536) return Number(text);
  throw new UsageError(`--serve ${text} is not a port. Write a number from 1 to 65535.`);
}
