import cluster from "node:cluster";
import { existsSync } from "node:fs";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import type { Listener } from "../../door/http.ts";
import { logSink, makeLog, openTelemetry, type Log } from "../../door/ops.ts";
import { DeclarationError } from "../../door/resources.ts";
import { createLatchkey } from "../../service/latchkey.ts";
import { loadConfigFile, type ConfigFile } from "../../service/settings/config-file/config-file.ts";
import { readEach } from "../../service/settings/reading.ts";
import { readSettings, type Settings } from "../../service/settings/settings.ts";
import { watchCertificate } from "../../service/system/certificates.ts";
import { resolvePasswordFile } from "../../service/users/password-file.ts";
import { isAboutSettings } from "../failure.ts";
import { exits, print, printError } from "../output.ts";
import { banner } from "./banner.ts";
import { cleartextNotice } from "./cleartext.ts";
import { watchForCrashes } from "./crash.ts";
import { endInTime, endUnread, reportUnended, writeError } from "./ending.ts";
import type { Signals } from "./signals.ts";
import { explainStart, listenOrClose, requireFreeAddress, formatStack } from "./starting.ts";
import { workerMetrics } from "./worker-metrics.ts";
import { runWorkers, type Leaving, type Retiring, type Serving } from "./workers.ts";

/** The time for active requests to finish after the signal to stop. */
const GRACE_SECONDS = 10;

/** The interval between checks of the certificate files. */
const LOOK_MS = 5000;

/** The steps of a shutdown. */
interface Ending {
  /**
   * How long the port stays open. In this time, load balancers see from `/readyz` that they must use another process.
   */
  readonly noticeSeconds: number;
  /** How long idle connections are then kept, so that requests in transit are still answered. */
  readonly idleSeconds: number;
}

const endings = {
  direct: { noticeSeconds: 0, idleSeconds: 0.25 },
  /**
   * With the configurations in docs/proxies.md, HAProxy asks `/readyz` every second, and nginx keeps an idle connection
   * for two seconds.
   */
  behindProxy: { noticeSeconds: 2, idleSeconds: 3 },
  /** For a worker that another worker replaces. Other workers continue to answer on the port. */
  replaced: { noticeSeconds: 0, idleSeconds: 3 },
} as const satisfies Record<string, Ending>;

/** Serves until SIGTERM or SIGINT. Mistakes in the settings are reported together, with exit status 78. */
export async function serve(environment: NodeJS.ProcessEnv, signals: Signals): Promise<void> {
  // The program that reads the output may close it at any time. This stops other commands, but not the service.
  for (const stream of [process.stdout, process.stderr])
    stream.removeAllListeners("error").on("error", () => undefined);
  process.once("beforeExit", endUnstarted);
  try {
    await start(environment, signals);
  } catch (error) {
    printError(explainStart(error, formatStack));
    const isAboutConfig = isAboutSettings(error) || error instanceof DeclarationError;
    process.exitCode = isAboutConfig ? exits.settings : exits.failed;
    // A worker exits only after it is disconnected from the primary process.
    cluster.worker?.disconnect();
    endUnread();
  } finally {
    process.off("beforeExit", endUnstarted);
  }
}

/** Called if Node has nothing left to do before the start is complete. */
function endUnstarted(): void {
  writeError(
    "Latchkey cannot start. The config file, or the start of a feature, waits for a promise that never settles.\n",
  );
  process.exit(exits.failed);
}

async function start(environment: NodeJS.ProcessEnv, signals: Signals): Promise<void> {
  // Makes V8 collect short-lived objects in the main thread only. If all cores are busy, the main thread would wait for
  // V8's helper threads longer than they save.
  setFlagsFromString("--no-parallel-scavenge");
  // Makes V8 create all objects as short-lived ones. By default, V8 decides this for each line of code: if 100 of its
  // objects survive one collection, V8 creates all later objects of the line as long-lived ones. A single early
  // collection can cause this. Such objects kept answered requests in memory after they were no longer used: about one
  // process in ten read a user at 0.6 to 0.8 of the speed until it was restarted.
  setFlagsFromString("--no-allocation-site-pretenuring");
  const config = await loadConfigFile(process.cwd());
  // Checked before all settings are read, because `readSettings` creates a secret if there is none.
  if (cluster.isPrimary) await requireFreeAddressFor(environment, config ?? {});
  const settings = readSettings(environment, config);
  for (const notice of [cleartextNotice(settings), missingDatabaseNotice(settings)])
    if (notice !== null && cluster.isPrimary) printError(`${notice}\n`);
  if (settings.workers > 1 && cluster.isPrimary) return runWorkers(settings.workers, signals);
  // SIGHUP is for the primary process, which then replaces its workers. A terminal sends it to all processes, so
  // workers ignore it.
  signals.hangUpWith(cluster.isWorker ? () => undefined : signals.stop);
  // If the primary has died, messages to it fail. Ignored here, because Node then stops the worker.
  cluster.worker?.on("error", () => undefined);
  const sink = logSink(process.stdout);
  const log = makeLog(settings.log, sink.write);
  const crash = watchForCrashes(log);
  // Writes the last lines of the log also if other code exits the process, or if Node exits it after the death of the
  // primary.
  process.on("exit", () => log?.flush());
  const others = cluster.isWorker ? workerMetrics() : null;
  const latchkey = await createLatchkey({
    settings,
    config: config ?? {},
    observe: log === null ? null : log.observe,
    tracer: await openTelemetry(),
    measured: sink.read,
    ...(others === null ? {} : { gatherMetrics: others.gather }),
    // Output that is not a terminal is usually stored and read by other people. So the first password is written to a
    // file instead.
    ...(process.stdout.isTTY ? {} : { passwordFile: resolvePasswordFile(settings) }),
  });
  others?.answerFrom(latchkey.metrics);
  const listener = await listenOrClose(latchkey, settings);
  let ending = false;
  const end = async ({ noticeSeconds, idleSeconds }: Ending): Promise<void> => {
    if (ending) return;
    ending = true;
    endInTime();
    try {
      await wait(noticeSeconds * 1000);
      await listener.close(GRACE_SECONDS - noticeSeconds, idleSeconds);
      await latchkey.close();
    } catch (error) {
      reportUnended(formatStack(error));
    }
    endUnread();
    log?.flush();
    others?.sendLast();
    cluster.worker?.disconnect();
  };
  crash.finishWith(() => {
    latchkey.stop();
    if (cluster.isWorker) process.send!({ leaving: true } satisfies Leaving);
    void end(cluster.isWorker ? endings.replaced : endings.direct);
  });
  signals.stopWith(() => {
    latchkey.stop();
    void end(settings.trustedProxies.length === 0 ? endings.direct : endings.behindProxy);
  });
  // `/readyz` still answers that the service is ready, because other workers are.
  cluster.worker?.on("message", (message: Retiring | object) => {
    if ("retire" in message) void end(endings.replaced);
  });
  watchFiles(settings, listener, log);
  // This is the last step, because the program that reads the message may stop the process immediately. A URL omits a
  // default port, so the port is read from the URL only if the settings have port 0.
  announce({
    banner: banner(settings, listener.url + settings.basePath, latchkey),
    port: settings.port || Number(new URL(listener.url).port),
    isDrawn: settings.port === 0,
  });
}

/**
 * Throws if the service could not listen. Called before the start creates an administrator or a file. Does nothing if
 * the settings have mistakes, which are reported later.
 */
async function requireFreeAddressFor(environment: NodeJS.ProcessEnv, config: ConfigFile): Promise<void> {
  const problems: string[] = [];
  const { host, port } = readEach(environment, config, problems);
  if (problems.length === 0) await requireFreeAddress({ host: host.value, port: port.value });
}

/** Loads a renewed certificate without a restart. */
function watchFiles({ tls }: Settings, { renewCertificate: use }: Listener, log: Log | null): void {
  if (tls === null) return;
  const look = watchCertificate({ tls, use, observe: log?.observe ?? (() => undefined) });
  look();
  setInterval(look, LOOK_MS).unref();
}

/** Prints the banner. A worker sends it to the primary process, which prints it. */
function announce(serving: Serving): void {
  if (cluster.isWorker) process.send!(serving);
  else print(serving.banner);
}

/**
 * Returns a notice if the secret file exists but the database file does not. The disk of the database may not be
 * mounted. Otherwise, returns null.
 */
function missingDatabaseNotice({ database, secretFile, secretIsNew }: Settings): string | null {
  if (database.kind !== "sqlite" || database.path === ":memory:" || secretFile === null || secretIsNew) return null;
  const file = path.resolve(database.path);
  if (existsSync(file)) return null;
  return `There is a secret (${path.resolve(secretFile)}) but no database, so an empty one is created: ${file}. If there was a database, stop the service and mount its disk, set LATCHKEY_DATABASE to its file, or restore a backup: latchkey db restore.`;
}
