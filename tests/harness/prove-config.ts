import path from "node:path";
import { openerOf } from "../../src/cli/prove/open-service.ts";
import type { Report } from "../../src/proof/findings.ts";
import { prove } from "../../src/proof/prove.ts";
import { refuseConnections } from "../../src/proof/world/network.ts";
import type { OpenProved } from "../../src/proof/world/opening.ts";
import type { ConfigFile } from "../../src/service/service.ts";
import type { Environment } from "../../src/service/settings/reading.ts";

const root = path.join(import.meta.dirname, "../..");
const mails = { LATCHKEY_MAIL_URL: "file:mails", LATCHKEY_MAIL_FROM: "no-reply@example.com" };

/** A project of the repository with a permissions.lock. */
interface LockedProject {
  /** Its path in the repository. */
  readonly name: string;
  readonly folder: string;
  /** The settings without which it does not start. */
  readonly environment: Environment;
}

/** The projects of the repository with a permissions.lock. */
export const lockedProjects: readonly LockedProject[] = [
  { name: ".", environment: {} },
  { name: "examples/shop", environment: {} },
  { name: "examples/teams", environment: {} },
  { name: "examples/tracker", environment: mails },
].map((project) => ({ ...project, folder: path.join(root, project.name) }));

/** Opens the service of a config file as `latchkey prove` does, for one use. */
export async function withProved<T>(
  config: ConfigFile,
  environment: Environment,
  use: (open: OpenProved) => Promise<T>,
): Promise<T> {
  const network = refuseConnections();
  try {
    return await use(openerOf(environment, config, network));
  } finally {
    network.end();
  }
}

/** Proves the permissions of a config file, as `latchkey prove` does. */
export function proveConfig(config: ConfigFile, environment: Environment = {}): Promise<Report> {
  return withProved(config, environment, (open) => prove({ open, origin: "http://127.0.0.1:8000" }));
}
