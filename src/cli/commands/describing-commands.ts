import { writeFileSync } from "node:fs";
import type { Command } from "commander";
import type { Service } from "../../door/index.ts";
import { readErrorCode } from "../../service/settings/error.ts";
import { CommandFailed, print, showList } from "../output.ts";
import { listRoutes } from "../routes.ts";

/** Adds `latchkey routes` and `latchkey openapi`, which describe the service. They need no database. */
export function addDescribingCommands(program: Command): void {
  program
    .command("routes")
    .description("list every route with its method, permission and schemes")
    .option("--json", "print JSON")
    .action(({ json = false }: { readonly json?: boolean }) =>
      withService(async (service) => {
        const routes = listRoutes(service);
        const shown = json ? routes : routes.map((route) => ({ ...route, schemes: route.schemes.join(" ") || "-" }));
        await showList(json, [shown.map((route) => ({ ...route }))], ["method", "path", "permission", "schemes"]);
      }),
    );
  program
    .command("openapi")
    .description("write the API's description (OpenAPI 3.1)")
    .argument("[file]", "the file; default, or -: standard output")
    .action((file?: string) =>
      withService(async (service) => {
        const text = `${JSON.stringify(await describe(service), null, 2)}\n`;
        if (file === undefined || file === "-") print(text);
        else write(file, text);
      }),
    );
}

async function withService(task: (service: Service) => Promise<void>): Promise<void> {
  const [{ loadConfigFile }, { openInMemory }] = await Promise.all([
    import("../../service/settings/config-file/config-file.ts"),
    import("../../service/system/in-memory.ts"),
  ]);
  const service = await openInMemory(process.env, (await loadConfigFile(process.cwd())) ?? {});
  try {
    await task(service);
  } finally {
    await service.close();
  }
}

async function describe(service: Service): Promise<unknown> {
  const address = `http://localhost${service.basePath}/openapi.json`;
  const response = await service.fetch(new Request(address), { peer: "127.0.0.1" });
  if (response.ok) return response.json();
  throw new CommandFailed(
    "The documentation is turned off (`without` in the config file). Take its name out of `without`.",
  );
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new CommandFailed(`${file} cannot be written (${readErrorCode(error)}). Name another file.`);
  }
}
