import type { People } from "../../door/auth.ts";
import type { Service } from "../../door/index.ts";
import { DeclarationError } from "../../door/resources.ts";
import { describeThrown } from "../../proof/asking/fault.ts";
import { watchStore } from "../../proof/content/watched-store.ts";
import { actorSchemes } from "../../proof/world/callers.ts";
import type { RefusedNetwork } from "../../proof/world/network.ts";
import type { OpenProved } from "../../proof/world/opening.ts";
import { openLatchkey } from "../../service/latchkey.ts";
import { loadConfigFile, type ConfigFile } from "../../service/settings/config-file/config-file.ts";
import { ConfigError } from "../../service/settings/error.ts";
import type { Environment } from "../../service/settings/reading.ts";
import { readSettings, type Settings } from "../../service/settings/settings.ts";
import { isAboutSettings } from "../failure.ts";

/** The secret of the service that `prove` starts. It signs nothing that another service accepts. */
const SECRET = "the secret of a service in memory that only latchkey prove starts";

/** The time of the service that `prove` starts, in milliseconds since the epoch. */
const NOW = Date.parse("2026-01-31T09:30:00Z");

/** The settings that need a file or name another program. The service in memory uses none of them. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  "LATCHKEY_DATABASE",
  "LATCHKEY_SECRET_FILE",
  "LATCHKEY_SIGNING_KEYS",
  "LATCHKEY_TLS_CERT",
  "LATCHKEY_TLS_KEY",
]);

/**
 * Returns a function that opens the configured service on an empty database in memory, with a fixed secret, a fixed
 * clock and fixed ids. It has further schemes, for the actors. No mail is sent.
 */
export function openerOf(environment: Environment, config: ConfigFile, network: RefusedNetwork): OpenProved {
  const settings = readProofSettings(environment, config);
  return async (findIdentity) => {
    const watch = watchStore();
    const faults: unknown[] = [];
    let ids = 0;
    network.take();
    const { service, people }: { service: Service; people: People } = await explained(network, () =>
      openLatchkey({
        settings,
        config: { ...config, schemes: [...(config.schemes ?? []), ...actorSchemes(findIdentity)] },
        observe: (observation) => (observation.kind === "fault" ? void faults.push(observation.error) : undefined),
        now: () => NOW,
        over: watch.wrap,
        overMail: () => () => Promise.resolve(),
        makeUUID: () => formatUUID(++ids),
      }),
    );
    return { service, people, watch, takeFault: () => faults.splice(0)[0] ?? null, takeConnections: network.take };
  };
}

function readProofSettings(environment: Environment, config: ConfigFile): Settings {
  const rest = Object.fromEntries(Object.entries(environment).filter(([name]) => !LEFT_OUT.has(name)));
  const files = { secretFile: undefined, signingKeys: undefined, tlsCert: undefined, tlsKey: undefined };
  return readSettings(
    { ...rest, LATCHKEY_DATABASE: "sqlite::memory:", LATCHKEY_SECRET: SECRET },
    { ...config, settings: { ...config.settings, ...files } },
  );
}

/** Runs the config file of a folder, as the start does: its code gets no connection. */
export function loadProvedConfig(folder: string, network: RefusedNetwork): Promise<ConfigFile> {
  return explained(network, async () => (await loadConfigFile(folder)) ?? {});
}

/** Runs a part of the start. If it fails, the error says what it needs. */
async function explained<T>(network: RefusedNetwork, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    const addresses = network.take();
    if (addresses.length > 0)
      throw new ConfigError([
        `The start connects to ${addresses.join(" and ")}, and latchkey prove refuses connections. Connect at the first use, or leave the feature out in the config file of the proof.`,
      ]);
    if (isAboutSettings(error) || error instanceof DeclarationError) throw error;
    throw new ConfigError(
      [
        `The service does not start in memory: ${describeThrown(error)}. Set what it needs, or leave it out if it is not there.`,
      ],
      { cause: error },
    );
  }
}

function formatUUID(count: number): string {
  return `01890000-0000-7000-8000-${count.toString(16).padStart(12, "0")}`;
}
