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
import { resolvePasswordFile } from "../../service/system/password-file.ts";
import { exits } from "../exit.ts";
import { isAboutSettings } from "../failure.ts";
import { missingDatabaseNotice } from "../missing-database.ts";
import { print, printError } from "../output.ts";
import { banner } from "./banner.ts";
import { cleartextNotice } from "./cleartext.ts";
import { watchForCrashes } from "./crash.ts";
import { endInTime, endUnread, tellUnended, writeError } from "./ending.ts";
import type { Signals } from "./signals.ts";
import { explainStart, listenOrClose, requireFreeAddress, formatStack } from "./starting.ts";
import { workerMetrics } from "./worker-metrics.ts";
import { runWorkers, type Leaving, type Retiring, type Serving } from "./workers.ts";

/** How long active requests may take after the process was stopped. */
const GRACE_SECONDS = 10;

/** The interval between checks of the certificate files. */
const LOOK_MS = 5000;

/** The steps of a shutdown. */
interface Ending {
  /** How long the port stays open, so load balancers learn from `/readyz` to use another process. */
  readonly noticeSeconds: number;
  /** How long idle connections are kept after that, so that requests in transit arrive. */
  readonly idleSeconds: number;
}

const endings = {
  direct: { noticeSeconds: 0, idleSeconds: 0.25 },
  /** In docs/proxies.md, haproxy asks every second, and nginx keeps a connection for two. */
  behindProxy: { noticeSeconds: 2, idleSeconds: 3 },
  /** Other workers continue to answer on the port. */
  replaced: { noticeSeconds: 0, idleSeconds: 3 },
} as const satisfies Record<string, Ending>;

/** Serves until SIGTERM or SIGINT. Mistakes in the settings are reported together, with exit status 78. */
export async function serve(environment: NodeJS.ProcessEnv, signals: Signals): Promise<void> {
  // The reader of the output may close it at any time. This does not stop the service, as it would stop another command.
  for (const stream of [process.stdout, process.stderr])
    stream.removeAllListeners("error").on("error", () => undefined);
  process.once("beforeExit", endUnstarted);
  try {
    await start(environment, signals);
  } catch (error) {
    printError(explainStart(error, formatStack));
    const isAboutConfig = isAboutSettings(error) || error instanceof DeclarationError;
    process.exitCode = isAboutConfig ? exits.settings : exits.failed;
    // A worker runs until it is disconnected from the primary.
    cluster.worker?.disconnect();
    endUnread();
  } finally {
    process.off("beforeExit", endUnstarted);
  }
}

/** Nothing is active any more, but the start is not complete. */
function endUnstarted(): void {
  writeError(
    "Latchkey cannot start. The config file, or the start of a feature, waits for a promise that never settles.\n",
  );
  process.exit(exits.failed);
}

async function start(environment: NodeJS.ProcessEnv, signals: Signals): Promise<void> {
  // The main thread collects short-lived objects alone. If all cores are busy, waiting for V8's other threads costs more than they save.
  setFlagsFromString("--no-parallel-scavenge");
  const config = await loadConfigFile(process.cwd());
  // Checked before the whole settings are read, which creates a secret if there is none.
  if (cluster.isPrimary) await requireFreeAddressFor(environment, config ?? {});
  const settings = readSettings(environment, config);
  for (const notice of [cleartextNotice(settings), missingDatabaseNotice(settings)])
    if (notice !== null && cluster.isPrimary) printError(`${notice}\n`);
  if (settings.workers > 1 && cluster.isPrimary) return runWorkers(settings.workers, signals);
  // On a terminal, all processes receive it. It is meant for the primary, which replaces its workers.
  signals.hangUpWith(cluster.isWorker ? () => undefined : signals.stop);
  // If the primary has died, messages to it fail, and Node stops its workers.
  cluster.worker?.on("error", () => undefined);
  const sink = logSink(process.stdout);
  const log = makeLog(settings.log, sink.write);
  const crash = watchForCrashes(log);
  // Also for an exit by other code, and by Node if a worker has lost its primary.
  process.on("exit", () => log?.flush());
  const others = cluster.isWorker ? workerMetrics() : null;
  const latchkey = await createLatchkey({
    settings,
    config: config ?? {},
    observe: log === null ? null : log.observe,
    tracer: await openTelemetry(),
    measured: sink.read,
    ...(others === null ? {} : { gatherMetrics: others.gather }),
    // If it is not a terminal, it is a log that others may read for a long time.
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
      tellUnended(formatStack(error));
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
  // `/readyz` does not change, because other workers are ready.
  cluster.worker?.on("message", (message: Retiring | object) => {
    if ("retire" in message) void end(endings.replaced);
  });
  watchFiles(settings, listener, log);
  // This is the last step, because its reader may stop the process immediately. Port 0 is a random choice, unlike a port that an address
  // omits.
  announce({
    banner: banner(settings, listener.url + settings.basePath, latchkey),
    port: settings.port || Number(new URL(listener.url).port),
    isDrawn: settings.port === 0,
  });
}

/** Checks that the service can listen before the start creates an administrator or a file. Mistakes in the settings are reported first. */
async function requireFreeAddressFor(environment: NodeJS.ProcessEnv, config: ConfigFile): Promise<void> {
  const problems: string[] = [];
  const { host, port } = readEach(environment, config, problems);
  if (problems.length === 0) await requireFreeAddress({ host: host.value, port: port.value });
}

/** Uses a renewed certificate without a restart. */
function watchFiles({ tls }: Settings, { renewCertificate: use }: Listener, log: Log | null): void {
  if (tls === null) return;
  const look = watchCertificate({ tls, use, observe: log?.observe ?? (() => undefined) });
  look();
  setInterval(look, LOOK_MS).unref();
}

/** Announces the service. A worker leaves this to the process that the operator started. */
function announce(serving: Serving): void {
  if (cluster.isWorker) process.send!(serving);
  else print(serving.banner);
}
