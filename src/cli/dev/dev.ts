import path from "node:path";
import { exits } from "../exit.ts";
import { createPainter, print } from "../output.ts";
import type { ListenAddress } from "../serving/starting.ts";
import { startChild, type Child } from "./child.ts";
import type { FromServing, NeededMigration } from "./messages.ts";
import { askHowToGoOn, type Question } from "./migration-question.ts";
import { waitForAddress } from "./taken-port.ts";
import { watchFiles } from "./watching.ts";

/**
 * Runs `latchkey dev`: serves, and restarts when a file of the service has changed. The old process serves until the new one has loaded the
 * files, so a broken file interrupts nothing. A spare process waits with the package loaded, so a start only loads the files.
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
  /** Keeps a port that was chosen by the system. */
  #environment: NodeJS.ProcessEnv;
  readonly #files = watchFiles((changed) => this.begin(changed));
  #serving: Child | null = null;
  /** The process that loads the files. It serves when it is ready. */
  #next: Child | null = null;
  /** The process that has loaded the package and waits. */
  #spare: Child | null = null;
  #question: Question | null = null;
  /** Waits for a port that another program uses. */
  #waiting: { drop(): void } | null = null;
  readonly #end: () => void;
  #isWelcomed = false;
  #start = { at: 0, files: [] as readonly string[] };

  constructor(environment: NodeJS.ProcessEnv, end: () => void) {
    this.#environment = environment;
    this.#end = end;
  }

  /** Starts the current files. */
  begin(changed: readonly string[]): void {
    this.#question?.drop();
    this.#question = null;
    this.#waiting?.drop();
    this.#waiting = null;
    // Includes the files of an earlier start that was replaced before it could report them.
    const before = this.#next === null ? [] : this.#start.files;
    this.#start = { at: performance.now(), files: [...new Set([...before, ...changed])] };
    this.#next?.discard();
    this.#next = this.#spare ?? this.#startChild();
    this.#spare = null;
    this.#next.tell("load");
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
    child.tell("warm");
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

  /** Lets the new process take over. Only one process at a time has the port and the database. */
  async #takeOver(child: Child): Promise<void> {
    await this.#serving?.stop();
    this.#serving = null;
    if (child === this.#next) child.tell("listen");
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
    write(goesOn(this.#serving !== null));
    if (migration !== null) this.#ask(migration);
  }

  /** Waits for the address. The other program may be about to stop. */
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

  /** Handles a process that ended by itself. It has already reported its fault. */
  #ended(child: Child, how: string): void {
    if (child === this.#spare) this.#spare = null;
    if (child !== this.#serving && child !== this.#next) return;
    if (child === this.#serving) this.#serving = null;
    else this.#next = null;
    write(paint("red", `The service ended with ${how}. It starts again when a file changes.`));
  }
}

function goesOn(isServing: boolean): string {
  return isServing
    ? "The previous service still runs. It restarts when the file is mended."
    : "Mend it. The service starts when a file is saved.";
}
