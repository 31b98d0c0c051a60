import type { Command } from "commander";

interface ProveFlags {
  readonly json?: boolean;
  readonly strict?: boolean;
  readonly lock?: boolean;
  readonly check?: boolean;
}

/** Adds `latchkey prove`, which tries every permission of the configured service. It needs no database. */
export function addProveCommand(program: Command): void {
  program
    .command("prove")
    .description("try every declared permission on a service in memory, and report what it does not hold")
    .option("--strict", "fail too if something could not be tried")
    .option("--lock", "write permissions.lock: who may do what, one sentence in each line")
    .option("--check", "compare the permissions with permissions.lock; exit status 1 if they differ")
    .option("--json", "print JSON")
    .action(async ({ lock = false, check = false, ...flags }: ProveFlags) => {
      if (lock || check) {
        const { checkLock, writeLock } = await import("../prove/lock/lock.ts");
        return check ? checkLock(process.cwd(), flags) : writeLock(process.cwd(), flags);
      }
      const [{ loadConfigFile }, { proveConfigured }] = await Promise.all([
        import("../../service/settings/config-file/config-file.ts"),
        import("../prove/prove.ts"),
      ]);
      const config = (await loadConfigFile(process.cwd())) ?? {};
      process.exitCode = await proveConfigured(process.env, config, flags);
    });
}
