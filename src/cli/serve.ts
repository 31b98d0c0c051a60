import cluster from "node:cluster";
import { writeSync } from "node:fs";
import {
  listen,
  makeLog,
  MigrationNeeded,
  SigningKeysError,
  StoreSetupError,
  StoreUnavailable,
  type Listener,
} from "../index.ts";
import { loadConfigFile } from "../service/config-file.ts";
import { createLatchkey, type Latchkey } from "../service/latchkey.ts";
import { ConfigError, readSettings, type Settings } from "../service/settings.ts";
import { banner } from "./banner.ts";
import { exits } from "./exit.ts";
import { isAboutSettings } from "./failure.ts";
import { runWorkers, type Serving } from "./workers.ts";

/** Serves until SIGTERM or SIGINT. What is wrong with the settings is told at once, with exit status 78. */
export async function serve(environment: NodeJS.ProcessEnv): Promise<void> {
  try {
    await start(environment);
  } catch (error) {
    process.stderr.write(explain(error));
    process.exitCode = isAboutSettings(error) ? exits.settings : exits.failed;
  }
}

async function start(environment: NodeJS.ProcessEnv): Promise<void> {
  const config = await loadConfigFile(process.cwd());
  const settings = readSettings(environment, config);
  if (settings.workers > 1 && cluster.isPrimary) return runWorkers(settings.workers);
  const log = makeLog(settings.log, (text) => process.stdout.write(text));
  const latchkey = await createLatchkey({ settings, config: config ?? {}, observe: log === null ? null : log.observe });
  const listener = await listenOrClose(latchkey, settings);
  announce(banner(settings, listener.url, latchkey));
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    latchkey.stop();
    void listener
      .close()
      .then(() => latchkey.close())
      .then(() => log?.flush())
      .then(() => cluster.worker?.disconnect())
      .catch((error: unknown) => {
        writeSync(2, explain(error));
        process.exitCode = exits.failed;
      });
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
}

/** A worker leaves it to the one process that the operator started. */
function announce(text: string): void {
  if (cluster.isWorker) process.send!({ banner: text } satisfies Serving);
  else process.stdout.write(text);
}

async function listenOrClose(latchkey: Latchkey, settings: Settings): Promise<Listener> {
  try {
    return await listen(latchkey, {
      host: settings.host,
      port: settings.port,
      ...(settings.tls === null ? {} : { tls: settings.tls }),
    });
  } catch (error) {
    await latchkey.close();
    throw error;
  }
}

function explain(error: unknown): string {
  if (error instanceof ConfigError || error instanceof SigningKeysError) {
    return `Latchkey cannot start. ${error.problems.length === 1 ? "One setting is" : `${error.problems.length} settings are`} wrong:\n${error.problems.map((each) => `- ${each}`).join("\n")}\n`;
  }
  if (error instanceof MigrationNeeded || error instanceof StoreSetupError || error instanceof StoreUnavailable)
    return `Latchkey cannot start. ${error.message}\n`;
  if (error instanceof Error && "code" in error && error.code === "EADDRINUSE")
    return `Latchkey cannot start. The address is in use: ${error.message}. Stop what listens there, or set LATCHKEY_PORT.\n`;
  return `Latchkey cannot start. ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`;
}
