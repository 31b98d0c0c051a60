import type { Argument, Command, Option } from "commander";

/** The words that may follow a command, for example `latchkey user`. */
export interface CompletionContext {
  /** The command with its subcommands: `latchkey user`. */
  readonly path: string;
  readonly commands: readonly Described[];
  readonly options: readonly CompletedOption[];
  /** The values that its arguments allow. */
  readonly words: readonly string[];
  /** True if an argument is a file. */
  readonly files: boolean;
}

/** A word with its description. */
export interface Described {
  readonly name: string;
  readonly description: string;
}

/** An option with all its spellings. */
export interface CompletedOption {
  /** `--request`, `-r` */
  readonly spellings: readonly string[];
  readonly description: string;
  /** The value that the option takes: none, a file, any text, or one of these words. */
  readonly value: "none" | "file" | "any" | readonly string[];
}

/** Returns a place for a command and for each of its subcommands. */
export function collectPlaces(command: Command, before = ""): readonly CompletionContext[] {
  const path = `${before} ${command.name()}`.trim();
  const help = command.createHelp();
  const commands = help.visibleCommands(command).filter((each) => each.name() !== "help");
  const place: CompletionContext = {
    path,
    commands: commands.map((each) => ({ name: each.name(), description: each.description() })),
    options: help.visibleOptions(command).map(convertOption),
    words: command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
    files: command.registeredArguments.some(isFile),
  };
  return [place, ...commands.flatMap((each) => collectPlaces(each, path))];
}

function convertOption({ long, short, description, required, optional, argChoices, flags }: Option): CompletedOption {
  const takesValue = required || optional;
  const isFileValue = /<file>/.test(flags);
  return {
    spellings: [long, short].filter((each) => each !== undefined && each !== null),
    description,
    value: !takesValue ? "none" : isFileValue ? "file" : (argChoices ?? "any"),
  };
}

function isFile(argument: Argument): boolean {
  return argument.name() === "file";
}
