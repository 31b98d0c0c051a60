import type { People } from "../../door/auth.ts";
import type { Service } from "../../door/index.ts";
import { actorScheme, type FindIdentity } from "../../proof/callers.ts";
import { openLatchkey } from "../../service/latchkey.ts";
import type { ConfigFile } from "../../service/settings/config-file/config-file.ts";
import type { Environment } from "../../service/settings/reading.ts";
import { readSettings } from "../../service/settings/settings.ts";

/** The secret of the service that `prove` starts. It signs nothing that another service accepts. */
const SECRET = "the secret of a service in memory that only latchkey prove starts";

/** The time of the service that `prove` starts, in milliseconds since the epoch. */
export const PROVE_NOW = Date.parse("2026-01-31T09:30:00Z");

/** The settings that need a file or name another program. The service in memory uses none of them. */
const LEFT_OUT = ["LATCHKEY_SECRET_FILE", "LATCHKEY_SIGNING_KEYS", "LATCHKEY_TLS_CERT", "LATCHKEY_TLS_KEY"] as const;

/** The service that `prove` asks, with its users. */
export interface ProvedService {
  readonly service: Service;
  readonly people: People;
}

/**
 * Opens the configured service on an empty database in memory, with a fixed secret, a fixed clock and fixed ids. It has
 * one more scheme, for the actors. No mail is sent.
 */
export async function openForProof(
  environment: Environment,
  config: ConfigFile,
  findIdentity: FindIdentity,
): Promise<ProvedService> {
  const rest = Object.fromEntries(Object.entries(environment).filter(([name]) => !LEFT_OUT.includes(name as never)));
  const settings = readSettings(
    { ...rest, LATCHKEY_DATABASE: "sqlite::memory:", LATCHKEY_SECRET: SECRET },
    {
      ...config,
      settings: {
        ...config.settings,
        secretFile: undefined,
        signingKeys: undefined,
        tlsCert: undefined,
        tlsKey: undefined,
      },
    },
  );
  let ids = 0;
  const { service, people } = await openLatchkey({
    settings,
    config: { ...config, schemes: [...(config.schemes ?? []), actorScheme(findIdentity)] },
    observe: null,
    now: () => PROVE_NOW,
    overMail: () => () => Promise.resolve(),
    makeUUID: () => formatUUID(++ids),
  });
  return { service, people };
}

function formatUUID(count: number): string {
  return `01890000-0000-7000-8000-${count.toString(16).padStart(12, "0")}`;
}
