import { openerOf } from "../../src/cli/prove/open-service.ts";
import type { Report } from "../../src/proof/findings.ts";
import { prove } from "../../src/proof/prove.ts";
import { refuseConnections } from "../../src/proof/world/network.ts";
import type { ConfigFile } from "../../src/service/service.ts";

/** Proves the permissions of a config file, as `latchkey prove` does. */
export async function proveConfig(config: ConfigFile): Promise<Report> {
  const network = refuseConnections();
  try {
    return await prove({ open: openerOf({}, config, network), origin: "http://127.0.0.1:8000" });
  } finally {
    network.end();
  }
}
