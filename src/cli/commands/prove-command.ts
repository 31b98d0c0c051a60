import type { Command } from "commander";

/** Adds `latchkey prove`, which tries every permission of the configured service. It needs no database. */
export function addProveCommand(program: Command): void {
  program
    .command("prove")
    .description("try every declared permission on a service in memory, and report what it does not hold")
    .action(async () => {
      const [{ loadConfigFile }, { openForProof }] = await Promise.all([
        import("../../service/settings/config-file/config-file.ts"),
        import("../prove/open-service.ts"),
      ]);
      const config = (await loadConfigFile(process.cwd())) ?? {};
      const { service } = await openForProof(process.env, config, () => Promise.resolve(null));
      await service.close();
    });
}
