import { SigningKeysError } from "../../door/auth.ts";
import type { Listener } from "../../door/http.ts";
import { listen } from "../../door/index.ts";
import { DeclarationError } from "../../door/resources.ts";
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
  if (error instanceof DeclarationError) return explainDeclaration(error, tellFault);
  if (error instanceof ConfigError && error.cause instanceof DeclarationError)
    return explainDeclaration(error.cause, tellFault);
  if (error instanceof ConfigError || error instanceof SigningKeysError)
    return `Latchkey cannot start. ${listed("setting", error.problems)}\n`;
  if (error instanceof MigrationNeeded || error instanceof StoreSetupError || error instanceof StoreUnavailable)
    return `Latchkey cannot start. ${error.message}\n`;
  if (error instanceof Error && "code" in error && error.code === "EADDRINUSE")
    return `Latchkey cannot start. The address is in use: ${error.message}. Stop what listens there, or set LATCHKEY_PORT.\n`;
  return `Latchkey cannot start. ${tellFault(error)}\n`;
}

/** Where a fault lies behind one of the mistakes, it is told with its stack. */
function explainDeclaration({ mistakes, cause }: DeclarationError, tellFault: (error: unknown) => string): string {
  const told = `Latchkey cannot start. ${listed("declaration", mistakes)}\n`;
  return cause === undefined ? told : `${told}${tellFault(cause)}\n`;
}

function listed(what: string, mistakes: readonly string[]): string {
  const head = mistakes.length === 1 ? `One ${what} is` : `${mistakes.length} ${what}s are`;
  return `${head} wrong:\n${mistakes.map((each) => `- ${each}`).join("\n")}`;
}

/** Whatever was thrown, with its stack where it has one. What it comes of follows. */
export function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const behind = [...(error instanceof AggregateError ? (error.errors as unknown[]) : []), error.cause ?? []].flat();
  return [error.stack ?? error.message, ...behind.map((each) => `caused by ${stackOf(each)}`)].join("\n");
}
