import path from "node:path";
import { exits, createPainter, print } from "../output.ts";
import type { ListenAddress } from "../serving/starting.ts";
import { startChild, type Child } from "./child.ts";
import type { FromServing, NeededMigration } from "./messages.ts";
import { askHowToGoOn, type Question } from "./migration-question.ts";
import { waitForAddress } from "./taken-port.ts";
import { watchFiles } from "./watching.ts";

/**
 * Runs `latchkey dev`: serves, and restarts when a file of the service has changed. The old process serves until the
 * new process has loaded the files, so a broken file does not interrupt the service. A third process has already loaded
 * the package and waits, so the next restart only loads the files of the project.
 */
export function dev(environment: NodeJS.ProcessEnv): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => void watch.stop().then(resolve);
    const watch = new Watch(environment, stop);
    process.once("SIGINT", stop);
    process.once("SIGTERM", stop);
    watch.begin([]);
  });
}

const paint = createPainter(process.stdout);
const write = (text: string): void => print(`${text}\n`);

/** The processes of `latchkey dev`, and their messages. */
class Watch {
  /** If the system has chosen the port (port 0), `LATCHKEY_PORT` keeps that port for later processes. */
  #environment: NodeJS.ProcessEnv;
  readonly #files = watchFiles((changed) => this.begin(changed));
  #serving: Child | null = null;
  /** The process that loads the files. It serves when it is ready. */
  #next: Child | null = null;
  /** The process that has loaded the package and waits. */
  #spare: Child | null = null;
  #question: Question | null = null;
  /** The wait for a port that another program uses. Null if there is none. */
  #waiting: { drop(): void } | null = null;
  readonly #end: () => void;
  #isWelcomed = false;
  #start = { at: 0, files: [] as readonly string[] };

  constructor(environment: NodeJS.ProcessEnv, end: () => void) {
    this.#environment = environment;
    this.#end = end;
  }

  /** Starts a process with the current files. `changed` are the files that have changed. */
  begin(changed: readonly string[]): void {
    this.#question?.drop();
    this.#question = null;
    this.#waiting?.drop();
    this.#waiting = null;
    // If an earlier start is not finished, the new start replaces it, and also reports the changed files of the earlier
    // one.
    const before = this.#next === null ? [] : this.#start.files;
    this.#start = { at: performance.now(), files: [...new Set([...before, ...changed])] };
    this.#next?.discard();
    this.#next = this.#spare ?? this.#startChild();
    this.#spare = null;
    this.#next.send("load");
  }

  async stop(): Promise<void> {
    this.#files.close();
    this.#question?.drop();
    this.#waiting?.drop();
    this.#next?.discard();
    this.#spare?.discard();
    await this.#serving?.stop();
  }

  #startChild(): Child {
    return startChild(this.#environment, {
      onMessage: (child, message) => this.#hear(child, message),
      onEnd: (child, how) => this.#ended(child, how),
    });
  }

  #startSpare(): Child {
    const child = this.#startChild();
    child.send("warm");
    return child;
  }

  #hear(child: Child, message: FromServing): void {
    switch (message.kind) {
      case "file":
        return this.#files.add(message.path);
      case "prepared":
        return void this.#takeOver(child);
      case "serving":
        return this.#served(child, message);
      case "failed":
        return this.#failed(child, message);
    }
  }

  /**
   * Stops the old process and lets the new one listen. Only one process at a time may use the port and the database.
   */
  async #takeOver(child: Child): Promise<void> {
    await this.#serving?.stop();
    this.#serving = null;
    if (child === this.#next) child.send("listen");
  }

  #served(child: Child, { welcome, url, port }: Extract<FromServing, { kind: "serving" }>): void {
    this.#serving = child;
    this.#next = null;
    if (port !== null) this.#environment = { ...this.#environment, LATCHKEY_PORT: String(port) };
    this.#spare = this.#startSpare();
    if (!this.#isWelcomed) {
      this.#isWelcomed = true;
      return write(welcome);
    }
    const names = this.#start.files.map((file) => path.relative(process.cwd(), file)).join(", ");
    const took = `${Math.round(performance.now() - this.#start.at)} ms`;
    write(`${paint("green", "Started again")} on ${url} in ${took}${names === "" ? "" : `: ${names} changed`}.`);
  }

  #failed(child: Child, { message, migration, taken }: Extract<FromServing, { kind: "failed" }>): void {
    child.discard();
    this.#next = null;
    this.#spare ??= this.#startSpare();
    write(paint("red", message.trimEnd()));
    if (taken !== null) return this.#waitFor(taken);
    write(describeRestart(this.#serving !== null));
    if (migration !== null) this.#ask(migration);
  }

  /** Waits until the address is free, because the other program may stop soon. */
  #waitFor(address: ListenAddress): void {
    write("Trying again every second, for a minute.");
    this.#waiting = waitForAddress(address, (isFree) => {
      this.#waiting = null;
      if (isFree) return this.begin([]);
      write(paint("red", `The port ${address.port} is still taken. Stopping.`));
      process.exitCode = exits.failed;
      this.#end();
    });
  }

  #ask(migration: NeededMigration): void {
    this.#question = askHowToGoOn(migration, (emptied) => {
      this.#question = null;
      if (emptied !== null) write(emptied);
      this.begin([]);
    });
  }

  /**
   * Forgets a process that ended unexpectedly, and reports how it ended. The process itself has already reported its
   * fault.
   */
  #ended(child: Child, how: string): void {
    if (child === this.#spare) this.#spare = null;
    if (child !== this.#serving && child !== this.#next) return;
    if (child === this.#serving) this.#serving = null;
    else this.#next = null;
    write(paint("red", `The service ended with ${how}. It starts again when a file changes.`));
  }
}

function describeRestart(isServing: boolean): string {
  return isServing
    ? "The previous service still runs. It restarts when the file is mended."
    : "Mend it. The service starts when a file is saved.";
}
