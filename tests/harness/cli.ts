import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { command } from "./command.ts";

/** The output of a command and its exit code. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly errors: string;
}

/** A directory for commands, like a separate machine. */
export interface Machine extends Disposable {
  readonly folder: string;
  /** Runs `latchkey` with these arguments; `input` is its standard input. */
  run(args: readonly string[], input?: string): Promise<Ended>;
  /** Runs `latchkey` with `--json`. Returns the parsed standard output. */
  json(args: readonly string[], input?: string): Promise<unknown>;
}

/** Creates an empty place. `settings` are the environment of its commands. */
export function placeFor(settings: Readonly<Record<string, string>> = {}): Machine {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-cli-"));

  async function run(args: readonly string[], input = ""): Promise<Ended> {
    const child = spawn(process.execPath, [command, ...args], {
      cwd: folder,
      env: { ...process.env, ...settings },
    });
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    // Ignores the error, because a command that does not read its input may exit before the write.
    child.stdin.on("error", () => undefined).end(input);
    const [out, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { code, out, errors };
  }

  return {
    folder,
    run,
    async json(args, input) {
      const { out, errors } = await run([...args, "--json"], input);
      return JSON.parse(out === "" ? errors : out);
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
