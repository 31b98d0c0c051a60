import { listen } from "../../door/index.ts";
import type { Finding, Report } from "../../proof/findings.ts";
import { prove } from "../../proof/prove.ts";
import { refuseConnections } from "../../proof/world/network.ts";
import type { OpenProved } from "../../proof/world/opening.ts";
import { makeWorld } from "../../proof/world/world.ts";
import type { Environment } from "../../service/settings/reading.ts";
import { exits, print, printError } from "../output.ts";
import { loadProvedConfig, openerOf } from "./open-service.ts";

/** The options of `latchkey prove`. */
export interface ProveOptions {
  readonly json?: boolean;
  readonly strict?: boolean;
  /** The port of the world that keeps running. */
  readonly serve?: number;
}

const DEFAULT_PORT = 8000;

/** Tries every permission of the service that a folder configures, and reports. Returns the exit code. */
export async function proveFolder(
  folder: string,
  environment: Environment,
  { json = false, strict = false, serve }: ProveOptions,
): Promise<number> {
  const network = refuseConnections();
  try {
    const origin = `http://127.0.0.1:${serve ?? DEFAULT_PORT}`;
    const open = openerOf(environment, await loadProvedConfig(folder, network), network);
    const report = await prove({ open, origin });
    print(json ? `${JSON.stringify(report, null, 2)}\n` : formatReport(report));
    if (serve !== undefined) await serveWorld(open, serve);
    return report.findings.length > 0 || (strict && report.not_tried.length > 0) ? exits.failed : exits.done;
  } finally {
    network.end();
  }
}

/** Serves a new world, equal to the proved one, until SIGINT or SIGTERM. */
async function serveWorld(open: OpenProved, port: number): Promise<void> {
  const world = await makeWorld(open);
  const listener = await listen(world.service, { host: "127.0.0.1", port });
  printError(`The commands can be sent to ${listener.url}. Ctrl+C ends it.\n`);
  await new Promise<void>((resolve) => {
    process.once("SIGINT", () => resolve());
    process.once("SIGTERM", () => resolve());
  });
  await listener.close();
  await world.close();
}

function formatReport({ findings, not_tried: left }: Report): string {
  const lines = [
    ...groupFindings(findings).flatMap(formatFinding),
    ...(left.length === 0 ? [] : ["Not tried:", ...left.map(({ path, reason }) => `- ${path}: ${reason}`), ""]),
    findings.length === 0
      ? "No request broke a permission."
      : `${findings.length} findings. To send the commands: latchkey prove --serve 8000`,
    "",
  ];
  return lines.join("\n");
}

/** Groups the findings that differ only in their actor. */
function groupFindings(findings: readonly Finding[]): readonly (readonly Finding[])[] {
  const group = ({ actor, path, method, resource, field, sentence }: Finding): string =>
    [method, path.replaceAll(/\d+/g, ""), resource, field, sentence.replace(actor, "").replaceAll(/\d+/g, "")].join(
      " ",
    );
  return [...Map.groupBy(findings, group).values()];
}

function formatFinding(group: readonly Finding[]): readonly string[] {
  const [{ sentence, curl }, ...others] = group as readonly [Finding, ...Finding[]];
  const also = others.length === 0 ? [] : [`  Also: ${others.map(({ actor }) => actor).join(", ")}.`];
  return [sentence, `  ${curl}`, ...also, ""];
}
