import { createServer } from "node:net";
import { SigningKeysError } from "../../door/auth.ts";
import type { Listener } from "../../door/http.ts";
import { listen } from "../../door/index.ts";
import { DeclarationError } from "../../door/resources.ts";
import { MigrationNeeded, StoreSetupError, StoreUnavailable } from "../../door/stores.ts";
import type { Latchkey } from "../../service/latchkey.ts";
import { readErrorCode } from "../../service/settings/error.ts";
import { ConfigError, type Settings } from "../../service/settings/settings.ts";
import type { FirstAdministrator } from "../../service/users/first-administrator.ts";
import { missingConfigHint } from "../missing-config.ts";
import { describeError } from "../output.ts";
import { describeFirstAdministrator } from "./banner.ts";

/** The address on which a service listens. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Thrown if the service cannot listen on its address. If this was a first start, the error contains the new
 * administrator, because the password is shown only once.
 */
export class NotListening extends Error {
  readonly address: ListenAddress;
  readonly firstAdministrator: FirstAdministrator | null;

  constructor(cause: unknown, { host, port }: ListenAddress, firstAdministrator: FirstAdministrator | null = null) {
    super(explainListening(cause, { host, port }), { cause });
    this.address = { host, port };
    this.firstAdministrator = firstAdministrator;
  }

  /** True if another program uses the port. */
  get isTaken(): boolean {
    return readErrorCode(this.cause) === "EADDRINUSE";
  }
}

/**
 * Throws `NotListening` if the service could not listen on an address. Called before the start creates an administrator
 * or a file.
 */
export async function requireFreeAddress({ host, port }: ListenAddress): Promise<void> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host, port, exclusive: true }, resolve);
    });
  } catch (error) {
    throw new NotListening(error, { host, port });
  }
  await new Promise((resolve) => server.close(resolve));
}

/** Listens as configured. Closes the service if that fails. */
export async function listenOrClose(latchkey: Latchkey, settings: Settings): Promise<Listener> {
  try {
    const listener = await listen(latchkey, {
      host: settings.host,
      port: settings.port,
      connectionsPerAddress: settings.connectionsPerAddress,
      trustedProxies: settings.trustedProxies,
      ...(settings.tls === null ? {} : { tls: { cert: settings.tls.cert, key: settings.tls.key } }),
    });
    latchkey.listensAt(listener.url);
    return listener;
  } catch (error) {
    await latchkey.close();
    throw new NotListening(error, settings, latchkey.firstAdministrator);
  }
}

/** Returns the message for a failed start. `formatFault` formats unexpected errors. */
export function explainStart(error: unknown, formatFault: (error: unknown) => string): string {
  if (error instanceof DeclarationError) return explainDeclaration(error, formatFault);
  if (error instanceof ConfigError && error.cause instanceof DeclarationError)
    return explainDeclaration(error.cause, formatFault);
  if (error instanceof ConfigError || error instanceof SigningKeysError)
    return `Latchkey cannot start. ${listed("setting", error.problems)}\n`;
  if (error instanceof MigrationNeeded || error instanceof StoreSetupError || error instanceof StoreUnavailable)
    return `Latchkey cannot start. ${error.message}\n`;
  if (error instanceof NotListening) {
    const { message, firstAdministrator } = error;
    const first = firstAdministrator === null ? "" : `  ${describeFirstAdministrator(firstAdministrator)}\n`;
    return `Latchkey cannot start. ${message}\n${first}`;
  }
  return `Latchkey cannot start. ${formatFault(error)}\n`;
}

function explainListening(cause: unknown, { host, port }: ListenAddress): string {
  const at = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  switch (readErrorCode(cause)) {
    case "EADDRINUSE":
      return `Another program listens on ${at}. Stop it, or take another port: --port ${port === 65_535 ? 8000 : port + 1}, or LATCHKEY_PORT.`;
    case "EACCES":
      return `This process may not listen on ${at}. Take a port above 1023: --port 8000, or LATCHKEY_PORT.`;
    case "EADDRNOTAVAIL":
      return `This machine does not have the address ${host}. Set LATCHKEY_HOST to one that it has: 127.0.0.1 for itself, 0.0.0.0 for all.`;
    default:
      return `Latchkey cannot listen on ${at}: ${describeError(cause)}.`;
  }
}

/** Returns the message for mistakes in declarations. If a fault caused one of them, its stack follows. */
function explainDeclaration({ mistakes, cause }: DeclarationError, formatFault: (error: unknown) => string): string {
  const hint = missingConfigHint();
  const explanation = `Latchkey cannot start. ${listed("declaration", mistakes)}\n${hint === null ? "" : `${hint}\n`}`;
  return cause === undefined ? explanation : `${explanation}${formatFault(cause)}\n`;
}

function listed(what: string, mistakes: readonly string[]): string {
  const head = mistakes.length === 1 ? `One ${what} is` : `${mistakes.length} ${what}s are`;
  return `${head} wrong:\n${mistakes.map((each) => `- ${each}`).join("\n")}`;
}

/**
 * Returns a thrown value as text, with its stack if it has one, followed by its causes. Each cause appears once,
 * because the causes may form a circle.
 */
export function formatStack(error: unknown): string {
  const seen = new Set<unknown>();
  const formatThrown = (each: unknown): string => {
    if (!(each instanceof Error)) return String(each);
    seen.add(each);
    const behind = [...(each instanceof AggregateError ? (each.errors as unknown[]) : []), each.cause ?? []].flat();
    const further = behind.flatMap((one) => (seen.has(one) ? [] : `caused by ${formatThrown(one)}`));
    return [each.stack ?? each.message, ...further].join("\n");
  };
  return formatThrown(error);
}
