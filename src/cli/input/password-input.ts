import { randomBytes } from "node:crypto";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import type { Command } from "commander";
import { CommandFailed, UsageError, printError } from "../output.ts";

/**
 * The options for the source of a new password. The password itself is never an argument, because every user of the
 * machine can read the arguments of commands.
 */
export interface PasswordOptions {
  readonly passwordStdin?: boolean;
  readonly randomPassword?: boolean;
  readonly withoutPassword?: boolean;
}

/** A password, or none. */
export interface ObtainedPassword {
  readonly password: string | null;
  /** True if the password was generated here and must be shown. */
  readonly isDrawn: boolean;
}

const MAX_BYTES = 4096;

/** Adds the options to a command. */
export function addPasswordOptions(command: Command): Command {
  return command
    .option("--password-stdin", "read the password from standard input")
    .option("--random-password", "generate a random password, and show it once");
}

/** Reads a password, asks for one, or generates one. */
export async function obtainPassword(options: PasswordOptions): Promise<ObtainedPassword> {
  const chosenOptions = [options.passwordStdin, options.randomPassword, options.withoutPassword].filter(Boolean);
  if (chosenOptions.length > 1) throw new UsageError("Two options give the source of the password. Keep one.");
  if (options.withoutPassword) return { password: null, isDrawn: false };
  if (options.randomPassword) return { password: randomBytes(15).toString("base64url"), isDrawn: true };
  if (options.passwordStdin) return { password: await readFromInput(), isDrawn: false };
  if (!process.stdin.isTTY)
    throw new UsageError("There is no terminal to ask for the password. Use --password-stdin or --random-password.");
  return { password: await askTwice(), isDrawn: false };
}

/** Reads the password from standard input, without the line end after it. */
async function readFromInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_BYTES) throw new CommandFailed("The password on standard input is too long.");
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
    return text.replace(/\r?\n$/, "");
  } catch {
    throw new CommandFailed("The password on standard input is not UTF-8.");
  }
}

async function askTwice(): Promise<string> {
  const password = await ask("Password: ");
  if ((await ask("Again: ")) !== password) throw new CommandFailed("The two passwords differ.");
  return password;
}

/** Asks on standard error, because standard output is only for the result of the command. Does not show the answer. */
function ask(question: string): Promise<string> {
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silence, terminal: true });
  printError(question);
  return new Promise((resolve, reject) => {
    lines.once("SIGINT", () => {
      lines.close();
      reject(new CommandFailed("Interrupted."));
    });
    lines.question("", (answer) => {
      lines.close();
      printError("\n");
      resolve(answer);
    });
  });
}
