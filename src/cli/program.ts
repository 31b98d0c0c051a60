import { readFileSync } from "node:fs";
import { styleText } from "node:util";
import { Command, CommanderError } from "commander";
import { addDatabaseCommands } from "./commands/db-commands.ts";
import { addDescribingCommands } from "./commands/describing-commands.ts";
import { addExplainCommand } from "./commands/explain-command.ts";
import { addKeyCommands } from "./commands/key-commands.ts";
import { addMailCommands } from "./commands/mail-command.ts";
import { addProveCommand } from "./commands/prove-command.ts";
import { addRecordCommands } from "./commands/record-commands.ts";
import { addServingCommands } from "./commands/serving-commands.ts";
import { addSessionCommands } from "./commands/session-commands.ts";
import { addTokenCommands } from "./commands/token-commands.ts";
import { addUserCommands } from "./commands/user-commands.ts";
import { addCompletionCommand } from "./completion/completion-command.ts";
import { exits, createPainter, printError } from "./output.ts";

/** Runs a command. Returns its exit code. */
export async function run(args: readonly string[]): Promise<number> {
  process.stdout.on("error", endWithoutOutput);
  try {
    // An option without a command belongs to `serve`: `latchkey --port 9000`. A misspelled option is then reported by
    // `serve`.
    const commandArguments = /^--(?!help$|version$)/.test(args[0] ?? "") ? ["serve", ...args] : args;
    await makeProgram().parseAsync(commandArguments, { from: "user" });
    return Number(process.exitCode ?? exits.done);
  } catch (error) {
    // The parser has already printed the help or the mistake.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exits.done : exits.usage;
    const { printFailure } = await import("./failure.ts");
    return printFailure(error, args.includes("--json"));
  }
}

function makeProgram(): Command {
  const program = new Command("latchkey")
    .description(
      "Serves the API, and manages its users, tokens, sessions and keys.\nThe commands use the settings and the database of the service, which may be running.",
    )
    .version(version(), "--version", "show the version")
    .exitOverride()
    .configureHelp({ styleTitle: (title) => styleText("bold", title, { validateStream: false }) })
    .configureOutput({ outputError: (text, write) => write(inOneVoice(text)) })
    .addHelpText(
      "after",
      "\nSettings come from the environment (LATCHKEY_PORT=9000 latchkey) and latchkey.config.ts: docs/settings.md lists them." +
        "\nExit codes: 0 done, 1 failed, 2 wrong usage, 3 db migrate is needed, 78 wrong settings. USER is a username, or id:5.",
    );
  addServingCommands(program);
  addUserCommands(
    program
      .command("user")
      .description("users: create, list, password, enable, disable, promote, demote, bind, unbind, factor, import"),
  );
  addTokenCommands(program.command("token").description("API tokens: create, revoke, check"));
  addSessionCommands(program.command("session").description("sessions: list, end"));
  addKeyCommands(program.command("key").description("the keys that sign access tokens: new, activate, retire, list"));
  addMailCommands(program.command("mail").description("mail: test"));
  addDatabaseCommands(program.command("db").description("the database: plan, migrate, move, backup, restore, check"));
  addRecordCommands(program);
  addDescribingCommands(program);
  addExplainCommand(program);
  addProveCommand(program);
  addCompletionCommand(program);
  return program;
}

/** Formats the messages of the parser like all others: as whole sentences, and red on a terminal. */
function inOneVoice(text: string): string {
  const [first = "", ...more] = text
    .trimEnd()
    .replace(/^error: /, "")
    .split("\n");
  const sentence = `${first.charAt(0).toUpperCase()}${first.slice(1)}${/[.?]$/.test(first) ? "" : "."}`;
  const guess = more.map((line) => line.replace(/^\((.*)\)$/, "$1"));
  const report = [sentence, ...guess, "latchkey --help shows every command."].join(" ");
  return `${createPainter(process.stderr)("red", report)}\n`;
}

function version(): string {
  const { version: text } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return text;
}

/**
 * Exits without a message if the program that reads the output has closed it: `latchkey user list | head`. Reports any
 * other error.
 */
function endWithoutOutput({ code, message }: NodeJS.ErrnoException): never {
  if (code === "EPIPE") process.exit(exits.done);
  const report = `Standard output cannot be written (${message}). The output is incomplete.`;
  printError(`${createPainter(process.stderr)("red", report)}\n`);
  process.exit(exits.failed);
}
