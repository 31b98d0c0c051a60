import { registerHooks } from "node:module";
import path from "node:path";
import type { Listener } from "../../door/http.ts";
import { openTelemetry } from "../../door/ops.ts";
import { MigrationNeeded } from "../../door/stores.ts";
import { assembleLatchkey, createLatchkey, type Latchkey } from "../../service/latchkey.ts";
import { configFileNames, loadConfigFile, type ConfigFile } from "../../service/settings/config-file/config-file.ts";
import { ConfigError, readSettings, type Settings } from "../../service/settings/settings.ts";
import { openInMemory } from "../../service/system/in-memory.ts";
import { resolvePasswordFile } from "../../service/users/password-file.ts";
import { createPainter, print } from "../output.ts";
import { explainStart, listenOrClose, NotListening, requireFreeAddress } from "../serving/starting.ts";
import { showingMails, withMail } from "./dev-mail.ts";
import { reportLoadedFiles } from "./loaded-files.ts";
import type { FromServing, NeededMigration, ToServing } from "./messages.ts";
import { peopleLog } from "./people-log.ts";
import { explainFault } from "./source-lines.ts";
import { welcome } from "./welcome.ts";

/** The time for active requests to finish before the next process listens, in seconds. */
const GRACE_SECONDS = 1;

interface Loaded {
  readonly config: ConfigFile;
  readonly settings: Settings;
}

/**
 * Runs the serving process of `latchkey dev`. It acts on the messages of the watching process, and ends when that
 * process ends.
 */
export function serveForDev(): void {
  const directory = process.cwd();
  const paint = createPainter(process.stdout);
  let loaded: Loaded | null = null;
  let running: { readonly latchkey: Latchkey; readonly listener: Listener } | null = null;

  const steps: Readonly<Record<ToServing["kind"], () => Promise<void>>> = {
    // An error here also occurs in a later step, which reports it.
    warm: () => warmUp().catch(() => undefined),
    async load() {
      for (const name of [...configFileNames, "package.json"]) send({ kind: "file", path: path.join(directory, name) });
      reportLoadedFiles((file) => send({ kind: "file", path: file }));
      const config = (await loadConfigFile(directory)) ?? {};
      loaded = { config, settings: readSettings(withMail(process.env, config), config) };
      // Checks all declarations while the old process still serves. Opens neither the database nor the port.
      await assembleLatchkey(loaded);
      send({ kind: "prepared" });
    },
    async listen() {
      const { config, settings } = loaded!;
      await requireFreeAddress(settings);
      const latchkey = await createLatchkey({
        settings,
        config,
        observe: peopleLog(process.stdout, directory),
        overMail: showingMails(process.stdout),
        isForDevelopment: true,
        tracer: await openTelemetry(),
        ...(process.stdout.isTTY ? {} : { passwordFile: resolvePasswordFile(settings) }),
      });
      const listener = await listenOrClose(latchkey, settings);
      running = { latchkey, listener };
      const url = listener.url + settings.basePath;
      const port = settings.port === 0 ? Number(new URL(listener.url).port) : null;
      send({ kind: "serving", welcome: welcome({ settings, config, latchkey, url }), url, port });
    },
    async stop() {
      const { latchkey, listener } = running ?? {};
      running = null;
      latchkey?.stop();
      await listener?.close(GRACE_SECONDS, 0);
      await latchkey?.close();
      process.exit();
    },
  };

  process.on("message", ({ kind }: ToServing) => {
    steps[kind]().catch((error: unknown) => {
      if (kind === "stop") process.exit(1);
      const migration = error instanceof MigrationNeeded ? buildNeededMigration(error, loaded!) : null;
      send({
        kind: "failed",
        message: explainFailure(error, (each, isReported) => explainFault(each, directory, paint, isReported)),
        migration,
        taken: error instanceof NotListening && error.isTaken ? error.address : null,
      });
    });
  });
  // Ctrl-C sends SIGINT to both processes. This process ignores the signal and waits for `stop`. If the watching
  // process has exited, the `disconnect` event below stops this process.
  process.on("SIGINT", () => undefined);
  process.on("SIGTERM", () => undefined);
  process.on("disconnect", () => void steps.stop());
  for (const event of ["uncaughtException", "unhandledRejection"] as const)
    process.on(event, (error: unknown) => {
      print(`${explainFault(error, directory, paint)}\n`);
      process.exit(1);
    });
}

/** Describes an error of a start. If the config file failed, also shows the place in the file. */
function explainFailure(error: unknown, formatFault: (error: unknown, isReported?: boolean) => string): string {
  const explanation = explainStart(error, formatFault).trimEnd();
  const cause = error instanceof ConfigError ? error.cause : undefined;
  return cause instanceof Error ? `${explanation}\n${formatFault(cause, true)}`.trimEnd() : explanation;
}

/**
 * Returns the tables that need a migration. Offers to empty them only if all of them belong to the project. The tables
 * of Latchkey itself are never emptied, because users and their login data belong together.
 */
function buildNeededMigration(
  { collections }: MigrationNeeded,
  { config, settings: { database } }: Loaded,
): NeededMigration {
  const own = new Set((config.mounts ?? []).map(({ collection }) => collection.name));
  const isOwn = collections.every((name) => own.has(name));
  return { tables: isOwn ? collections : [], file: database.kind === "sqlite" ? path.resolve(database.path) : null };
}

function send(message: FromServing): void {
  // If the watching process has disconnected, this process is about to end.
  if (process.connected) process.send!(message);
}

const EMPTY = "latchkey:empty";

/**
 * Does the work of a start once in advance: imports a TypeScript module and assembles a service. The real start then
 * takes a tenth of the time, because Node and V8 have loaded and compiled the code.
 */
async function warmUp(): Promise<void> {
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier === EMPTY ? { url: EMPTY, shortCircuit: true } : next(specifier, context),
    load: (url, context, next) =>
      url === EMPTY
        ? { format: "module-typescript", source: "const nothing: null = null;", shortCircuit: true }
        : next(url, context),
  });
  await import(EMPTY);
  hooks.deregister();
  const service = await openInMemory({}, {});
  await service.fetch(new Request("http://localhost/readyz"), { peer: "127.0.0.1" });
  await service.close();
}
