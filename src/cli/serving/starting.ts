import { SigningKeysError } from "../../door/auth.ts";
import type { Listener } from "../../door/http.ts";
import { listen } from "../../door/index.ts";
import { MigrationNeeded, StoreSetupError, StoreUnavailable } from "../../door/stores.ts";
import type { Latchkey } from "../../service/latchkey.ts";
import { ConfigError, type Settings } from "../../service/settings/settings.ts";

/** Listens as the settings say; where that cannot be, the service is closed. */
export async function listenOrClose(latchkey: Latchkey, settings: Settings): Promise<Listener> {
  try {
    return await listen(latchkey, {
      host: settings.host,
      port: settings.port,
      connectionsPerAddress: settings.connectionsPerAddress,
      trustedProxies: settings.trustedProxies,
      ...(settings.tls === null ? {} : { tls: { cert: settings.tls.cert, key: settings.tls.key } }),
    });
  } catch (error) {
    await latchkey.close();
    throw error;
  }
}

/** What is told of a start that failed; `tellFault` tells what nobody expected. */
export function explainStart(error: unknown, tellFault: (error: unknown) => string): string {
  if (error instanceof ConfigError || error instanceof SigningKeysError) {
    return `Latchkey cannot start. ${error.problems.length === 1 ? "One setting is" : `${error.problems.length} settings are`} wrong:\n${error.problems.map((each) => `- ${each}`).join("\n")}\n`;
  }
  if (error instanceof MigrationNeeded || error instanceof StoreSetupError || error instanceof StoreUnavailable)
    return `Latchkey cannot start. ${error.message}\n`;
  if (error instanceof Error && "code" in error && error.code === "EADDRINUSE")
    return `Latchkey cannot start. The address is in use: ${error.message}. Stop what listens there, or set LATCHKEY_PORT.\n`;
  return `Latchkey cannot start. ${tellFault(error)}\n`;
}

/** Whatever was thrown, with its stack where it has one. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
