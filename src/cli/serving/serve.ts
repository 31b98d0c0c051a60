import cluster from "node:cluster";
import { setTimeout as wait } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import type { Listener } from "../../door/http.ts";
import { logSink, makeLog, openTelemetry, type Log } from "../../door/ops.ts";
import { DeclarationError } from "../../door/resources.ts";
import { createLatchkey } from "../../service/latchkey.ts";
import { readEach } from "../../service/settings/reading.ts";
import { readSettings, type Settings } from "../../service/settings/settings.ts";
import { watchCertificate } from "../../service/system/certificates.ts";
import { loadConfigFile, type ConfigFile } from "../../service/system/config-file.ts";
import { passwordFileOf } from "../../service/system/password-file.ts";
import { exits } from "../exit.ts";
import { isAboutSettings } from "../failure.ts";
import { missingDatabaseNotice } from "../missing-database.ts";
import { print, printError } from "../output.ts";
import { banner } from "./banner.ts";
import { cleartextNotice } from "./cleartext.ts";
import { watchForCrashes } from "./crash.ts";
import { endInTime, endUnread, tellUnended, writeError } from "./ending.ts";
import type { Signals } from "./signals.ts";
import { explainStart, listenOrClose, requireFreeAddress, stackOf } from "./starting.ts";
import { workerMetrics } from "./worker-metrics.ts";
import { runWorkers, type Leaving, type Retiring, type Serving } from "./workers.ts";

/** How long requests may take to finish once the process has been told to stop. */
const GRACE_SECONDS = 10;

/** How often the files of the certificate are looked at. */
const LOOK_MS = 5000;

/** What a process does before it ends. */
interface Ending {
  /** How long the port stays open, so that those who ask `/readyz` learn that they are to go elsewhere. */
  readonly noticeSeconds: number;
  /** How long connections on which nobody asks are kept after that, so that what is on its way arrives. */
  readonly idleSeconds: number;
}

const endings = {
  direct: { noticeSeconds: 0, idleSeconds: 0.25 },
  /** docs/proxies.md has haproxy ask every second, and nginx keep a connection for two. */
  behindProxy: { noticeSeconds: 2, idleSeconds: 3 },
  /** The port goes on answering through other workers. */
  replaced: { noticeSeconds: 0, idleSeconds: 3 },
} as const satisfies Record<string, Ending>;

/** Serves until SIGTERM or SIGINT. What is wrong with the settings is told at once, with exit status 78. */
export async function serve(environment: NodeJS.ProcessEnv, signals: Signals): Promise<void> {
  // Whoever reads what is written here may go away at any time, and that ends nothing, as it would end another command.
  for (const stream of [process.stdout, process.stderr])
    stream.removeAllListeners("error").on("error", () => undefined);
  process.once("beforeExit", endUnstarted);
  try {
    await start(environment, signals);
  } catch (error) {
    printError(explainStart(error, stackOf));
    const isAboutConfig = isAboutSettings(error) || error instanceof DeclarationError;
    process.exitCode = isAboutConfig ? exits.settings : exits.failed;
    // A worker lives as long as it hears the primary.
    cluster.worker?.disconnect();
    endUnread();
  } finally {
    process.off("beforeExit", endUnstarted);
  }
}

/** Nothing is under way any more, and the start is not done. */
function endUnstarted(): void {
  writeError("Latchkey cannot start. The config file, or the start of a feature, waits for what never comes.\n");
  process.exit(exits.failed);
}

async function start(environment: NodeJS.ProcessEnv, signals: Signals): Promise<void> {
  // The thread that answers collects what is short-lived alone: where all cores are busy, V8's other threads are waited for longer than they help.
  setFlagsFromString("--no-parallel-scavenge");
  const config = await loadConfigFile(process.cwd());
  // Before the settings as a whole, which make a secret if there is none.
  if (cluster.isPrimary) await requireFreeAddressFor(environment, config ?? {});
  const settings = readSettings(environment, config);
  for (const notice of [cleartextNotice(settings), missingDatabaseNotice(settings)])
    if (notice !== null && cluster.isPrimary) printError(`${notice}\n`);
  if (settings.workers > 1 && cluster.isPrimary) return runWorkers(settings.workers, signals);
  // Where all processes of a terminal hear it, it is for the first one, which replaces its workers.
  signals.hangUpWith(cluster.isWorker ? () => undefined : signals.stop);
  // When the primary is gone nothing can be told to it any more, and Node ends its workers.
  cluster.worker?.on("error", () => undefined);
  const sink = logSink(process.stdout);
  const log = makeLog(settings.log, sink.write);
  const crash = watchForCrashes(log);
  // Whoever else ends the process, and Node where a worker has lost its primary.
  process.on("exit", () => log?.flush());
  const others = cluster.isWorker ? workerMetrics() : null;
  const latchkey = await createLatchkey({
    settings,
    config: config ?? {},
    observe: log === null ? null : log.observe,
    tracer: await openTelemetry(),
    measured: sink.read,
    ...(others === null ? {} : { gatherMetrics: others.gather }),
    // What is no terminal is a log, and others read it for long.
    ...(process.stdout.isTTY ? {} : { passwordFile: passwordFileOf(settings) }),
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
      tellUnended(stackOf(error));
    }
    endUnread();
    log?.flush();
    others?.tellLast();
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
  // `/readyz` stays as it is: others are ready.
  cluster.worker?.on("message", (message: Retiring | object) => {
    if ("retire" in message) void end(endings.replaced);
  });
  watchFiles(settings, listener, log);
  // Last: whoever reads it may end the process at once. 0 is drawn, and never one that an address leaves out.
  announce({
    banner: banner(settings, listener.url + settings.basePath, latchkey),
    port: settings.port || Number(new URL(listener.url).port),
    isDrawn: settings.port === 0,
  });
}

/** A start that cannot listen makes nothing: no administrator, no file. Wrong settings are told first. */
async function requireFreeAddressFor(environment: NodeJS.ProcessEnv, config: ConfigFile): Promise<void> {
  const problems: string[] = [];
  const { host, port } = readEach(environment, config, problems);
  if (problems.length === 0) await requireFreeAddress({ host: host.value, port: port.value });
}

/** A certificate that was renewed is served without a restart. */
function watchFiles({ tls }: Settings, { renewCertificate: use }: Listener, log: Log | null): void {
  if (tls === null) return;
  const look = watchCertificate({ tls, use, observe: log?.observe ?? (() => undefined) });
  look();
  setInterval(look, LOOK_MS).unref();
}

/** A worker leaves it to the one process that the operator started. */
function announce(serving: Serving): void {
  if (cluster.isWorker) process.send!(serving);
  else print(serving.banner);
}
